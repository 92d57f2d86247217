// SPDX-License-Identifier: MIT
#include "tests/demo_painter.h"

#include <algorithm>
#include <cstring>
#include <stdexcept>
#include <string>

namespace vramlab::tests {

namespace {

constexpr u32 pixel_bytes = 4;
constexpr u32 nowhere_in_the_scene = 0x00ff00ff;
constexpr s64 job_timeout_ns = 60'000'000'000;
// Two clients that both need all of video memory can starve each other for a while.
constexpr u32 tries_max = 10'000;

void must(int error, const char *what)
{
    if (error)
        throw std::runtime_error(std::string("vttm: ") + what + ": " + std::strerror(-error));
}

} // namespace

demo_painter::demo_painter(const demo_scene &scene, const demo_display &display)
    : scene_(scene), display_(display)
{
    must(file_.fd() < 0 ? -ENODEV : 0, "no device");
    for (const demo_shape &shape : scene.shapes())
        handles_.push_back(create(u64{shape.width} * shape.height * pixel_bytes));
    picture_ = create(u64{scene.width()} * scene.height() * pixel_bytes);
    handles_.push_back(picture_);
    times_out_.resize(handles_.size());
    compose();
    for (std::size_t i = 0; i < imported_.size(); i++)
        must(drmPrimeFDToHandle(file_.fd(), display.buffers()[i].dma_buf, &imported_[i]) ? -errno : 0,
             "cannot import the display's buffer");
}

u32 demo_painter::create(u64 bytes)
{
    constexpr u64 page = 4096;
    const u32 handle =
        file_.must_create((bytes + page - 1) / page * page, DRM_VTTM_DOMAIN_VRAM, 0, DRM_VTTM_DOMAIN_VRAM);
    must(handle ? 0 : -ENOMEM, "no buffer");
    return handle;
}

// In as many jobs as it takes; the engine carries them out in order.
void demo_painter::submit(const std::vector<drm_vttm_op> &ops, std::vector<u32> handles)
{
    vttm_file::job job;
    job.handles = std::move(handles);
    for (std::size_t first = 0; first < ops.size(); first += DRM_VTTM_OP_MAX) {
        const std::size_t last = std::min<std::size_t>(ops.size(), first + DRM_VTTM_OP_MAX);
        job.ops.assign(ops.begin() + static_cast<s64>(first), ops.begin() + static_cast<s64>(last));
        int error = file_.submit_job(job);
        for (u32 i = 0; (error == -ENOMEM || error == -ENOSPC) && i < tries_max; i++) {
            refused_++;
            usleep(100);
            error = file_.submit_job(job);
        }
        must(error, "cannot submit");
    }
    must(file_.wait(job.seqno, job_timeout_ns), "a job does not end");
}

void demo_painter::paint_shapes()
{
    for (std::size_t i = 0; i < scene_.shapes().size(); i++) {
        const demo_shape &shape = scene_.shapes()[i];
        std::vector<drm_vttm_op> ops;
        for (const demo_run &run : demo_scene::runs(shape))
            ops.push_back(vttm_file::fill_op(handles_[i], (u64{run.y} * shape.width + run.x) * pixel_bytes,
                                             u64{run.pixels} * pixel_bytes, shape.colour(run.y)));
        submit(ops, {handles_[i]});
    }
}

// The shapes, one over the other, in the picture.
void demo_painter::compose()
{
    for (std::size_t i = 0; i < scene_.shapes().size(); i++) {
        const demo_shape &shape = scene_.shapes()[i];
        if (shape.width == scene_.width()) {
            composition_.push_back(vttm_file::copy_op(picture_, 0, handles_[i], 0,
                                                      u64{shape.width} * shape.height * pixel_bytes));
            continue;
        }
        for (const demo_run &run : demo_scene::runs(shape)) {
            const u64 to =
                u64{run.y + static_cast<u32>(shape.y)} * scene_.width() + run.x + static_cast<u32>(shape.x);
            composition_.push_back(vttm_file::copy_op(picture_, to * pixel_bytes, handles_[i],
                                                      (u64{run.y} * shape.width + run.x) * pixel_bytes,
                                                      u64{run.pixels} * pixel_bytes));
        }
    }
}

void demo_painter::count_evicted()
{
    for (std::size_t i = 0; i < handles_.size(); i++)
        times_out_[i] += file_.domain_of(handles_[i]) != DRM_VTTM_DOMAIN_VRAM;
}

u32 demo_painter::fewest_times_out() const
{
    return *std::min_element(times_out_.begin(), times_out_.end());
}

void demo_painter::draw(const demo_display::buffer &target)
{
    const u32 to = imported_[&target == &display_.buffers()[0] ? 0 : 1];
    count_evicted();
    std::vector<drm_vttm_op> ops = composition_;
    ops.push_back(vttm_file::fill_op(to, 0, target.size_bytes, nowhere_in_the_scene));
    const u64 row_bytes = u64{scene_.width()} * pixel_bytes;
    for (u32 y = 0; y < scene_.height(); y++)
        ops.push_back(
            vttm_file::copy_op(to, u64{y} * target.pitch_bytes, picture_, y * row_bytes, row_bytes));
    std::vector<u32> handles = handles_;
    handles.push_back(to);
    submit(ops, std::move(handles));
}

} // namespace vramlab::tests
