// SPDX-License-Identifier: MIT
// Does TTM keep what a program wants most, and only at the program's own cost? Runs in the guest.
#include "tests/vttm_device.h"
#include "tests/vttm_switch.h"

#include <gtest/gtest.h>

namespace vramlab::tests {
namespace {

// With the mechanism, and without: who would not notice the difference tests nothing.
class vttm_priority : public testing::TestWithParam<bool> {
protected:
    void SetUp() override
    {
        if (file.fd() < 0)
            GTEST_SKIP() << "no vttm device: runs in the guest only (scripts/run-vttm-tests)";
        if (!has_switch("bo_priority"))
            GTEST_SKIP() << "a kernel whose TTM has no order within bulk moves";
        const drm_vttm_lab_config config{
            40 * MiB, u64{1} * GiB, u64{1} << 50, u64{1} << 50, 0, 32, DRM_VTTM_LAB_CONFIG_NO_CONTENTS};
        ASSERT_EQ(reset_when_idle(file, config), 0);
        ASSERT_TRUE(set_switch("bo_priority", GetParam()));
        ASSERT_TRUE(set_switch("throttle", false)); // who has lost memory here wants it back at once
    }
    void TearDown() override { restore_switches(); }
    u32 create(const vttm_file &of, u64 mib, u32 priority, bool vram_only = false)
    {
        drm_vttm_gem_create args{};
        args.size = mib * MiB;
        args.preferred_domains = DRM_VTTM_DOMAIN_VRAM;
        args.allowed_domains = DRM_VTTM_DOMAIN_VRAM | (vram_only ? 0 : DRM_VTTM_DOMAIN_GTT);
        args.flags = DRM_VTTM_GEM_VM_PRIVATE;
        args.priority = priority;
        return of.create(args) ? 0 : args.handle;
    }
    int set_priority(u32 handle, u32 priority)
    {
        drm_vttm_gem_set_priority args{handle, priority};
        return file.call(DRM_IOCTL_VTTM_GEM_SET_PRIORITY, &args);
    }
    bool in_vram(u32 handle) const { return file.domain_of(handle) == DRM_VTTM_DOMAIN_VRAM; }

    vttm_file file;
};

TEST_P(vttm_priority, the_lowest_priority_leaves_first)
{
    const u32 high = create(file, 12, 12), low = create(file, 12, 3), middle = create(file, 12, 7);
    const vttm_file rival;
    ASSERT_NE(create(rival, 12, 15), 0u);
    EXPECT_EQ(in_vram(high), GetParam());
    EXPECT_EQ(in_vram(low), !GetParam());
    EXPECT_TRUE(in_vram(middle));
}

TEST_P(vttm_priority, a_change_counts_at_once)
{
    const u32 first = create(file, 12, 7), second = create(file, 12, 7), third = create(file, 12, 7);
    ASSERT_EQ(set_priority(third, 1), 0);
    const vttm_file rival;
    ASSERT_NE(create(rival, 12, 15), 0u);
    EXPECT_EQ(in_vram(first), GetParam());
    EXPECT_TRUE(in_vram(second));
    EXPECT_EQ(in_vram(third), !GetParam());
}

// A program alone, whose BO must be in VRAM and finds there what it wants less.
TEST_P(vttm_priority, a_vm_trades_lower_bos_for_higher_ones)
{
    const u32 high = create(file, 20, 12, true), low = create(file, 16, 3);
    const vttm_file rival;
    const u32 guest = create(rival, 39, 7); // puts both of them out
    EXPECT_FALSE(in_vram(high));
    ASSERT_EQ(rival.close_handle(guest), 0);
    const u32 more = create(file, 16, 7); // and there is room for two of the three
    // Mainline begins with what was evicted last, and has no room for the other one then.
    ASSERT_EQ(file.submit({}), GetParam() ? 0 : -ENOMEM);
    EXPECT_TRUE(in_vram(more));
    EXPECT_EQ(in_vram(high), GetParam());
    EXPECT_EQ(in_vram(low), !GetParam());
    if (!GetParam())
        return;

    // Raised, it takes the place of the lower one.
    ASSERT_EQ(set_priority(low, 9), 0);
    EXPECT_EQ(file.submit({}), 0);
    EXPECT_TRUE(in_vram(high));
    EXPECT_TRUE(in_vram(low));
    EXPECT_FALSE(in_vram(more));
}

TEST_P(vttm_priority, priority_zero_is_never_moved_back)
{
    const u32 zero = create(file, 16, 0), one = create(file, 16, 1);
    {
        const vttm_file rival;
        ASSERT_NE(create(rival, 39, 7), 0u);
    }
    EXPECT_FALSE(in_vram(zero));
    EXPECT_EQ(file.submit({}), 0);
    EXPECT_TRUE(in_vram(one));
    EXPECT_EQ(in_vram(zero), !GetParam());
}

INSTANTIATE_TEST_SUITE_P(mechanism, vttm_priority, testing::Bool(),
                         [](const auto &p) { return std::string(p.param ? "on" : "off"); });

} // namespace
} // namespace vramlab::tests
