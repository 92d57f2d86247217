// SPDX-License-Identifier: MIT
// Does what a program could not keep in VRAM come back when there is room, the most wanted first and not all
// at once? Runs in the guest.
#include "tests/vttm_virtual.h"

#include <algorithm>

namespace vramlab::tests {
namespace {

constexpr u64 bo_size = 16 * MiB;
constexpr u32 count = 10;
constexpr u32 per_submission = 2; // 32 MiB

// A game whose private BOs fill VRAM, in an order of priorities that is not that of creation.
class vttm_recovery : public virtual_test {
protected:
    void SetUp() override
    {
        // Without a budget for moves: what comes back comes back by recovery, or into free memory.
        set_up(count * bo_size, 0);
        if (IsSkipped())
            return;
        game = &open();
        for (u32 i = 0; i < count; i++) {
            const u32 priority = (i * 7 + 3) % count + 1;
            by_priority[priority - 1] = game->create(bo_size, DRM_VTTM_GEM_VM_PRIVATE, priority);
            ASSERT_TRUE(game->in_vram(by_priority[priority - 1]));
        }
        std::reverse(by_priority.begin(), by_priority.end());
    }
    // From the highest priority down, what is in VRAM: '#', and what isn't: '.'.
    std::string picture() const
    {
        std::string text;
        for (u32 handle : by_priority)
            text += game->in_vram(handle) ? '#' : '.';
        return text;
    }
    void expect_in_vram(u32 first) const
    {
        EXPECT_EQ(picture(), std::string(first, '#') + std::string(count - first, '.'));
    }
    void submit() { ASSERT_EQ(game->file.submit({}), 0); }
    void sleep_until_normal() { sleep_ms(number_of("throttle_strong_ms") + number_of("throttle_weak_ms")); }

    client *game = nullptr;
    std::vector<u32> by_priority = std::vector<u32>(count); // highest first
};

// Case E1: the machine slept.
TEST_F(vttm_recovery, after_evict_all_everything_comes_back)
{
    ASSERT_EQ(control_.lab(DRM_VTTM_LAB_EVICT_ALL), 0);
    expect_in_vram(0);
    submit();
    expect_in_vram(count);
}

// Half of VRAM is somebody else's after that: the most wanted get the other half, the others return in the
// order of their priorities when it is free.
TEST_F(vttm_recovery, after_evict_all_the_most_wanted_come_first)
{
    client &screen = open();
    ASSERT_EQ(control_.lab(DRM_VTTM_LAB_EVICT_ALL), 0);
    const std::vector<u32> images = screen.create_many(5, 5 * bo_size);
    for (u32 image : images)
        ASSERT_EQ(screen.file.pin(image), 0);
    submit();
    expect_in_vram(5);
    // In vain as long as there is no room.
    submit();
    expect_in_vram(5);
    screen.close_all(images);
    sleep_ms(1); // until the copies that they come from are over
    submit();
    expect_in_vram(5 + per_submission);
    submit();
    expect_in_vram(5 + 2 * per_submission);
    submit();
    expect_in_vram(count);
}

TEST_F(vttm_recovery, what_was_lost_to_others_comes_back_when_they_leave)
{
    client &rival = open();
    const std::vector<u32> theirs = rival.create_many(count, count * bo_size);
    expect_in_vram(0);
    submit(); // throttled, and there is no room: it goes on without
    expect_in_vram(0);
    sleep_until_normal();
    rival.close_all(theirs);
    for (u32 back = per_submission; back < count; back += per_submission) {
        submit();
        expect_in_vram(back);
    }
    submit();
    expect_in_vram(count);
}

// Nobody is evicted for what comes back.
TEST_F(vttm_recovery, recovery_evicts_nobody)
{
    client &rival = open();
    const std::vector<u32> theirs = rival.create_many(count, count * bo_size);
    submit();
    sleep_until_normal();
    const u64 before = evictions();
    for (u32 i = 0; i < 5; i++)
        submit();
    EXPECT_EQ(rival.count_in_vram(theirs), count);
    EXPECT_EQ(evictions(), before);
}

} // namespace
} // namespace vramlab::tests
