// SPDX-License-Identifier: MIT
// A file of the vttm device for tests that run in the guest: thin wrappers that return 0 or a negative errno.
#pragma once

#include "base/types.h"

#include <cerrno>
#include <cstring>
#include <drm/vttm_drm.h>
#include <fcntl.h>
#include <filesystem>
#include <string>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <system_error>
#include <unistd.h>
#include <utility>
#include <vector>
#include <xf86drm.h>

namespace vramlab::tests {

// Path of a vttm device's render node, empty if there is no such device (not in the guest). Devices are told
// apart by the platform device, not by the minor: one that is bound again gets another minor while a file of
// what it was is open.
inline std::string vttm_node(int index = 0)
{
    const std::string wanted = index ? "vttm." + std::to_string(index) : "vttm";
    for (int minor = 128; minor < 192; minor++) {
        const std::string name = "renderD" + std::to_string(minor);
        std::error_code error;
        const auto device = std::filesystem::canonical("/sys/class/drm/" + name + "/device", error);
        if (!error && device.filename() == wanted)
            return "/dev/dri/" + name;
    }
    return {};
}

class vttm_file {
public:
    explicit vttm_file(int index = 0) : fd_(open(vttm_node(index).c_str(), O_RDWR | O_CLOEXEC)) {}
    ~vttm_file() { reset(); }
    vttm_file(const vttm_file &) = delete;
    vttm_file &operator=(const vttm_file &) = delete;

    void reset()
    {
        if (fd_ >= 0)
            close(fd_);
        fd_ = -1;
    }
    int fd() const { return fd_; }

    int call(unsigned long request, void *arg) const
    {
        int ret;
        do
            ret = ioctl(fd_, request, arg);
        while (ret && (errno == EINTR || errno == EAGAIN));
        return ret ? -errno : 0;
    }

    // Fills in what a test leaves out; the handle comes back in args.
    int create(drm_vttm_gem_create &args) const { return call(DRM_IOCTL_VTTM_GEM_CREATE, &args); }
    u32 must_create(u64 size, u32 preferred, u32 flags = 0, u32 allowed = 0) const
    {
        drm_vttm_gem_create args{};
        args.size = size;
        args.preferred_domains = preferred;
        args.allowed_domains = allowed;
        args.flags = flags;
        args.priority = DRM_VTTM_PRIORITY_DEFAULT;
        return create(args) ? 0 : args.handle;
    }
    int close_handle(u32 handle) const { return drmCloseBufferHandle(fd_, handle) ? -errno : 0; }

    u32 domain_of(u32 handle) const
    {
        drm_vttm_gem_info info{};
        info.handle = handle;
        return call(DRM_IOCTL_VTTM_GEM_INFO, &info) ? 0 : info.domain;
    }

