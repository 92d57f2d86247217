// SPDX-License-Identifier: MIT
#include "gputrace/gpu_fields.h"

namespace vramlab::gputrace {

namespace {

using trace::record;

constexpr u64 key_mask = 0xffffffff;
constexpr u64 kernel_client_min = ~u64{0} - 0xffff;

std::string_view first_text(const record &r, std::initializer_list<std::string_view> names)
{
    for (const std::string_view name : names)
        if (const std::string_view s = r.text(name); !s.empty())
            return s;
    return {};
}

// As two fields, or as text in the form "fence=1:2".
bool job_key(const record &r, gpu_event &e)
{
    std::optional<u64> context = first_number(r, {"context", "fence_context"});
    std::optional<u64> seqno = first_number(r, {"seqno", "fence_seqno"});
    if (!context || !seqno) {
        const std::string_view pair = r.text("fence");
        const std::size_t colon = pair.find(':');
        if (colon == std::string_view::npos)
            return false;
        const std::string_view second = pair.substr(colon + 1);
        context = trace::parse_number(pair.substr(0, colon));
        seqno = trace::parse_number(second.substr(0, second.find_first_of(" ,")));
    }
    if (!context || !seqno)
        return false;
    e.context = *context & key_mask;
    e.seqno = *seqno & key_mask;
    return true;
}

template <gpu_kind kind> bool amdgpu_job(const record &r, gpu_event &e)
{
    e.kind = kind;
    e.by = dialect::amdgpu;
    e.engine = first_text(r, {"timeline", "ring", "ring_name"});
    e.kernel = r.text("ring") == "copy"; // as our own traces say of moves and fills
    return job_key(r, e);
}

template <gpu_kind kind> bool sched_job(const record &r, gpu_event &e)
{
    e.kind = kind;
    e.by = dialect::drm_sched;
    e.device = r.text("dev");
    e.engine = first_text(r, {"name", "ring"});
    // amdgpu's own jobs count down from the largest number, and are no client.
    e.kernel = r.number("client_id").value_or(1) >= kernel_client_min;
    return job_key(r, e);
}

template <gpu_kind kind> bool old_sched_job(const record &r, gpu_event &e)
{
    e.kind = kind;
    e.by = dialect::drm_sched_old;
    e.engine = first_text(r, {"name", "ring"});
    const std::optional<u64> fence = pointer(r, "fence");
    e.context = fence.value_or(0);
    return fence.has_value();
}

bool signaled(const record &r, gpu_event &e)
{
    e.kind = gpu_kind::done;
    e.by = dialect::fence;
    e.engine = r.text("timeline");
    return job_key(r, e);
}

bool vramlab_frame_done(const record &r, gpu_event &e)
{
    e.kind = gpu_kind::frame;
    const auto number = r.number("number"), time = r.number("time_us");
    e.number = number.value_or(0);
    e.frame_ns = time.value_or(0) * ns_per_us;
    return number && time;
}

bool vblank(const record &r, gpu_event &e)
{
    e.kind = gpu_kind::vblank;
    const auto crtc = r.number("crtc"), seq = r.number("seq");
    e.crtc = static_cast<u32>(crtc.value_or(0));
    e.number = seq.value_or(0);
    return crtc && seq;
}

constexpr named_handler job_handlers[] = {
    {"amdgpu_cs_ioctl", amdgpu_job<gpu_kind::queue>},
    {"amdgpu_sched_run_job", amdgpu_job<gpu_kind::run>},
    {"drm_sched_job_queue", sched_job<gpu_kind::queue>},
    {"drm_sched_job_run", sched_job<gpu_kind::run>},
    {"drm_sched_job_done", sched_job<gpu_kind::done>},
    {"drm_sched_job", old_sched_job<gpu_kind::queue>},
    {"drm_run_job", old_sched_job<gpu_kind::run>},
    {"drm_sched_process_job", old_sched_job<gpu_kind::done>},
    {"dma_fence_signaled", signaled},
    {"fence_signaled", signaled},
    {"vramlab_frame_done", vramlab_frame_done},
    {"drm_vblank_event", vblank},
};

} // namespace

gpu_event gpu_decoder::decode(const record &r)
{
    gpu_event e;
    if (r.format->id >= by_id_.size())
        by_id_.resize(r.format->id + std::size_t{1});
    known &k = by_id_[r.format->id];
    if (k.format != r.format) {
        k = {r.format, nullptr};
        for (const auto &known_ones : {std::span<const named_handler>(job_handlers), memory_handlers()})
            for (const named_handler &h : known_ones)
                if (h.name == r.format->name)
                    k.handle = h.handle;
    }
    if (!k.handle)
        return e;
    if (!k.handle(r, e)) {
        if (e.by == dialect::amdgpu)
            without_key_++;
        else
            incomplete_++;
        return {};
    }
    if (e.kind == gpu_kind::bo_move) {
        const u8 rank = move_rank(k.handle);
        if (rank < move_rank_)
            return {};
        move_rank_ = rank;
    }
    return e;
}

} // namespace vramlab::gputrace
