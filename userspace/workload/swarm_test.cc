// SPDX-License-Identifier: MIT
// Are random workloads well-formed, repeatable, and rich enough to be worth running?
#include "workload/checker.h"
#include "workload/swarm.h"
#include "workload/writer.h"

#include <gtest/gtest.h>
#include <map>

namespace vramlab::workload {
namespace {

void expect_well_formed(const swarm_options &options, u64 seeds)
{
    for (u64 seed = 1; seed <= seeds; seed++) {
        const workload w = make_swarm(seed, options);
        const defect system = check_system(w.system);
        ASSERT_FALSE(system) << "seed " << seed << ": " << system.problem;
        checker c;
        c.reset(w.system, w.order);
        for (const operation &op : w.operations) {
            const defect d = c.take(op);
            ASSERT_FALSE(d) << "seed " << seed << ", line " << op.line << ": " << d.problem << ", expected "
                            << d.expected;
        }
        const defect d = c.finish();
        ASSERT_FALSE(d) << "seed " << seed << ": " << d.problem;
    }
}

TEST(swarm, passes_the_checker)
{
    expect_well_formed({}, 500);
    swarm_options crowded;
    crowded.crowded = true;
    expect_well_formed(crowded, 200);
}

TEST(swarm, same_seed_same_workload)
{
    for (u64 seed : {1, 2, 77}) {
        EXPECT_EQ(write_string(make_swarm(seed)), write_string(make_swarm(seed)));
        EXPECT_NE(write_string(make_swarm(seed)), write_string(make_swarm(seed + 1)));
    }
}

TEST(swarm, every_operation_comes_up)
{
    std::map<request_kind, u32> requests;
    std::map<op_kind, u32> operations;
    for (u64 seed = 1; seed <= 50; seed++)
        for (const operation &op : make_swarm(seed).operations) {
            operations[op.kind]++;
            if (op.kind == op_kind::request || op.kind == op_kind::begin)
                requests[op.req.kind]++;
        }
    for (u8 k = 0; k <= static_cast<u8>(request_kind::unpin); k++)
        EXPECT_GT(requests[static_cast<request_kind>(k)], 0u) << static_cast<int>(k);
    for (op_kind k : {op_kind::begin, op_kind::step, op_kind::finish, op_kind::run, op_kind::advance,
                      op_kind::evict_all, op_kind::swapout, op_kind::set_limits})
        EXPECT_GT(operations[k], 0u) << static_cast<int>(k);
}

} // namespace
} // namespace vramlab::workload
