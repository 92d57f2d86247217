// SPDX-License-Identifier: MIT
// Does the fit find scalars that data were made with, and say so when no scalars make them?
#include "calibration/fit.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <thread>
#include <vector>

using namespace vramlab;
using namespace vramlab::calibration;

namespace {

// Compute time, and a link that is slower the more is touched; the second datum has more of it outside.
double frames(std::size_t datum, const scalars &at)
{
    const double compute_ms = static_cast<double>(at[0]) / 1e6;
    const double touched = static_cast<double>(at[1]) / 1000;
    return compute_ms + touched * (datum ? 26 : 11) + touched * touched;
}

fit_problem problem_of(two_data wanted)
{
    return {{0, 0}, {40'000'000, 1000}, wanted, 0.05};
}

fit_problem planted(const scalars &truth)
{
    return problem_of({frames(0, truth), frames(1, truth)});
}

void expect_found(const scalars &truth, const fit_result &r)
{
    EXPECT_TRUE(r.reached);
    EXPECT_NEAR(static_cast<double>(r.best.at[0]), static_cast<double>(truth[0]), 0.1e6);
    EXPECT_NEAR(static_cast<double>(r.best.at[1]), static_cast<double>(truth[1]), 6);
}

} // namespace

TEST(fit, finds_planted_scalars)
{
    for (const scalars &truth : {scalars{5'300'000, 417}, scalars{1'000'000, 3}, scalars{33'000'000, 998},
                                 scalars{0, 0}, scalars{40'000'000, 1000}, scalars{0, 640}})
        expect_found(truth, fit(planted(truth), frames));
}

TEST(fit, data_below_what_the_model_can_do_are_not_reached)
{
    // With nothing to compute the first datum is already above when the second is reached.
    const fit_result r = fit(problem_of({5, 20}), frames);
    EXPECT_FALSE(r.reached);
    EXPECT_EQ(r.best.at[0], 0u);
    // The least misfit of all touched shares, to the resolution of one per mille.
    double least = 1e9;
    for (u64 touched = 0; touched <= 1000; touched++) {
        const double first = frames(0, {0, touched}) - 5;
        const double second = frames(1, {0, touched}) - 20;
        least = std::min(least, first * first + second * second);
    }
    EXPECT_NEAR(r.best.misfit, least, 0.02);
}

TEST(fit, data_further_apart_than_the_model_can_do_are_not_reached)
{
    const fit_result r = fit(problem_of({10, 35}), frames); // 15 ms apart at most
    EXPECT_FALSE(r.reached);
    EXPECT_EQ(r.best.at[1], 1000u);
    // What is missing is shared between both.
    EXPECT_NEAR(r.best.got[0] - 10, 5, 0.2);
    EXPECT_NEAR(r.best.got[1] - 35, -5, 0.2);
}

TEST(fit, data_in_the_wrong_order_are_not_reached)
{
    const fit_result r = fit(problem_of({20, 10}), frames);
    EXPECT_FALSE(r.reached);
    EXPECT_EQ(r.best.at[1], 0u);
}

TEST(fit, a_model_with_steps_and_noise)
{
    const model_fn rough = [](std::size_t datum, const scalars &at) {
        const double noise = static_cast<double>((at[0] / 7 + at[1] * 31) % 17) / 17 * 0.02;
        return std::round(frames(datum, at) * 50) / 50 + noise;
    };
    const scalars truth{8'000'000, 300};
    fit_problem p = planted(truth);
    p.close_enough = 0.1;
    const fit_result r = fit(p, rough);
    EXPECT_TRUE(r.reached);
    EXPECT_NEAR(static_cast<double>(r.best.at[0]), 8e6, 0.3e6);
    EXPECT_NEAR(static_cast<double>(r.best.at[1]), 300, 15);
}

TEST(fit, does_not_depend_on_threads)
{
    const for_all_fn threads = [](std::size_t count, const std::function<void(std::size_t)> &work) {
        std::vector<std::jthread> all;
        for (std::size_t i = count; i-- > 0;)
            all.emplace_back([&work, i] { work(i); });
    };
    for (const two_data wanted : {two_data{12, 20}, two_data{5, 20}}) {
        const fit_result a = fit(problem_of(wanted), frames);
        const fit_result b = fit(problem_of(wanted), frames, threads);
        EXPECT_EQ(a.best.at, b.best.at);
        EXPECT_EQ(a.best.got, b.best.got);
        EXPECT_EQ(a.runs, b.runs);
    }
}

TEST(fit, counts_its_runs)
{
    std::atomic<std::size_t> n = 0;
    const model_fn counted = [&](std::size_t datum, const scalars &at) {
        n++;
        return frames(datum, at);
    };
    const fit_result r = fit(planted({5'300'000, 417}), counted);
    EXPECT_EQ(r.runs, n);
    EXPECT_LT(r.runs, 300u);
}
