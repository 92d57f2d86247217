// SPDX-License-Identifier: MIT
// Walks of LRU lists take shortcuts when nobody hears of what they pass. Do they still choose the same?
#include "backend/sim_backend.h"
#include "driver/policy.h"
#include "events/event.h"
#include "runner/executor.h"
#include "workload/swarm.h"

#include <gtest/gtest.h>

namespace vramlab::tests {
namespace {

class counting_sink final : public events::event_sink {
public:
    explicit counting_sink(bool skipped) : skipped_(skipped) {}
    void record(const events::event &e) override
    {
        passed += e.type == events::event_type::evict_skipped;
        evictions += e.type == events::event_type::evict_begin;
    }
    bool wants_skipped() const override { return skipped_; }
    u64 passed = 0;
    u64 evictions = 0;

private:
    bool skipped_;
};

// The state after each operation, and at last the results.
std::vector<std::string> states(const workload::workload &w, const std::string &policy,
                                events::event_sink *sink)
{
    backend::sim_backend model(driver::make_policy(policy));
    std::vector<std::string> out;
    runner::executor_options o;
    o.sink = sink;
    o.after_operation = [&](const runner::operation_report &r) {
        out.push_back(r.backend.state());
        return true;
    };
    const runner::run_result run = runner::execute(w, model, o);
    for (const runner::op_result &r : run.results)
        out.push_back(std::to_string(r.r.error) + ' ' + std::to_string(r.r.seqno));
    return out;
}

class shortcuts : public testing::TestWithParam<const char *> {};

TEST_P(shortcuts, choose_what_a_walk_that_is_heard_chooses)
{
    u64 passed = 0, evictions = 0;
    for (u64 seed = 1; seed <= 60; seed++) {
        // Every third has more BOs, so that lists are longer.
        const workload::workload w =
            workload::make_swarm(seed, seed % 3 ? workload::swarm_options{}
                                                : workload::swarm_options{.operations = 400, .bos_max = 300});
        counting_sink everything(true), without(false);
        const std::vector<std::string> heard = states(w, GetParam(), &everything);
        ASSERT_EQ(states(w, GetParam(), &without), heard) << "seed " << seed;
        ASSERT_EQ(states(w, GetParam(), nullptr), heard) << "seed " << seed;
        EXPECT_EQ(without.passed, 0u);
        EXPECT_EQ(without.evictions, everything.evictions);
        passed += everything.passed;
        evictions += everything.evictions;
    }
    EXPECT_GT(passed, 300u);
    EXPECT_GT(evictions, 300u);
}

INSTANTIATE_TEST_SUITE_P(policies, shortcuts, testing::Values("mainline-7.3.4", "retry", "patched"),
                         [](const auto &p) {
                             return std::string(p.param).substr(0, std::string(p.param).find('-'));
                         });

} // namespace
} // namespace vramlab::tests
