// SPDX-License-Identifier: MIT
#include "runner/pointer_chase.h"

#include "backend/sim_backend.h"
#include "runner/experiment.h"
#include "workload/checker.h"

#include <gtest/gtest.h>

using namespace vramlab;

namespace {

cache_config some_card()
{
    return {.l2_size_bytes = 6 * MiB,
            .memory_side_size_bytes = 96 * MiB,
            .l2_cycles = 200,
            .memory_side_cycles = 329,
            .vram_cycles = 522,
            .link_cycles = 2400,
            .clock_mhz = 2500};
}

double cycles(const cache_config &c, u64 size_bytes, u32 domain)
{
    const workload::workload w = runner::chase_workload(c, size_bytes, domain);
    backend::sim_backend b;
    const runner::experiment x = runner::run_experiment(w, b);
    EXPECT_TRUE(x.good());
    EXPECT_EQ(x.metrics.of(0).failed_operations_total(), 0u);
    return static_cast<double>(runner::chase_millicycles(c, x.metrics.of(0).gfx_busy_ns)) / 1000;
}

// A buffer that fits into the L2 is as fast wherever it is.
TEST(pointer_chase, what_the_l2_holds_is_as_fast_everywhere)
{
    for (const u64 size : {4 * KiB, 1 * MiB, 6 * MiB})
        for (const u32 domain : {domain_vram, domain_gtt})
            EXPECT_NEAR(cycles(some_card(), size, domain), 200, 0.01);
}

// The knee is where the L2 ends, whatever its size.
TEST(pointer_chase, the_knee_moves_with_the_l2)
{
    for (const u64 l2 : {2 * MiB, 6 * MiB, 24 * MiB}) {
        cache_config c = some_card();
        c.l2_size_bytes = l2;
        for (const u32 domain : {domain_vram, domain_gtt}) {
            EXPECT_NEAR(cycles(c, l2, domain), 200, 0.01);
            EXPECT_GT(cycles(c, l2 + l2 / 8, domain), 210);
        }
        // Half of the reads miss.
        EXPECT_NEAR(cycles(c, 2 * l2, domain_gtt), (200 + 2400) / 2.0, 0.01);
    }
}

// In front of VRAM only: one in front of system memory would be a cache that serves what it shouldn't.
TEST(pointer_chase, system_memory_is_indifferent_to_the_memory_side_cache)
{
    for (const u64 memory_side : {u64{0}, 32 * MiB, 96 * MiB, 1 * GiB}) {
        cache_config c = some_card();
        c.memory_side_size_bytes = memory_side;
        for (const u64 size : {8 * MiB, 64 * MiB, 512 * MiB})
            EXPECT_EQ(cycles(c, size, domain_gtt), cycles(some_card(), size, domain_gtt));
    }
    cache_config without = some_card();
    without.memory_side_size_bytes = 0;
    EXPECT_GT(cycles(without, 64 * MiB, domain_vram), cycles(some_card(), 64 * MiB, domain_vram) + 100);
}

TEST(pointer_chase, far_beyond_all_caches_reads_cost_what_the_memory_does)
{
    EXPECT_NEAR(cycles(some_card(), 4 * GiB, domain_gtt), 2400, 2400 * 0.002);
    EXPECT_NEAR(cycles(some_card(), 4 * GiB, domain_vram), 522, 522 * 0.02);
}

TEST(pointer_chase, is_a_workload_like_any_other)
{
    const workload::workload w = runner::chase_workload(some_card(), 4 * GiB, domain_gtt);
    EXPECT_FALSE(workload::check_system(w.system)) << workload::check_system(w.system).problem;
    workload::checker c;
    c.reset(w.system, w.order);
    for (const workload::operation &op : w.operations) {
        const workload::defect d = c.take(op);
        EXPECT_FALSE(d) << d.problem;
    }
}

} // namespace
