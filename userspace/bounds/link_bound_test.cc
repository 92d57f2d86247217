// SPDX-License-Identifier: MIT
// Is the bound a bound, and how close is it? Against brute force: every content of VRAM, step by step.
#include "base/rng.h"
#include "bounds/exact.h"
#include "bounds/link_bound.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <optional>

namespace vramlab::bounds {
namespace {

constexpr u64 none = ~u64{0};

struct shape {
    u32 max_objects = 10;
    u32 max_steps = 12;
    bool must = true;
    bool empties = true;
};

object random_object(rng &r, const shape &f, u32 steps)
{
    object o{r.between(1, 9), static_cast<u32>(r.below(steps)), {}};
    u32 pinned_until = 0;
    for (u32 s = o.born; s < steps; s++) {
        if (f.must && s >= pinned_until && !r.below(24))
            pinned_until = s + static_cast<u32>(r.between(1, 3));
        if (s < pinned_until)
            o.uses.push_back({s, must_be_in_vram});
        else if (r.below(3) == 0)
            o.uses.push_back({s, r.below(o.size_bytes * 2 + 1)});
    }
    if (o.uses.empty())
        o.uses.push_back({o.born, 1});
    return o;
}

instance random_instance(u64 seed, const shape &f = {})
{
    rng r(seed);
    instance in;
    in.steps = static_cast<u32>(r.between(1, f.max_steps));
    const u64 objects = r.between(1, f.max_objects);
    u64 all = 0;
    for (u64 i = 0; i < objects; i++) {
        in.objects.push_back(random_object(r, f, in.steps));
        all += in.objects.back().size_bytes;
    }
    in.vram_bytes = r.between(all / 3, all);
    in.fixed_bytes = r.below(4);
    for (u32 s = 1; f.empties && s < in.steps; s++)
        if (!r.below(12))
            in.emptied.push_back(s);
    return in;
}

const use *use_at(const object &o, u32 step)
{
    for (const use &u : o.uses)
        if (u.step == step)
            return &u;
    return nullptr;
}

// Written for nothing but to be right: cost[mask] is the least that leads to this content of VRAM, whatever a
// policy moves when, wanted or not.
class brute_force {
public:
    explicit brute_force(const instance &in) : in_(in), cost_(std::size_t{1} << in.objects.size(), none)
    {
        cost_[0] = in.fixed_bytes;
    }

    // none: it cannot be done.
    u64 least()
    {
        for (u32 s = 0; s < in_.steps; s++) {
            if (std::count(in_.emptied.begin(), in_.emptied.end(), s))
                empty(s);
            for (std::size_t i = 0; i < in_.objects.size(); i++)
                if (in_.objects[i].born <= s)
                    move(i, in_.objects[i].born == s);
            use_all(s);
        }
        return *std::min_element(cost_.begin(), cost_.end());
    }

private:
    static u64 plus(u64 a, u64 b) { return a == none || b == none ? none : a + b; }

    void move(std::size_t i, bool fresh)
    {
        const std::size_t bit = std::size_t{1} << i;
        for (std::size_t m = 0; m < cost_.size(); m++) {
            if (m & bit)
                continue;
            const u64 in = cost_[m | bit], out = cost_[m];
            cost_[m] = std::min(out, in);
            cost_[m | bit] = std::min(in, plus(out, fresh ? 0 : in_.objects[i].size_bytes));
        }
    }

    void empty(u32 s)
    {
        std::size_t stays = 0;
        for (std::size_t i = 0; i < in_.objects.size(); i++)
            if (const use *u = use_at(in_.objects[i], s - 1); u && u->remote_bytes == must_be_in_vram)
                stays |= std::size_t{1} << i;
        std::vector<u64> after(cost_.size(), none);
        for (std::size_t m = 0; m < cost_.size(); m++)
            after[m & stays] = std::min(after[m & stays], cost_[m]);
        cost_ = after;
    }

    void use_all(u32 s)
    {
        for (std::size_t m = 0; m < cost_.size(); m++) {
            u64 bytes = 0;
            for (std::size_t i = 0; i < in_.objects.size(); i++) {
                const bool inside = m >> i & 1;
                bytes += inside ? in_.objects[i].size_bytes : 0;
                if (const use *u = use_at(in_.objects[i], s); u && !inside)
                    cost_[m] = plus(cost_[m], u->remote_bytes);
            }
            if (bytes > in_.vram_bytes)
                cost_[m] = none;
        }
    }

    const instance &in_;
    std::vector<u64> cost_;
};

TEST(link_bound, equals_brute_force)
{
    u32 possible = 0, of_use = 0;
    for (u64 seed = 1; seed <= 10'000; seed++) {
        const instance in = random_instance(seed);
        const u64 least = brute_force(in).least();
        const link_bound b = least_link_bytes(in, {.iterations = 30});
        if (least == none) {
            EXPECT_FALSE(b.upper_bytes) << "seed " << seed;
            continue;
        }
        possible++;
        of_use += least > in.fixed_bytes;
        ASSERT_TRUE(b.upper_bytes) << "seed " << seed;
        ASSERT_EQ(b.lower_bytes, least) << "seed " << seed;
        ASSERT_EQ(*b.upper_bytes, least) << "seed " << seed;
    }
    EXPECT_GT(possible, 5'000u);
    EXPECT_GT(of_use, 4'000u); // or nothing had to be decided
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
