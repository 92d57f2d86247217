// SPDX-License-Identifier: MIT
#include "gpu/timing.h"

#include <gtest/gtest.h>

using namespace vramlab;

namespace {

device_config config()
{
    device_config d;
    d.vram_bandwidth = 1000;
    d.link_bandwidth = 300;
    d.copy_latency_ns = 7;
    return d;
}

TEST(timing, quotients_are_rounded_up_one_by_one)
{
    EXPECT_EQ(gpu::transfer_ns(0, 300), 0u);
    EXPECT_EQ(gpu::transfer_ns(3, 300), 10'000'000u);
    EXPECT_EQ(gpu::transfer_ns(1, 300), 3'333'334u);
    EXPECT_EQ(gpu::transfer_ns(1, ns_per_s), 1u);
    EXPECT_EQ(gpu::transfer_ns(1, 2 * ns_per_s), 1u); // half a nanosecond
    // 5 + ceil(1/3 s) + ceil(2/1000 s): not the ceiling of the sum
    device_config d = config();
    d.vram_bandwidth = 3 * ns_per_s;
    d.link_bandwidth = 3 * ns_per_s;
    u64 sum_ns = 0;
    EXPECT_EQ(gpu::time_of_job(d, 5, 1, 1, &sum_ns).alone_ns(), 7u);
    EXPECT_EQ(sum_ns, 7u);
}

// One after another, or as long as the longest of the three.
TEST(timing, a_job_may_overlap_what_it_does)
{
    device_config d;
    d.vram_bandwidth = 2 * ns_per_s;
    d.link_bandwidth = ns_per_s;
    u64 sum_ns = 0;
    EXPECT_EQ(gpu::time_of_job(d, 100, 100, 70, &sum_ns).alone_ns(), 220u);
    d.overlap = true;
    EXPECT_EQ(gpu::time_of_job(d, 100, 100, 70, &sum_ns).alone_ns(), 100u);  // computes
    EXPECT_EQ(gpu::time_of_job(d, 100, 400, 70, &sum_ns).alone_ns(), 200u);  // reads VRAM
    EXPECT_EQ(gpu::time_of_job(d, 100, 400, 300, &sum_ns).alone_ns(), 300u); // reads the link
    EXPECT_EQ(sum_ns, 600u);
}

TEST(timing, copies_and_fills)
{
    using gpu::link_direction;
    const gpu::job_time copy = gpu::time_of_link_copy(config(), 4096, link_direction::out);
    EXPECT_EQ(copy.fixed_ns, 7u);
    EXPECT_EQ(copy.link_ns, 13'653'333'334u);
    EXPECT_EQ(copy.alone_ns(), 7u + 13'653'333'334u);
    EXPECT_EQ(copy.direction, link_direction::out);
    EXPECT_EQ(gpu::time_of_link_copy(config(), 4096, link_direction::in).direction, link_direction::in);
    EXPECT_EQ(gpu::time_of_vram_copy(config(), 4096).alone_ns(), 7u + 8'192'000'000u);
    EXPECT_EQ(gpu::time_of_vram_copy(config(), 4096).link_ns, 0u);
    EXPECT_EQ(gpu::time_of_fill(config(), 4096).alone_ns(), 7u + 4'096'000'000u);
}

// A copy has its latency before its transfer even where jobs overlap.
TEST(timing, copies_do_not_overlap)
{
    device_config d = config();
    d.overlap = true;
    EXPECT_FALSE(gpu::time_of_link_copy(d, 4096, gpu::link_direction::in).at_once);
}

// 512 MiB over 16 GiB/s: 64-bit products would overflow.
TEST(timing, products_are_wide)
{
    device_config d;
    u64 sum_ns = 0;
    EXPECT_EQ(gpu::time_of_link_copy(d, 32 * GiB, gpu::link_direction::in).alone_ns(), 5000u + 2 * ns_per_s);
    EXPECT_EQ(gpu::time_of_fill(d, 512 * GiB).alone_ns(), 5000u + 2 * ns_per_s);
    EXPECT_EQ(gpu::transfer_ns(~u64{0}, ~u64{0}), ns_per_s);
    EXPECT_EQ(gpu::transfer_ns(~u64{0}, 1), gpu::duration_max_ns);
    gpu::time_of_job(d, ~u64{0}, 0, 0, &sum_ns);
    EXPECT_GE(sum_ns, gpu::duration_max_ns);
}

} // namespace
