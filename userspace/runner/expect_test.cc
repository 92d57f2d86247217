// SPDX-License-Identifier: MIT
// Are expectations judged by what the run shows, and unknown metrics refused before anything runs?
#include "runner/expect.h"

#include "runner/executor.h"

#include <gtest/gtest.h>

namespace vramlab::runner {
namespace {

workload::workload with(workload::expectation e)
{
    workload::workload w;
    w.system.processes = {{1, "game", ""}};
    w.expectations = {std::move(e)};
    return w;
}

report::metrics ran_for(u64 ns)
{
    report::metrics m({{1, "game", ""}});
    m.finish(ns);
    return m;
}

TEST(Expect, Relations)
{
    const report::metrics m = ran_for(5 * ns_per_ms);
    auto pass = [&](const char *relation, double bound) {
        const workload::workload w = with({"run_time_ms", "", relation, bound, "", "", 0});
        return evaluate(w, m)[0].pass;
    };
    EXPECT_TRUE(pass("==", 5));
    EXPECT_TRUE(pass("<=", 5));
    EXPECT_TRUE(pass(">=", 5));
    EXPECT_TRUE(pass("<", 6));
    EXPECT_TRUE(pass(">", 4));
    EXPECT_TRUE(pass("!=", 4));
    EXPECT_FALSE(pass("<", 5));
    EXPECT_FALSE(pass(">", 5));
    EXPECT_FALSE(pass("!=", 5));
    EXPECT_FALSE(pass("==", 4));
}

TEST(Expect, UnknownMetricIsRefusedWithItsLine)
{
    for (const auto &e : {workload::expectation{"fps", "", "==", 1, "", "", 7},
                          workload::expectation{"copy_busy_share", "game", "<", 1, "", "", 7}}) {
        try {
            check_expectations(with(e));
            FAIL();
        } catch (const workload_error &error) {
            EXPECT_EQ(error.line(), 7u);
            EXPECT_NE(std::string(error.what()).find("Documentation/metrics.rst"), std::string::npos);
        }
    }
    EXPECT_NO_THROW(check_expectations(with({"failed_submissions_enomem", "game", "==", 0, "", "", 1})));
}

TEST(Expect, FailsOnIsAList)
{
    workload::expectation e;
    e.fails_on = "no-migration, all-gtt";
    EXPECT_TRUE(fails_on(e, "no-migration"));
    EXPECT_TRUE(fails_on(e, "all-gtt"));
    EXPECT_FALSE(fails_on(e, "all"));
    EXPECT_FALSE(fails_on(e, ""));
}

TEST(Expect, VerdictLine)
{
    const report::metrics m = ran_for(5 * ns_per_ms);
    const workload::workload w = with({"run_time_ms", "", "<", 5, "mainline-7.3.4", "it must be short", 0});
    EXPECT_EQ(print_verdicts(evaluate(w, m), report::painter(false)),
              "FAIL  run_time_ms < 5: 5  [it must be short]  (known to fail on mainline-7.3.4)\n");
}

} // namespace
} // namespace vramlab::runner
