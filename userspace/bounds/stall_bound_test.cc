// SPDX-License-Identifier: MIT
// Is the bound on lost time a bound? Against a search that lets each nanosecond pass in every way.
#include "bounds/stall_bound.h"
#include "bounds/stall_brute_force.h"
#include "bounds/stall_schedule.h"

#include <gtest/gtest.h>

namespace vramlab::bounds {
namespace {

// 0 where the link is the quicker way.
std::optional<u64> least_of(const stall_instance &in)
{
    const std::optional<s64> found = stall_brute_force(in).least();
    return found ? std::optional<u64>(*found > 0 ? static_cast<u64>(*found) : 0) : std::nullopt;
}

// Whether an answer contradicts the truth.
bool is_wrong(const stall_bound &b, std::optional<u64> least)
{
    return least ? b.lower_ns > *least || !b.upper_ns || *b.upper_ns < *least : b.upper_ns.has_value();
}

TEST(stall_bound, encloses_brute_force)
{
    u64 least_sum = 0, lower_sum = 0, upper_sum = 0;
    u32 possible = 0, of_use = 0, met = 0;
    for (u64 seed = 1; possible < 10'000; seed++) {
        const stall_instance in = random_stall_instance(seed);
        const std::optional<u64> least = least_of(in);
        const stall_bound b = least_stall(in, {.iterations = 40});
        ASSERT_FALSE(is_wrong(b, least)) << "seed " << seed << ": " << b.lower_ns << " to "
                                         << b.upper_ns.value_or(0) << ", least " << least.value_or(0);
        if (!least)
            continue;
        possible++;
        of_use += *least > 0;
        met += *least > 0 && b.lower_ns == *least && b.upper_ns == *least;
        least_sum += *least;
        lower_sum += b.lower_ns;
        upper_sum += *b.upper_ns;
    }
    EXPECT_GT(of_use, 3'000u); // or nothing had to be decided
    EXPECT_GT(met, 700u);
    EXPECT_GE(lower_sum * 100, least_sum * 50);
    EXPECT_LE(upper_sum * 100, least_sum * 115);
}

// Any prices will do: no error of the search can make the bound wrong.
TEST(stall_bound, random_prices_bound_too)
{
    for (u64 seed = 1; seed <= 3'000; seed++) {
        const stall_instance in = random_stall_instance(seed);
        const std::optional<s64> least = stall_brute_force(in).least();
        if (!least)
            continue;
        rng r(seed * 7);
        const std::vector<window_shape> shapes = shapes_of(in);
        stall_prices p = even_prices(in, shapes, 0, 0);
        for (std::size_t s = 0; s < in.steps.size(); s++) {
            p.vram.price[s] = r.below(u64{1} << fraction_bits);
            p.weights[s].fill(0);
            u32 left = weight_one;
            for (std::size_t i = 1; i < shapes[s].count; i++)
                left -= p.weights[s][i] = static_cast<u32>(r.below(left / 2 + 1));
            p.weights[s][0] = left;
        }
        const wide bound = evaluate(in, shapes, p).bound;
        ASSERT_LE(bound * ns_per_s, wide{*least} * in.link_bandwidth * weight_one) << "seed " << seed;
    }
}

// The same judgement of bounds with planted errors: they must be wrong often.
template <typename Plant> u32 caught(Plant plant)
{
    u32 wrong = 0;
    for (u64 seed = 1; seed <= 2'000; seed++) {
        const stall_instance in = random_stall_instance(seed);
        stall_instance forgetful = in;
        plant(forgetful);
        wrong += is_wrong(least_stall(forgetful, {.iterations = 40}), least_of(in));
    }
    return wrong;
}

TEST(stall_bound, one_that_forgets_pins_is_caught)
{
    EXPECT_GT(caught([](stall_instance &in) {
                  for (stall_object &o : in.objects)
                      for (stall_use &u : o.uses)
                          if (u.link_bytes == must_be_in_vram)
                              u.link_bytes = 0;
              }),
              50u);
}

TEST(stall_bound, one_that_forgets_what_programs_do_meanwhile_is_caught)
{
    EXPECT_GT(caught([](stall_instance &in) {
                  for (stall_step &s : in.steps)
                      s.gap_ns = 0;
              }),
              50u);
}

// A BO that a job uses is in flight until that job ends: nothing can be copied to where it is meanwhile. Two
// BOs of 100 bytes in turn, VRAM for one, and jobs that take as long as a copy: a bound that forgot about
// this would hide each copy behind the job before.
TEST(stall_bound, bos_in_flight_leave_no_room)
{
    stall_instance in{100, 4 * ns_per_s, ns_per_s, false, {}, {}, {}};
    in.steps.assign(4, {.gap_ns = 0, .compute_ns = 100, .vram_bytes = 0, .fixed_link_bytes = 0});
    in.objects = {{100, 0, {{0, 0, must_be_in_vram}, {2, 0, must_be_in_vram}}},
                  {100, 0, {{1, 0, must_be_in_vram}, {3, 0, must_be_in_vram}}}};
    const stall_bound b = least_stall(in);
    EXPECT_EQ(b.lower_ns, 300u); // each job but the first waits for its copy
    EXPECT_EQ(b.upper_ns, 300u);
    // With room for both beside each other each is copied once at most, with the job before.
    in.vram_bytes = 200;
    EXPECT_EQ(least_stall(in).upper_ns, 0u);
}

// Programs' own time hides copies.
TEST(stall_bound, gaps_hide_copies)
{
    stall_instance in{100, 4 * ns_per_s, ns_per_s, false, {}, {}, {}};
    in.steps.assign(2, {.gap_ns = 60, .compute_ns = 10, .vram_bytes = 0, .fixed_link_bytes = 0});
    in.objects = {{100, 0, {{0, 0, must_be_in_vram}}}, {100, 0, {{1, 0, 500}}}};
    EXPECT_EQ(least_stall(in).lower_ns, 40u);
    EXPECT_EQ(least_stall(in).upper_ns, 40u);
    in.steps[1].gap_ns = 100;
    EXPECT_EQ(least_stall(in).upper_ns, 0u);
}

// Remote reads are hidden by computing only where a device does both at a time.
TEST(stall_bound, overlap_hides_remote_reads)
{
    stall_instance in{100, 4 * ns_per_s, ns_per_s, false, {}, {}, {}};
    in.steps.assign(1, {.gap_ns = 0, .compute_ns = 50, .vram_bytes = 0, .fixed_link_bytes = 0});
    in.objects = {{100, 0, {{0, 0, must_be_in_vram}}}, {100, 0, {{0, 0, 60}}}};
    EXPECT_EQ(least_stall(in).lower_ns, 60u);
    in.overlap = true;
    EXPECT_EQ(least_stall(in).lower_ns, 10u);
    EXPECT_EQ(least_stall(in).upper_ns, 10u);
}

TEST(stall_bound, nothing_at_all)
{
    const stall_bound b = least_stall({100, 1, 1, false, {}, {}, {}});
    EXPECT_EQ(b.lower_ns, 0u);
    EXPECT_EQ(b.upper_ns, 0u);
}

} // namespace
} // namespace vramlab::bounds
