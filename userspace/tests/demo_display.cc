// SPDX-License-Identifier: MIT
#include "tests/demo_display.h"

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <poll.h>
#include <stdexcept>
#include <sys/mman.h>
#include <unistd.h>
#include <xf86drm.h>
#include <xf86drmMode.h>

namespace vramlab::tests {

namespace {

constexpr int flip_timeout_ms = 10'000;

void must(bool good, const char *what)
{
    if (!good)
        throw std::runtime_error(std::string("display: ") + what + ": " + std::strerror(errno));
}

// The first display of virtio-gpu, -1 if there is none.
int open_virtio_gpu()
{
    for (int minor = 0; minor < 16; minor++) {
        const int fd = open(("/dev/dri/card" + std::to_string(minor)).c_str(), O_RDWR | O_CLOEXEC);
        if (fd < 0)
            continue;
        drmVersionPtr version = drmGetVersion(fd);
        const bool match = version && std::string(version->name) == "virtio_gpu";
        drmFreeVersion(version);
        if (match)
            return fd;
        close(fd);
    }
    errno = ENODEV;
    return -1;
}

} // namespace

demo_display::demo_display() : fd_(open_virtio_gpu())
{
    must(fd_ >= 0, "there is no virtio-gpu");
    find_output();
    for (buffer &b : buffers_)
        add_buffer(b);
}

demo_display::~demo_display()
{
    for (buffer &b : buffers_) {
        if (b.pixels)
            munmap(const_cast<u32 *>(b.pixels), b.size_bytes);
        if (b.dma_buf >= 0)
            close(b.dma_buf);
    }
    close(fd_);
}

// The first connector, in the mode that it likes best.
void demo_display::find_output()
{
    drmModeResPtr resources = drmModeGetResources(fd_);
    must(resources && resources->count_connectors && resources->count_crtcs, "no connector");
    connector_ = resources->connectors[0];
    crtc_ = resources->crtcs[0];
    drmModeFreeResources(resources);
    drmModeConnectorPtr connector = drmModeGetConnector(fd_, connector_);
    must(connector && connector->count_modes, "no mode");
    drmModeModeInfo mode = connector->modes[0];
    for (int i = connector->count_modes - 1; i >= 0; i--)
        if (connector->modes[i].type & DRM_MODE_TYPE_PREFERRED)
            mode = connector->modes[i];
    drmModeFreeConnector(connector);
    width_ = mode.hdisplay;
    height_ = mode.vdisplay;
    mode_.assign(reinterpret_cast<const char *>(&mode), sizeof mode);
}

void demo_display::add_buffer(buffer &b)
{
    must(!drmModeCreateDumbBuffer(fd_, width_, height_, 32, 0, &b.handle, &b.pitch_bytes, &b.size_bytes),
         "no dumb buffer");
    must(!drmModeAddFB(fd_, width_, height_, 24, 32, b.pitch_bytes, b.handle, &b.framebuffer),
         "no framebuffer");
    must(!drmPrimeHandleToFD(fd_, b.handle, DRM_CLOEXEC | DRM_RDWR, &b.dma_buf), "cannot export");
    u64 offset = 0;
    must(!drmModeMapDumbBuffer(fd_, b.handle, &offset), "cannot map");
    void *p = mmap(nullptr, b.size_bytes, PROT_READ, MAP_SHARED, fd_, static_cast<off_t>(offset));
    must(p != MAP_FAILED, "cannot map");
    b.pixels = static_cast<const u32 *>(p);
}

void demo_display::flip()
{
    if (!shown_) {
        drmModeModeInfo mode;
        std::memcpy(&mode, mode_.data(), sizeof mode);
        must(!drmModeSetCrtc(fd_, crtc_, back().framebuffer, 0, 0, &connector_, 1, &mode),
             "cannot set the mode");
        shown_ = true;
    } else {
        must(!drmModePageFlip(fd_, crtc_, back().framebuffer, DRM_MODE_PAGE_FLIP_EVENT, nullptr),
             "cannot flip");
        pollfd events{fd_, POLLIN, 0};
        must(poll(&events, 1, flip_timeout_ms) == 1, "no event of the flip");
        drmEventContext context{};
        context.version = 2;
        must(!drmHandleEvent(fd_, &context), "no event of the flip");
    }
    back_ ^= 1;
}

} // namespace vramlab::tests
