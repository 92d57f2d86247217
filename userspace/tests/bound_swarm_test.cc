// SPDX-License-Identifier: MIT
// Does any run on the model stay below what no policy can? Then the bound is wrong, or the run.
#include "backend/sim_backend.h"
#include "driver/policy.h"
#include "runner/experiment.h"
#include "workload/scenario.h"
#include "workload/swarm.h"

#include <gtest/gtest.h>

namespace vramlab::tests {
namespace {

runner::experiment run_bounded(const workload::workload &w, const std::string &policy)
{
    backend::sim_backend model(driver::make_policy(policy, 1));
    return runner::run_experiment(w, model, {.bounds = true});
}

void expect_above_bounds(const runner::experiment &x, const std::string &what)
{
    for (const runner::invariant_failure &f : x.run.failures)
        ADD_FAILURE() << what << ": " << f.invariant << ": " << f.message;
    if (!x.bounds)
        return;
    if (const auto &upper = x.bounds->link.upper_bytes)
        EXPECT_LE(x.bounds->link.lower_bytes, *upper) << what;
    if (x.bounds->stall && x.bounds->stall->upper_ns)
        EXPECT_LE(x.bounds->stall->lower_ns, *x.bounds->stall->upper_ns) << what;
}

class bounds : public testing::TestWithParam<const char *> {};

TEST_P(bounds, of_random_workloads)
{
    u32 bounded = 0, link = 0, stall = 0;
    for (u64 seed = 1; seed <= 150; seed++) {
        workload::workload w = workload::make_swarm(seed);
        for (const bool overlap : {true, false}) {
            w.system.device.overlap = overlap;
            const runner::experiment x = run_bounded(w, GetParam());
            expect_above_bounds(x, "seed " + std::to_string(seed) + (overlap ? ", overlapping" : ""));
            if (overlap)
                continue; // each workload is counted once
            bounded += x.bounds.has_value();
            link += x.bounds && x.bounds->link.lower_bytes;
            stall += x.bounds && x.bounds->stall && x.bounds->stall->lower_ns;
        }
    }
    // Enough of them ask something.
    EXPECT_GT(bounded, 90u);
    EXPECT_GT(link, 60u);
    EXPECT_GT(stall, 10u);
}

TEST_P(bounds, of_shipped_scenarios)
{
    for (const char *name :
         {"field-a5", "field-c1", "field-e1", "field-e2", "priorities", "scanout-returns"}) {
        const std::string file = std::string(VRAMLAB_SCENARIO_DIR) + "/" + name + ".toml";
        const runner::experiment x = run_bounded(workload::load(file), GetParam());
        expect_above_bounds(x, name);
        EXPECT_TRUE(x.bounds) << name;
    }
}

INSTANTIATE_TEST_SUITE_P(policies, bounds,
                         testing::Values("mainline-7.3.4", "patched", "random-victim", "all-gtt"),
                         [](const auto &p) {
                             std::string name = p.param;
                             for (char &c : name)
                                 c = std::isalnum(static_cast<unsigned char>(c)) ? c : '_';
                             return name;
                         });

} // namespace
} // namespace vramlab::tests
