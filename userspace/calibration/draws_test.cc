// SPDX-License-Identifier: MIT
// Are draws what they say, and is a ranking judged by who changed places?
#include "calibration/draws.h"

#include <gtest/gtest.h>

#include <set>

using namespace vramlab;
using namespace vramlab::calibration;

namespace {

plan two_priors()
{
    plan p;
    p.priors.push_back({.name = "a", .paths = {"a"}, .unit = quantity::count, .value = 1000, .source = ""});
    p.priors.push_back(
        {.name = "fixed", .paths = {"b"}, .unit = quantity::count, .value = 77, .vary = false, .source = ""});
    p.priors.push_back(
        {.name = "high", .paths = {"c"}, .unit = quantity::per_mille, .value = 900, .source = ""});
    p.priors.push_back(
        {.name = "least", .paths = {"d"}, .unit = quantity::count, .value = 3, .first = 2, .source = ""});
    p.draws.links = {10, 20};
    p.draws.spread_per_mille = 500;
    return p;
}

} // namespace

TEST(draws, fill_the_spread_and_no_more)
{
    const plan p = two_priors();
    std::set<u64> seen;
    u32 clamped = 0;
    u32 at_limit = 0;
    for (u64 i = 0; i < 400; i++) {
        const drawn d = draw_priors(p, 1, i);
        ASSERT_EQ(d.priors.size(), 4u);
        EXPECT_GE(d.priors[0], 500u);
        EXPECT_LE(d.priors[0], 1500u);
        EXPECT_EQ(d.priors[1], 77u);
        EXPECT_LE(d.priors[2], 1000u);
        EXPECT_GE(d.priors[3], 2u);
        EXPECT_EQ(d.link, i % 2 ? 20u : 10u);
        at_limit += d.priors[2] == 1000;
        clamped += d.clamped;
        seen.insert(d.priors[0]);
    }
    EXPECT_LT(*seen.begin(), 520u);
    EXPECT_GT(*seen.rbegin(), 1480u);
    EXPECT_GT(clamped, 100u); // 900 per mille leaves the range in 39 % of draws
    EXPECT_GE(clamped, at_limit - 1);
}

TEST(draws, are_the_same_each_time_and_independent_of_other_priors)
{
    plan p = two_priors();
    const drawn before = draw_priors(p, 1, 7);
    EXPECT_EQ(before.priors, draw_priors(p, 1, 7).priors);
    EXPECT_NE(before.priors, draw_priors(p, 2, 7).priors);
    EXPECT_NE(before.priors, draw_priors(p, 1, 8).priors);
    p.priors[0].vary = false;
    EXPECT_EQ(before.priors[2], draw_priors(p, 1, 7).priors[2]);
}

TEST(ranking, smallest_first)
{
    EXPECT_EQ(ranking_of({3, 1, 2, 1}), (std::vector<std::size_t>{1, 3, 2, 0}));
}

TEST(ranking, counts_draws_in_which_a_pair_changes_places)
{
    const ranking_verdict v =
        judge_ranking({10, 20, 30}, {{10, 20, 30}, {10, 31, 30}, {25, 20, 30}, {1, 2, 1}}, 20);
    EXPECT_EQ(v.draws, 4u);
    EXPECT_EQ(v.holds, 1u);
    ASSERT_EQ(v.pairs.size(), 3u);
    EXPECT_EQ(v.pairs[0].reversed, 1u); // 0 before 1
    EXPECT_EQ(v.pairs[1].reversed, 0u); // 0 before 2
    EXPECT_EQ(v.pairs[2].reversed, 2u); // 1 before 2
}

TEST(ranking, what_is_equal_at_the_fit_says_nothing_and_small_differences_are_none)
{
    const ranking_verdict v =
        judge_ranking({10, 10.1, 20}, {{11, 10, 20}, {20.3, 10, 20}, {20.5, 10, 20}}, 20);
    EXPECT_EQ(v.pairs.size(), 2u);
    EXPECT_EQ(v.holds, 2u); // 20.3 is within 2 % of 20
}
