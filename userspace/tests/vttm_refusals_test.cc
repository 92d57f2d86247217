// SPDX-License-Identifier: MIT
// Does every ioctl of vttm refuse what it must, with the errno that the DRM documentation names? Runs in the
// guest.
#include "tests/vttm_device.h"

#include <gtest/gtest.h>
#include <sys/wait.h>

namespace vramlab::tests {
namespace {

constexpr u64 page = 4096;
constexpr u32 no_handle = 0xdead;

class vttm_refusals : public testing::Test {
protected:
    void SetUp() override
    {
        if (file.fd() < 0)
            GTEST_SKIP() << "no vttm device: runs in the guest only (scripts/run-vttm-tests)";
    }
    drm_vttm_gem_create good() const
    {
        drm_vttm_gem_create args{};
        args.size = page;
        args.preferred_domains = DRM_VTTM_DOMAIN_VRAM;
        args.priority = DRM_VTTM_PRIORITY_DEFAULT;
        return args;
    }
    int create_with(void (*change)(drm_vttm_gem_create &)) const
    {
        drm_vttm_gem_create args = good();
        change(args);
        return file.create(args);
    }
    int submit_with(void (*change)(drm_vttm_submit &, drm_vttm_submit_bo &, drm_vttm_submit_touch &)) const
    {
        u32 handle = file.must_create(page, DRM_VTTM_DOMAIN_VRAM);
        drm_vttm_submit_bo bo{handle, 0};
        drm_vttm_submit_touch touch{handle, 0, page, page};
        drm_vttm_submit args{};
        args.bos = reinterpret_cast<std::uintptr_t>(&bo);
        args.bo_count = 1;
        args.bo_stride = sizeof(bo);
        args.touches = reinterpret_cast<std::uintptr_t>(&touch);
        args.touch_count = 1;
        args.touch_stride = sizeof(touch);
        change(args, bo, touch);
        int ret = file.call(DRM_IOCTL_VTTM_SUBMIT, &args);
        file.close_handle(handle);
        return ret;
    }
    vttm_file file;
};

TEST_F(vttm_refusals, create)
{
    EXPECT_EQ(create_with([](auto &) {}), 0);
    EXPECT_EQ(create_with([](auto &a) { a.size = 0; }), -EINVAL);
    EXPECT_EQ(create_with([](auto &a) { a.size = page + 1; }), -EINVAL);
    EXPECT_EQ(create_with([](auto &a) { a.preferred_domains = 0; }), -EINVAL);
    EXPECT_EQ(create_with([](auto &a) { a.preferred_domains = 8; }), -EINVAL);
    EXPECT_EQ(create_with([](auto &a) { a.allowed_domains = 8; }), -EINVAL);
    EXPECT_EQ(create_with([](auto &a) { a.allowed_domains = DRM_VTTM_DOMAIN_GTT; }), -EINVAL)
        << "not a superset";
    EXPECT_EQ(create_with([](auto &a) { a.flags = 1u << 31; }), -EINVAL);
    EXPECT_EQ(create_with([](auto &a) { a.priority = DRM_VTTM_PRIORITY_MAX + 1; }), -EINVAL);
    EXPECT_EQ(create_with([](auto &a) { a.pad = 1; }), -EINVAL);
    for (u64 size : {~u64{0}, ~u64{0} - page + 1, u64{1} << 62, u64{1} << 50}) {
        drm_vttm_gem_create args = good();
        args.size = size;
        int ret = file.create(args);
        EXPECT_TRUE(ret == -EINVAL || ret == -ENOMEM || ret == -E2BIG) << size << ": " << ret;
    }
}

TEST_F(vttm_refusals, handles_that_do_not_exist)
{
    drm_vttm_gem_mmap mmap_args{no_handle, 0, 0};
    EXPECT_EQ(file.call(DRM_IOCTL_VTTM_GEM_MMAP, &mmap_args), -ENOENT);
    drm_vttm_gem_info info_args{};
    info_args.handle = no_handle;
    EXPECT_EQ(file.call(DRM_IOCTL_VTTM_GEM_INFO, &info_args), -ENOENT);
    drm_vttm_gem_set_priority priority_args{no_handle, 1};
    EXPECT_EQ(file.call(DRM_IOCTL_VTTM_GEM_SET_PRIORITY, &priority_args), -ENOENT);
    EXPECT_EQ(file.pin(no_handle), -ENOENT);
    EXPECT_EQ(file.pin(no_handle, DRM_VTTM_PIN_UNPIN), -ENOENT);
    EXPECT_EQ(file.submit({no_handle}), -ENOENT);
}

TEST_F(vttm_refusals, padding_and_flags)
{
    u32 handle = file.must_create(page, DRM_VTTM_DOMAIN_VRAM);
    drm_vttm_gem_mmap mmap_args{handle, 1, 0};
    EXPECT_EQ(file.call(DRM_IOCTL_VTTM_GEM_MMAP, &mmap_args), -EINVAL);
    drm_vttm_gem_info info_args{};
    info_args.handle = handle;
    info_args.pad = 1;
    EXPECT_EQ(file.call(DRM_IOCTL_VTTM_GEM_INFO, &info_args), -EINVAL);
    EXPECT_EQ(file.pin(handle, 2), -EINVAL);
    drm_vttm_get_info info{};
    info.pad = 1;
    EXPECT_EQ(file.call(DRM_IOCTL_VTTM_GET_INFO, &info), -EINVAL);
    drm_vttm_vm_set_label label{7, 1};
    EXPECT_EQ(file.call(DRM_IOCTL_VTTM_VM_SET_LABEL, &label), -EINVAL);
}

TEST_F(vttm_refusals, priority)
{
    u32 shared = file.must_create(page, DRM_VTTM_DOMAIN_VRAM);
    u32 own = file.must_create(page, DRM_VTTM_DOMAIN_VRAM, DRM_VTTM_GEM_VM_PRIVATE);
    drm_vttm_gem_set_priority args{shared, 1};
    EXPECT_EQ(file.call(DRM_IOCTL_VTTM_GEM_SET_PRIORITY, &args), -EINVAL) << "shared BOs have none";
    args = {own, DRM_VTTM_PRIORITY_MAX + 1};
    EXPECT_EQ(file.call(DRM_IOCTL_VTTM_GEM_SET_PRIORITY, &args), -EINVAL);
    args = {own, DRM_VTTM_PRIORITY_MAX};
    EXPECT_EQ(file.call(DRM_IOCTL_VTTM_GEM_SET_PRIORITY, &args), 0);
    drm_vttm_gem_info info{};
    info.handle = own;
    EXPECT_EQ(file.call(DRM_IOCTL_VTTM_GEM_INFO, &info), 0);
    EXPECT_EQ(info.priority, DRM_VTTM_PRIORITY_MAX);
}

TEST_F(vttm_refusals, submit)
{
    EXPECT_EQ(submit_with([](auto &, auto &, auto &) {}), 0);
    EXPECT_EQ(submit_with([](auto &a, auto &, auto &) { a.engine = 99; }), -EINVAL);
    EXPECT_EQ(submit_with([](auto &a, auto &, auto &) { a.flags = 1; }), -EINVAL);
    EXPECT_EQ(submit_with([](auto &, auto &b, auto &) { b.flags = 1; }), -EINVAL);
    EXPECT_EQ(submit_with([](auto &, auto &, auto &t) { t.pad = 1; }), -EINVAL);
    EXPECT_EQ(submit_with([](auto &, auto &, auto &t) { t.handle = no_handle; }), -ENOENT);
    EXPECT_EQ(submit_with([](auto &a, auto &, auto &) { a.bo_count = DRM_VTTM_SUBMIT_MAX + 1; }), -EINVAL);
    EXPECT_EQ(submit_with([](auto &a, auto &, auto &) { a.touch_count = ~0u; }), -EINVAL);
    EXPECT_EQ(submit_with([](auto &a, auto &, auto &) { a.bos = 8; }), -EFAULT);
    EXPECT_EQ(submit_with([](auto &a, auto &, auto &) { a.touches = 8; }), -EFAULT);
    EXPECT_EQ(submit_with([](auto &a, auto &, auto &) { a.bo_stride = 4; }), -EINVAL);
    EXPECT_EQ(submit_with([](auto &a, auto &, auto &) { a.touch_stride = 0; }), -EINVAL);
}

TEST_F(vttm_refusals, submit_lists_and_touches_the_right_bos)
{
    u32 own = file.must_create(page, DRM_VTTM_DOMAIN_VRAM, DRM_VTTM_GEM_VM_PRIVATE);
    EXPECT_EQ(file.submit({own}), -EINVAL) << "private BOs are valid anyway and must not be listed";
    u32 listed = file.must_create(page, DRM_VTTM_DOMAIN_VRAM);
    u32 unlisted = file.must_create(page, DRM_VTTM_DOMAIN_VRAM);
    drm_vttm_submit_bo bo{listed, 0};
    drm_vttm_submit_touch touch{unlisted, 0, page, page};
    drm_vttm_submit args{};
    args.bos = reinterpret_cast<std::uintptr_t>(&bo);
    args.bo_count = 1;
    args.bo_stride = sizeof(bo);
    args.touches = reinterpret_cast<std::uintptr_t>(&touch);
    args.touch_count = 1;
    args.touch_stride = sizeof(touch);
    EXPECT_EQ(file.call(DRM_IOCTL_VTTM_SUBMIT, &args), -EINVAL);
    touch.handle = own;
    EXPECT_EQ(file.call(DRM_IOCTL_VTTM_SUBMIT, &args), 0);
}

TEST_F(vttm_refusals, wait)
{
    EXPECT_EQ(file.wait(1), -EINVAL) << "nothing was submitted";
    u64 seqno = 0;
    ASSERT_EQ(file.submit({file.must_create(page, DRM_VTTM_DOMAIN_VRAM)}, &seqno), 0);
    EXPECT_EQ(seqno, 1u);
    EXPECT_EQ(file.wait(seqno), 0);
    EXPECT_EQ(file.wait(seqno + 1), -EINVAL);
    EXPECT_EQ(file.wait(seqno, -1), 0) << "negative: without limit";
}

TEST_F(vttm_refusals, pin)
{
    u32 handle = file.must_create(page, DRM_VTTM_DOMAIN_VRAM);
    EXPECT_EQ(file.pin(handle, DRM_VTTM_PIN_UNPIN), -EINVAL) << "holds no pin";
    EXPECT_EQ(file.pin(handle), 0);
    EXPECT_EQ(file.pin(handle), 0);
    EXPECT_EQ(file.info().vram_pinned, page);
    EXPECT_EQ(file.pin(handle, DRM_VTTM_PIN_UNPIN), 0);
    EXPECT_EQ(file.pin(handle, DRM_VTTM_PIN_UNPIN), 0);
    EXPECT_EQ(file.pin(handle, DRM_VTTM_PIN_UNPIN), -EINVAL);
    EXPECT_EQ(file.info().vram_pinned, 0u);
}

TEST_F(vttm_refusals, laboratory_control)
{
    EXPECT_EQ(file.lab(9999), -EINVAL);
    EXPECT_EQ(file.lab(DRM_VTTM_LAB_RESET, 0, nullptr), -EFAULT);
    drm_vttm_lab_config config{};
    EXPECT_EQ(file.lab(DRM_VTTM_LAB_RESET, 0, &config), -EINVAL) << "all zero";
    u32 handle = file.must_create(page, DRM_VTTM_DOMAIN_VRAM);
    config = {16 * MiB, 16 * MiB, 1 * GiB, 1 * GiB, 0, 3, DRM_VTTM_LAB_CONFIG_VIRTUAL_CLOCK};
    EXPECT_EQ(file.lab(DRM_VTTM_LAB_RESET, 0, &config), -EBUSY) << "a BO exists";
    file.close_handle(handle);
    config.flags = 1u << 31;
    EXPECT_EQ(file.lab(DRM_VTTM_LAB_RESET, 0, &config), -EINVAL);
    config.flags = 0;
    config.vram_size = page + 1;
    EXPECT_EQ(file.lab(DRM_VTTM_LAB_RESET, 0, &config), -EINVAL);
}

TEST_F(vttm_refusals, laboratory_control_needs_privilege)
{
    pid_t child = fork();
    if (child == 0) {
        int ret = setresuid(65534, 65534, 65534) ? 1 : file.lab(DRM_VTTM_LAB_SETTLE);
        _exit(ret == -EACCES || ret == -EPERM ? 0 : 1);
    }
    int status = -1;
    waitpid(child, &status, 0);
    EXPECT_EQ(status, 0);
}

TEST_F(vttm_refusals, sizes_of_the_argument)
{
    // A shorter argument than the kernel's is zero-extended by DRM, so an old program's create works.
    drm_vttm_gem_create args = good();
    unsigned long shorter = DRM_IOWR(DRM_COMMAND_BASE + DRM_VTTM_GEM_CREATE, u64);
    EXPECT_EQ(file.call(shorter, &args), -EINVAL) << "zero preferred domains";
    EXPECT_EQ(file.call(DRM_IOWR(DRM_COMMAND_BASE + 0x3f, u64), &args), -EINVAL) << "no such ioctl";
}

} // namespace
} // namespace vramlab::tests
