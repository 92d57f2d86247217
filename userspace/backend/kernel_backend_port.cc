// SPDX-License-Identifier: MIT
#include "backend/kernel_backend_port.h"

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <fmt/format.h>
#include <stdexcept>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>
#include <xf86drm.h>

namespace vramlab::backend {

namespace {

bool is_vttm(int fd)
{
    drmVersionPtr v = drmGetVersion(fd);
    const bool match = v && v->name && std::strcmp(v->name, "vttm") == 0;
    if (v)
        drmFreeVersion(v);
    return match;
}

} // namespace

// The render node has no notion of a master, so opening and closing it does nothing but make and free a VM.
vttm_port::vttm_port()
{
    for (int minor = 0; minor < 64 && node_.empty(); minor++) {
        const std::string primary = fmt::format("/dev/dri/card{}", minor);
        const int fd = ::open(primary.c_str(), O_RDWR | O_CLOEXEC);
        if (fd < 0)
            continue;
        if (is_vttm(fd)) {
            primary_minor_ = minor;
            node_ = primary;
            if (char *render = drmGetRenderDeviceNameFromFd(fd)) {
                if (::access(render, R_OK | W_OK) == 0)
                    node_ = render;
                std::free(render);
            }
        }
        ::close(fd);
    }
    if (node_.empty())
        throw std::runtime_error(
            "no DRM device of driver vttm in /dev/dri (is the module loaded, are we in the guest?)");
}

int vttm_port::open()
{
    const int fd = ::open(node_.c_str(), O_RDWR | O_CLOEXEC);
    return fd < 0 ? -errno : fd;
}

void vttm_port::close(int file)
{
    ::close(file);
}

// Not drmIoctl(), which repeats on EAGAIN for ever: an -EAGAIN that escapes from a charge must be seen.
int vttm_port::ioctl(int file, unsigned long nr, void *arg)
{
    int ret;
    do
        ret = ::ioctl(file, nr, arg);
    while (ret < 0 && errno == EINTR);
    return ret < 0 ? -errno : 0;
}

int vttm_port::export_bo(int file, unsigned handle, int *dma_buf)
{
    return drmPrimeHandleToFD(file, handle, DRM_CLOEXEC | DRM_RDWR, dma_buf) ? -errno : 0;
}

int vttm_port::import_bo(int file, int dma_buf, unsigned *handle)
{
    return drmPrimeFDToHandle(file, dma_buf, handle) ? -errno : 0;
}

} // namespace vramlab::backend
