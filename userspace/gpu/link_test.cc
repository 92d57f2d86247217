// SPDX-License-Identifier: MIT
#include "gpu/link.h"

#include "base/rng.h"

#include <gtest/gtest.h>

#include <stdexcept>
#include <vector>

using namespace vramlab;

namespace {

constexpr gpu::link_direction in = gpu::link_direction::in, out = gpu::link_direction::out;

struct user final : gpu::link_user {
    u64 end_ns = 0;
    u32 told = 0;
    void transfer_will_end(u64 ns) override
    {
        end_ns = ns;
        told++;
    }
};

struct three_users {
    gpu::link link;
    user a, b, c;
    three_users()
    {
        for (user *u : {&a, &b, &c})
            link.add(*u);
    }
};

TEST(link, one_transfer_has_it_all)
{
    three_users u;
    u.link.begin(0, 5, 7, 100, in);
    EXPECT_EQ(u.a.end_ns, 107u);
    EXPECT_EQ(u.a.told, 1u);
}

TEST(link, two_and_three_share_evenly)
{
    three_users u;
    u.link.begin(0, 0, 0, 60, in);
    u.link.begin(1, 0, 0, 60, in);
    EXPECT_EQ(u.a.end_ns, 120u);
    EXPECT_EQ(u.b.end_ns, 120u);
    u.link.begin(2, 0, 0, 60, in);
    for (const user *x : {&u.a, &u.b, &u.c})
        EXPECT_EQ(x->end_ns, 180u);
}

// A third of a nanosecond's work is left to two of the three after one: sixths are exact, only the end is
// rounded.
TEST(link, ends_are_rounded_up_and_nothing_else)
{
    three_users u;
    u.link.begin(0, 0, 0, 2, in);
    u.link.begin(1, 0, 0, 2, in);
    u.link.begin(2, 0, 0, 1, in);
    EXPECT_EQ(u.c.end_ns, 3u); // a, b: one done, one to do
    EXPECT_EQ(u.a.end_ns, 5u);
    u.link.begin(2, 4, 4, 1, in); // a, b: half to do
    EXPECT_EQ(u.a.end_ns, 6u);    // 1.5 ns more
    EXPECT_EQ(u.c.end_ns, 7u);    // two thirds by then, the rest alone
}

TEST(link, directions_are_independent)
{
    three_users u;
    u.link.begin(0, 0, 0, 60, in);
    u.link.begin(1, 0, 0, 60, out);
    EXPECT_EQ(u.a.end_ns, 60u);
    EXPECT_EQ(u.b.end_ns, 60u);
    EXPECT_EQ(u.a.told, 1u); // nothing changed for it
}

// Known beforehand: it counts from its beginning on.
TEST(link, a_transfer_may_begin_later)
{
    three_users u;
    u.link.begin(0, 0, 0, 100, in);
    u.link.begin(1, 0, 50, 10, in);
    EXPECT_EQ(u.b.end_ns, 70u);
    EXPECT_EQ(u.a.end_ns, 110u);
}

TEST(link, refuses_what_cannot_be)
{
    three_users u;
    user one_too_many;
    EXPECT_THROW(u.link.add(one_too_many), std::logic_error);
    u.link.begin(0, 10, 10, 100, in);
    EXPECT_THROW(u.link.begin(0, 20, 20, 1, in), std::logic_error); // its last one is under way
    EXPECT_THROW(u.link.begin(1, 9, 30, 1, in), std::logic_error);  // time goes back
    EXPECT_THROW(u.link.begin(1, 20, 19, 1, in), std::logic_error);
    EXPECT_THROW(u.link.begin(1, 20, 20, 0, in), std::logic_error);
    EXPECT_THROW(u.link.begin(1, 20, 20, 1, gpu::link_direction::none), std::logic_error);
}

// Nanosecond by nanosecond: an independent reckoning of when each ends.
struct slow_link {
    struct transfer {
        u64 begin_ns, left;
        gpu::link_direction direction;
        u64 end_ns;
    };
    std::vector<transfer> all;

    void run()
    {
        for (u64 t = 0; t < 400; t++) {
            std::vector<std::size_t> now;
            for (std::size_t i = 0; i < all.size(); i++)
                if (all[i].left && all[i].begin_ns <= t)
                    now.push_back(i);
            std::vector<u64> share(all.size());
            for (const std::size_t i : now)
                for (const std::size_t j : now)
                    share[i] += all[i].direction == all[j].direction;
            for (const std::size_t i : now) {
                all[i].left -= std::min(all[i].left, 6 / share[i]);
                if (!all[i].left)
                    all[i].end_ns = t + 1;
            }
        }
    }
};

TEST(link, equals_a_reckoning_by_nanoseconds)
{
    rng r(1);
    for (u32 round = 0; round < 2000; round++) {
        three_users u;
        slow_link slow;
        u64 now_ns = 0;
        for (u32 i = 0; i < 3; i++) {
            now_ns += r.below(40);
            const u64 begin_ns = now_ns + r.below(30), work_ns = 1 + r.below(60);
            const auto direction = r.below(3) ? in : out;
            u.link.begin(i, now_ns, begin_ns, work_ns, direction);
            slow.all.push_back({begin_ns, 6 * work_ns, direction, 0});
        }
        slow.run();
        const user *users[] = {&u.a, &u.b, &u.c};
        for (u32 i = 0; i < 3; i++)
            ASSERT_EQ(users[i]->end_ns, slow.all[i].end_ns) << "round " << round << ", transfer " << i;
    }
}

} // namespace
