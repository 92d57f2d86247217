// SPDX-License-Identifier: MIT
// Does calibration find scalars that the model itself was run with, and say so when no scalars make the data?
#include "backend/sim_backend.h"
#include "calibration/flip_evictions.h"
#include "calibration/predict.h"
#include "driver/policy.h"
#include "runner/experiment.h"
#include "workload/parse_error.h"
#include "workload/scenario.h"

#include <gtest/gtest.h>

using namespace vramlab;
using namespace vramlab::calibration;

namespace {

const std::string scenario_dir = VRAMLAB_SOURCE_DIR "/scenarios/";
const std::string plan_dir = VRAMLAB_SOURCE_DIR "/calibration/";

observation run_model(const run_request &r)
{
    std::vector<workload::setting> settings;
    for (const std::string &text : r.settings)
        if (!text.starts_with("ttm."))
            settings.push_back(workload::parse_setting(text));
    const workload::workload w = workload::load(scenario_dir + r.scenario + ".toml", settings);
    backend::sim_backend b(driver::make_policy(r.policy, r.seed));
    flip_evictions flips;
    runner::experiment_options options;
    options.sinks = {&flips};
    runner::experiment x = runner::run_experiment(w, b, options);
    EXPECT_TRUE(x.run.failures.empty());
    return {std::move(x.metrics), flips.most_bytes(), w.system.device.link_bandwidth};
}

class game : public testing::Test {
protected:
    game() : plan_(read_plan(plan_dir + "game.toml")), scene_(plan_, scenario_dir + "game-9-on-8.toml", small)
    {
    }

    double average(std::size_t datum, const scalars &at) const
    {
        const struct datum &d = plan_.data[datum];
        return scene_.value(run_model(scene_.request(d.demand_bytes, at)), d.metric);
    }
    fit_result fit_to(const two_data &wanted) const
    {
        fit_problem p{
            {plan_.fit[0].first, plan_.fit[1].first}, {plan_.fit[0].last, plan_.fit[1].last}, wanted, 0.05};
        return fit(p, [&](std::size_t datum, const scalars &at) { return average(datum, at); });
    }
    double outside_at(u64 demand_bytes) const
    {
        return scene_.value(run_model(scene_.request(demand_bytes, {9'000'000, 300})), "outside_bytes_end");
    }

    // Few BOs, and half a second of the game.
    const std::vector<std::string> small{
        "scale=16", "duration=1500ms", "process.game.group.streaming.size.min=16MiB",
        "process.game.group.geometry.size.min=8MiB", "process.gamescope.group.surfaces.size.min=8MiB"};
    plan plan_;
    scene scene_;
};

} // namespace

TEST_F(game, finds_the_scalars_that_the_model_was_run_with)
{
    const scalars truth{9'000'000, 400};
    const fit_result r = fit_to({average(0, truth), average(1, truth)});
    EXPECT_TRUE(r.reached);
    EXPECT_NEAR(static_cast<double>(r.best.at[0]), 9e6, 1e6);
    EXPECT_NEAR(static_cast<double>(r.best.at[1]), 400, 40);
}

TEST_F(game, says_when_no_scalars_make_the_data)
{
    EXPECT_FALSE(fit_to({10, 200}).reached); // 1 GiB more cannot cost so much
    EXPECT_FALSE(fit_to({3, 4}).reached);    // the game draws no more than 120 frames a second
}

TEST_F(game, the_demand_is_what_is_asked_for)
{
    for (const u64 demand : {9 * GiB, 10 * GiB}) {
        const observation o = run_model(scene_.request(demand, {9'000'000, 300}));
        const double all = scene_.value(o, "outside_bytes_end") + scene_.value(o, "vram_bytes_end");
        EXPECT_NEAR(all / GiB, static_cast<double>(demand) / GiB, 0.01);
    }
    EXPECT_GT(outside_at(10 * GiB), outside_at(9 * GiB) + 0.8 * GiB);
}

TEST_F(game, less_than_the_other_groups_hold_is_refused)
{
    EXPECT_THROW(scene_.request(GiB, {0, 0}), workload::parse_error);
}

// A prediction of what is known: right where it should be, and wrong where it should be.
TEST_F(game, predictions_are_right_or_wrong)
{
    prediction p;
    p.measure = measure_kind::metric;
    p.metric = "frame_time_avg_ms";
    p.demands_bytes = {9 * GiB};
    p.unit = "ms";
    const scalars at{9'000'000, 300};
    const double known = average(0, at);
    p.first = known - 0.1;
    p.last = known + 0.1;
    const outcome right = predict(scene_, p, at, run_model);
    EXPECT_TRUE(right.right);
    EXPECT_DOUBLE_EQ(right.value, known);
    p.first = known + 0.05;
    EXPECT_FALSE(predict(scene_, p, at, run_model).right);

    p.measure = measure_kind::frames_over;
    p.limit_ns = 1;
    EXPECT_DOUBLE_EQ(predict(scene_, p, at, run_model).value, 100);
    p.limit_ns = ns_per_s;
    EXPECT_DOUBLE_EQ(predict(scene_, p, at, run_model).value, 0);

    // What is missing is no zero, which might be right.
    const auto run_too_short = [](run_request r) {
        r.settings.push_back("duration=1ms");
        return run_model(r);
    };
    EXPECT_THROW(predict(scene_, p, at, run_too_short), std::runtime_error);
    p.process = "nobody";
    EXPECT_THROW(predict(scene_, p, at, run_model), std::runtime_error);
    p.measure = measure_kind::metric;
    EXPECT_THROW(predict(scene_, p, at, run_model), std::runtime_error);
    p.process = "";

    p.measure = measure_kind::gain;
    p.against = {"process.game.compute=20ms"};
    const double gain = predict(scene_, p, at, run_model).value;
    EXPECT_GT(gain, 50);

    p.measure = measure_kind::curve_step;
    p.demands_bytes = {9 * GiB, 10 * GiB};
    const outcome curve = predict(scene_, p, at, run_model);
    ASSERT_EQ(curve.curve.size(), 2u);
    EXPECT_NEAR(curve.value, average(1, at) - known, 1e-9);
}

TEST_F(game, what_a_flip_evicts_is_counted)
{
    variation v;
    v.policy = "mainline-7.3.4";
    v.more = {"process.gamescope.direct_scanout=false"};
    const observation o = run_model(scene_.request(10 * GiB, {9'000'000, 300}, v));
    EXPECT_GT(o.flip_evicted_max_bytes, 0u);
    EXPECT_EQ(o.flip_evicted_max_bytes % 4096, 0u);
    v.policy = "all-gtt"; // the game is not in VRAM: nothing has to go
    EXPECT_EQ(run_model(scene_.request(10 * GiB, {9'000'000, 300}, v)).flip_evicted_max_bytes, 0u);
}
