// SPDX-License-Identifier: MIT
// Is the sequence the one that seeds in files stand for?
#include "base/rng.h"

#include <gtest/gtest.h>
#include <vector>

namespace vramlab {
namespace {

TEST(rng, sequence_is_splitmix64)
{
    rng r(1234567);

    // The published test vector of splitmix64 for this seed.
    for (u64 expected : {6457827717110365317u, 3203168211198807973u, 9817491932198370423u,
                         4593380528125082431u, 16408922859458223821u})
        EXPECT_EQ(r.next(), expected);
}

TEST(rng, draws_stay_in_range_and_reach_both_ends)
{
    rng r(1);
    bool first = false;
    bool last = false;

    for (int i = 0; i < 1000; i++) {
        const u64 n = r.between(5, 9);

        ASSERT_GE(n, 5u);
        ASSERT_LE(n, 9u);
        first |= n == 5;
        last |= n == 9;
        EXPECT_EQ(r.below(1), 0u);
    }
    EXPECT_TRUE(first);
    EXPECT_TRUE(last);
    r.between(0, ~u64{0});
    EXPECT_EQ(r.between(7, 7), 7u);
}

TEST(rng, forks_differ_by_label_and_leave_the_parent_alone)
{
    rng a(1);
    const rng b(1);

    EXPECT_NE(b.fork(1).next(), b.fork(2).next());
    EXPECT_NE(b.fork(0).next(), rng(1).next());
    EXPECT_NE(rng(0).fork(1).next(), rng(1).fork(0).next());
    EXPECT_EQ(a.next(), rng(1).next());
}

TEST(rng, shuffle_is_pinned_and_a_permutation)
{
    std::vector<int> v = {0, 1, 2, 3, 4, 5, 6, 7};

    rng(42).shuffle(v);
    EXPECT_EQ(v, (std::vector<int>{4, 3, 2, 0, 7, 6, 1, 5}));
    std::vector<int> empty;

    rng(42).shuffle(empty);
}

} // namespace
} // namespace vramlab