    int submit(const std::vector<u32> &handles, u64 *seqno = nullptr) const
    {
        std::vector<drm_vttm_submit_bo> bos;
        for (u32 handle : handles)
            bos.push_back({handle, 0});
        drm_vttm_submit args{};
        args.bos = reinterpret_cast<std::uintptr_t>(bos.data());
        args.bo_count = static_cast<u32>(bos.size());
        args.bo_stride = sizeof(drm_vttm_submit_bo);
        args.touch_stride = sizeof(drm_vttm_submit_touch);
        args.compute_ns = 1000;
        int ret = call(DRM_IOCTL_VTTM_SUBMIT, &args);
        if (seqno)
            *seqno = args.seqno;
        return ret;
    }
    // A submission with all that one can have; the number comes back in seqno.
    struct job {
        std::vector<u32> handles;
        std::vector<drm_vttm_op> ops;
        std::vector<drm_vttm_sync> syncs;
        u64 compute_ns = 1000;
        u32 engine = DRM_VTTM_ENGINE_GFX;
        u64 seqno = 0;
        std::vector<drm_vttm_submit_touch> touches = {};
    };
    int submit_job(job &what) const
    {
        std::vector<drm_vttm_submit_bo> bos;
        for (u32 handle : what.handles)
            bos.push_back({handle, 0});
        drm_vttm_submit args{};
        args.engine = what.engine;
        args.bos = reinterpret_cast<std::uintptr_t>(bos.data());
        args.bo_count = static_cast<u32>(bos.size());
        args.bo_stride = sizeof(drm_vttm_submit_bo);
        args.syncs = reinterpret_cast<std::uintptr_t>(what.syncs.data());
        args.sync_count = static_cast<u32>(what.syncs.size());
        args.sync_stride = sizeof(drm_vttm_sync);
        args.touches = reinterpret_cast<std::uintptr_t>(what.touches.data());
        args.touch_count = static_cast<u32>(what.touches.size());
        args.touch_stride = sizeof(drm_vttm_submit_touch);
        args.ops = reinterpret_cast<std::uintptr_t>(what.ops.data());
        args.op_count = static_cast<u32>(what.ops.size());
        args.op_stride = sizeof(drm_vttm_op);
        args.compute_ns = what.compute_ns;
        int ret = call(DRM_IOCTL_VTTM_SUBMIT, &args);
        what.seqno = args.seqno;
        return ret;
    }
    int submit_syncs(const std::vector<u32> &handles, const std::vector<drm_vttm_sync> &syncs,
                     u64 compute_ns = 1000) const
    {
        job what{handles, {}, syncs, compute_ns};
        return submit_job(what);
    }
    int wait(u64 seqno, s64 timeout_ns = 1'000'000'000) const
    {
        drm_vttm_wait args{seqno, timeout_ns};
        return call(DRM_IOCTL_VTTM_WAIT, &args);
    }
    int pin(u32 handle, u32 flags = 0) const
    {
        drm_vttm_pin args{handle, flags};
        return call(DRM_IOCTL_VTTM_PIN, &args);
    }
    drm_vttm_get_info info() const
    {
        drm_vttm_get_info args{};
        call(DRM_IOCTL_VTTM_GET_INFO, &args);
        return args;
    }
    drm_vttm_vm_get_state state() const
    {
        drm_vttm_vm_get_state args{};
        call(DRM_IOCTL_VTTM_VM_GET_STATE, &args);
        return args;
    }
    int lab(u32 op, u64 value = 0, void *ptr = nullptr) const
    {
        drm_vttm_lab args{};
        args.op = op;
        args.value = value;
        args.ptr = reinterpret_cast<std::uintptr_t>(ptr);
        return call(DRM_IOCTL_VTTM_LAB, &args);
    }

    // CPU mapping, MAP_FAILED on error; unmap with munmap().
    void *map(u32 handle, u64 size) const
    {
        drm_vttm_gem_mmap args{};
        args.handle = handle;
        if (call(DRM_IOCTL_VTTM_GEM_MMAP, &args))
            return MAP_FAILED;
        return mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd_, static_cast<off_t>(args.offset));
    }

    static drm_vttm_op fill_op(u32 dst, u64 offset, u64 size, u32 pattern)
    {
        return {DRM_VTTM_OP_FILL, 0, dst, 0, offset, 0, size, pattern};
    }
    static drm_vttm_op copy_op(u32 dst, u64 dst_offset, u32 src, u64 src_offset, u64 size)
    {
        return {DRM_VTTM_OP_COPY, 0, dst, src, dst_offset, src_offset, size, 0};
    }
    static drm_vttm_op checksum_op(u32 dst, u64 dst_offset, u32 src, u64 src_offset, u64 size)
    {
        return {DRM_VTTM_OP_CHECKSUM, 0, dst, src, dst_offset, src_offset, size, 0};
    }
    static drm_vttm_op delay_op(u64 ns) { return {DRM_VTTM_OP_DELAY, 0, 0, 0, 0, 0, 0, ns}; }

private:
    int fd_;
};

// Resets the device when nobody has BOs any more: what was killed may still be on its way out. Waits for five
// seconds at most. 0 or a negative errno, as DRM_VTTM_LAB_RESET.
inline int reset_when_idle(const vttm_file &file, drm_vttm_lab_config config)
{
    int ret = -EBUSY;
    for (int i = 0; i < 500 && ret == -EBUSY; i++) {
        ret = file.lab(DRM_VTTM_LAB_RESET, 0, &config);
        if (ret == -EBUSY)
            usleep(10'000);
    }
    return ret;
}

} // namespace vramlab::tests
