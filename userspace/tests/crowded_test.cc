// SPDX-License-Identifier: MIT
// Are crowded random workloads what they are for: do allocations meet locks of others, and give up?
#include "backend/sim_backend.h"
#include "driver/policy.h"
#include "events/event.h"
#include "runner/executor.h"
#include "workload/swarm.h"

#include <gtest/gtest.h>

namespace vramlab::tests {
namespace {

class backoff_sink final : public events::event_sink {
public:
    void record(const events::event &e) override { backoffs += e.type == events::event_type::alloc_backoff; }
    u64 backoffs = 0;
};

TEST(crowded, allocations_start_over_with_the_retry)
{
    u64 found = 0;
    for (u64 seed = 1; seed <= 40; seed++) {
        backend::sim_backend model(driver::make_policy("retry"));
        backoff_sink sink;
        runner::executor_options o;
        o.sink = &sink;
        runner::execute(workload::make_swarm(seed, {.crowded = true}), model, o);
        found += sink.backoffs > 0;
    }
    EXPECT_GE(found, 10u);
}

} // namespace
} // namespace vramlab::tests
