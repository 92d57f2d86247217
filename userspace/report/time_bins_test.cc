// SPDX-License-Identifier: MIT
// Do bins keep sums and levels whatever their width, and phases their begins and ends?
#include "report/throttle_phases.h"
#include "report/time_bins.h"

#include <gtest/gtest.h>

#include <tuple>

namespace vramlab::report {
namespace {

TEST(time_bins, sums_stay_exact_whatever_the_width)
{
    time_bins b(2, 4);
    u64 total = 0;
    for (u64 t = 0; t < 1000; t++) {
        b.add(0, t * 977, t);
        b.spread(1, t * 977, t * 977 + 123456, 7 * t);
        total += t;
    }
    EXPECT_EQ(b.sum(0), total);
    EXPECT_EQ(b.sum(1), 7 * total);
    EXPECT_LE(b.bins(), 4u);
    EXPECT_EQ(b.width_ns() % time_bins::first_width_ns, 0u);
}

TEST(time_bins, spreading_is_even)
{
    time_bins b(1, 10);
    b.spread(0, 500, 3500, 3000); // half a bin, two, and a half
    ASSERT_EQ(b.bins(), 4u);
    EXPECT_EQ(b.value(0, 0), 500u);
    EXPECT_EQ(b.value(0, 1), 1000u);
    EXPECT_EQ(b.value(0, 2), 1000u);
    EXPECT_EQ(b.value(0, 3), 500u);
    b.spread(0, 9500, 9500, 5); // no duration: all at once
    EXPECT_EQ(b.value(0, 9), 5u);
}

TEST(time_bins, halving_joins_neighbours)
{
    time_bins b(1, 4);
    for (u64 i = 0; i < 4; i++)
        b.add(0, i * 1000, 1 << i);
    b.add(0, 4000, 16); // the fifth
    EXPECT_EQ(b.width_ns(), 2000u);
    ASSERT_EQ(b.bins(), 3u);
    EXPECT_EQ(b.value(0, 0), 3u);
    EXPECT_EQ(b.value(0, 1), 12u);
    EXPECT_EQ(b.value(0, 2), 16u);
}

TEST(time_levels, hold_until_they_change_and_remember_the_highest)
{
    time_levels l(2, 4);
    l.set(0, 500, 10);
    l.set(0, 600, 90);
    l.set(0, 700, 20);
    l.set(1, 2500, 5);
    l.extend_to(3999);
    ASSERT_EQ(l.bins(), 4u);
    EXPECT_EQ(l.at_end(0, 0), 20u);
    EXPECT_EQ(l.highest(0, 0), 90u);
    EXPECT_EQ(l.at_end(0, 3), 20u);
    EXPECT_EQ(l.highest(0, 3), 20u);
    EXPECT_EQ(l.at_end(1, 1), 0u);
    EXPECT_EQ(l.at_end(1, 2), 5u);
    l.extend_to(5000);
    ASSERT_EQ(l.bins(), 3u);
    EXPECT_EQ(l.highest(0, 0), 90u);
    EXPECT_EQ(l.at_end(0, 0), 20u);
    EXPECT_EQ(l.at_end(1, 0), 0u);
    EXPECT_EQ(l.at_end(1, 1), 5u);
}

std::vector<std::tuple<u64, u64, bool>> intervals(const throttle_phases &p, u32 vm)
{
    std::vector<std::tuple<u64, u64, bool>> out;
    for (const throttle_phases::interval &i : p.vms().at(vm).intervals)
        out.emplace_back(i.begin_ns, i.end_ns, i.strong);
    return out;
}

TEST(throttle_phases, a_further_eviction_starts_over)
{
    throttle_phases p(10, 100);
    p.throttled(1, 5);
    p.throttled(1, 12); // strong still: longer
    p.throttled(1, 50); // weak by then
    p.throttled(2, 60);
    p.finish(1000);
    EXPECT_EQ(intervals(p, 1), (std::vector<std::tuple<u64, u64, bool>>{
                                   {5, 22, true}, {22, 50, false}, {50, 60, true}, {60, 160, false}}));
    EXPECT_EQ(p.vms().at(1).evictions, 3u);
    EXPECT_EQ(p.vms().size(), 2u);
}

TEST(throttle_phases, evict_all_and_the_end_cut_them)
{
    throttle_phases p(10, 100, 3);
    p.throttled(1, 0);
    p.reset(40);
    p.throttled(1, 100);
    p.finish(105);
    EXPECT_EQ(intervals(p, 1),
              (std::vector<std::tuple<u64, u64, bool>>{{0, 10, true}, {10, 40, false}, {100, 105, true}}));
    throttle_phases few(10, 100, 1);
    few.throttled(1, 0);
    few.throttled(1, 500);
    few.finish(505);
    EXPECT_EQ(few.vms().at(1).intervals.size(), 1u);
    EXPECT_EQ(few.vms().at(1).left_out, 2u);
}

} // namespace
} // namespace vramlab::report
