// SPDX-License-Identifier: MIT
// Values worked out by hand from amdgpu_cs_get_threshold_for_moves() and amdgpu_cs_report_moved_bytes(). At
// log2 = 3 a microsecond is 8 bytes.
#include "driver/budget.h"

#include <gtest/gtest.h>

using namespace vramlab;
using driver::move_budget;

namespace {

constexpr u64 vram = GiB;
constexpr u64 full = GiB;

TEST(move_budget, accumulates_with_the_clock_and_goes_into_debt)
{
    move_budget b(3);
    EXPECT_EQ(b.threshold(0, vram, full, 0), 0u);
    EXPECT_EQ(b.threshold(50 * ns_per_ms, vram, full, 0), 400'000u);
    b.report_moved(1'000'007); // rounded down to 125,000 us
    EXPECT_EQ(b.accum_us(), -75'000);
    EXPECT_EQ(b.threshold(100 * ns_per_ms, vram, full, 0), 0u);
    EXPECT_EQ(b.accum_us(), -25'000);
    EXPECT_EQ(b.threshold(200 * ns_per_ms, vram, full, 0), 600'000u);
    EXPECT_EQ(b.last_update_us(), 200'000);
}

TEST(move_budget, at_most_200_ms_accumulate)
{
    move_budget b(3);
    EXPECT_EQ(b.threshold(10 * ns_per_s, vram, full, 0), 1'600'000u);
    EXPECT_EQ(b.accum_us(), 200'000);
    // Parts of a microsecond are lost with each call.
    move_budget c(3);
    EXPECT_EQ(c.threshold(1'999, vram, full, 0), 8u);
    EXPECT_EQ(c.threshold(2'998, vram, full, 0), 16u);
}

TEST(move_budget, free_memory_is_filled_whatever_the_debt)
{
    move_budget b(3);
    b.report_moved(64 * GiB);
    // An eighth is free: a quarter of that, 32 MiB, that is 4,194,304 us; the limit of 200 ms does not apply.
    EXPECT_EQ(b.threshold(0, vram, full - 128 * MiB, 0), 32 * MiB);
    EXPECT_EQ(b.accum_us(), 4'194'304);
    EXPECT_EQ(b.threshold(0, vram, full, 0), 1'600'000u);
    // 128 MiB do for any size; a byte less does only if it is an eighth.
    EXPECT_EQ(move_budget(3).threshold(0, 16 * GiB, 16 * GiB - 128 * MiB, 0), 32 * MiB);
    EXPECT_EQ(move_budget(3).threshold(0, 16 * GiB, 16 * GiB - 128 * MiB + 1, 0), 0u);
}

TEST(move_budget, pinned_memory_is_not_there)
{
    EXPECT_EQ(move_budget(3).threshold(0, vram, 768 * MiB, 0), 64 * MiB);
    EXPECT_EQ(move_budget(3).threshold(0, vram, 768 * MiB, 256 * MiB), 0u);
    EXPECT_EQ(move_budget(3).threshold(0, vram, 768 * MiB, 512 * MiB), 0u); // more used than there is
}

TEST(move_budget, a_rate_of_one_is_none_at_all)
{
    move_budget b(0);
    EXPECT_EQ(b.threshold(10 * ns_per_s, vram, 0, 0), 0u);
    b.report_moved(GiB);
    EXPECT_EQ(b.accum_us(), 0);
    EXPECT_EQ(b.last_update_us(), 0);
}

} // namespace
