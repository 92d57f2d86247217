// SPDX-License-Identifier: MIT
// Is the bound a bound, and how close is it? Against brute force.
#include "bounds/brute_force.h"
#include "bounds/exact.h"
#include "bounds/link_bound.h"

#include <gtest/gtest.h>

#include <optional>

namespace vramlab::bounds {
namespace {

// Which of the answers to one question are wrong.
struct judged {
    bool lower = false;
    bool upper = false;
};
judged judge(const link_bound &b, u64 least)
{
    if (least == none)
        return {false, b.upper_bytes.has_value()};
    return {b.lower_bytes != least, b.upper_bytes != least};
}

TEST(link_bound, equals_brute_force)
{
    u32 possible = 0, of_use = 0, pinned = 0;
    for (u64 seed = 1; possible < 10'000; seed++) {
        const instance in = random_instance(seed);
        const u64 least = brute_force(in).least();
        const link_bound b = least_link_bytes(in, {.iterations = 30});
        const judged wrong = judge(b, least);
        ASSERT_FALSE(wrong.lower) << "seed " << seed << ": " << b.lower_bytes << ", least " << least;
        ASSERT_FALSE(wrong.upper) << "seed " << seed << ", least " << least;
        possible += least != none;
        of_use += least != none && least > in.fixed_bytes;
        pinned += least != none && has_pins(in);
    }
    EXPECT_GT(of_use, 6'000u); // or nothing had to be decided
    EXPECT_GT(pinned, 3'000u);
}

// The same judgement of a bound with a planted error: it takes pins for ordinary uses, remote reads for free.
// Of those with pins it must be wrong often.
TEST(link_bound, one_that_forgets_pins_is_caught)
{
    u32 pinned = 0, caught = 0;
    for (u64 seed = 1; seed <= 2'000; seed++) {
        const instance in = random_instance(seed);
        instance forgetful = in;
        for (object &o : forgetful.objects)
            for (use &u : o.uses)
                if (u.remote_bytes == must_be_in_vram)
                    u.remote_bytes = 0;
        const u64 least = brute_force(in).least();
        const judged wrong = judge(least_link_bytes(forgetful, {.iterations = 30}), least);
        pinned += has_pins(in);
        caught += wrong.lower || wrong.upper;
        EXPECT_TRUE(has_pins(in) || (!wrong.lower && !wrong.upper)) << "seed " << seed;
    }
    EXPECT_GT(caught * 3, pinned);
}

// What large instances get, which cannot be solved exactly: both sides, on instances whose optimum is known.
TEST(link_bound, prices_and_schedules_enclose_the_optimum)
{
    u64 least_sum = 0, lower_sum = 0, upper_sum = 0;
    for (u64 seed = 1; seed <= 2'000; seed++) {
        const instance in = random_instance(seed);
        const u64 least = brute_force(in).least();
        if (least == none)
            continue;
        const best_prices p = find_prices(in, move_weight_one, least, 100);
        const auto t = schedule(in, p.prices, move_weight_one);
        ASSERT_LE(p.bound, wide{least} << fraction_bits) << "seed " << seed;
        ASSERT_TRUE(t) << "seed " << seed;
        ASSERT_GE(weighed(*t, move_weight_one), wide{least} * move_weight_one) << "seed " << seed;
        least_sum += least;
        lower_sum += static_cast<u64>(std::max(p.bound, wide{0}) >> fraction_bits);
        upper_sum += t->moved_in_bytes + t->remote_bytes;
    }
    EXPECT_GE(lower_sum * 100, least_sum * 75);
    EXPECT_LE(upper_sum * 100, least_sum * 130);
}

// Any prices will do: no error of the search can make the bound wrong.
TEST(link_bound, random_prices_bound_too)
{
    for (u64 seed = 1; seed <= 2'000; seed++) {
        const instance in = random_instance(seed);
        const u64 least = brute_force(in).least();
        if (least == none)
            continue;
        rng r(seed * 7);
        price_list p{std::vector<u64>(in.steps)};
        for (u64 &price : p.price)
            price = r.below(u64{2} << fraction_bits);
        ASSERT_LE(evaluate(in, p, move_weight_one).bound, wide{least} << fraction_bits) << "seed " << seed;
    }
}

// A bound that forgot about pins would say less here: the pinned BO leaves no room for the other.
TEST(link_bound, pins_cost_others)
{
    instance in{10, 4, {}, {}, 0};
    in.objects = {{10, 0, {{0, 6}, {1, 6}, {2, 6}, {3, 6}}},
                  {10, 1, {{1, must_be_in_vram}, {2, must_be_in_vram}}}};
    const link_bound pinned = least_link_bytes(in);
    EXPECT_EQ(pinned.lower_bytes, 18u); // in VRAM in the first step, remote for the rest
    EXPECT_EQ(pinned.upper_bytes, 18u);
    in.objects[1].uses = {{1, 0}, {2, 0}};
    EXPECT_EQ(least_link_bytes(in).upper_bytes, 0u);
}

TEST(link_bound, emptied_vram_must_be_filled_again)
{
    instance in{10, 4, {{10, 0, {{0, 99}, {1, 99}, {2, 99}, {3, 99}}}}, {2}, 0};
    EXPECT_EQ(least_link_bytes(in).upper_bytes, 10u);
    in.emptied = {1, 3};
    EXPECT_EQ(least_link_bytes(in).lower_bytes, 20u);
    in.objects[0].uses[2].remote_bytes = must_be_in_vram; // stays where it is
    EXPECT_EQ(least_link_bytes(in).lower_bytes, 10u);
}

TEST(link_bound, all_fits)
{
    instance in{100, 2, {{50, 0, {{0, 5}, {1, 5}}}, {50, 1, {{1, 7}}}}, {}, 3};
    const link_bound b = least_link_bytes(in);
    EXPECT_EQ(b.lower_bytes, 3u); // what may not be in VRAM
    EXPECT_EQ(b.upper_bytes, 3u);
    EXPECT_TRUE(b.known());
}

TEST(link_bound, nothing_at_all)
{
    const link_bound b = least_link_bytes({10, 0, {}, {}, 0});
    EXPECT_EQ(b.lower_bytes, 0u);
    EXPECT_EQ(b.upper_bytes, 0u);
}

TEST(link_bound, what_must_be_in_and_does_not_fit)
{
    const link_bound b = least_link_bytes({10, 1, {{11, 0, {{0, must_be_in_vram}}}}, {}, 0});
    EXPECT_FALSE(b.upper_bytes);
    EXPECT_FALSE(b.known());
}

// With moves for free, only what never fits at a time is read remotely.
TEST(link_bound, moves_for_free)
{
    instance in{10, 4, {{10, 0, {{0, 5}, {2, 5}}}, {10, 0, {{1, 4}, {3, 4}}}}, {}, 0};
    EXPECT_EQ(least_link_bytes(in, {.move_weight = 0}).upper_bytes, 0u);
    EXPECT_EQ(least_link_bytes(in).upper_bytes, 8u);
    in.objects[1].uses = {{1, 4}, {2, 4}};
    EXPECT_EQ(least_link_bytes(in, {.move_weight = 0}).upper_bytes, 4u);
}

// A thousand BOs and submissions: no brute force, but the two sides must meet nearly.
TEST(link_bound, meets_on_large_instances)
{
    for (u64 seed = 1; seed <= 3; seed++) {
        const instance in = random_instance(seed, {400, 300, true, true});
        const link_bound b = least_link_bytes(in);
        if (!b.upper_bytes)
            continue; // what must be in does not fit
        EXPECT_LE(b.lower_bytes, *b.upper_bytes);
        EXPECT_TRUE(b.known()) << b.lower_bytes << " to " << *b.upper_bytes;
    }
}

} // namespace
} // namespace vramlab::bounds
