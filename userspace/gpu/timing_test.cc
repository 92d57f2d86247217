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
    EXPECT_EQ(gpu::job_duration_ns(d, 5, 1, 1), 7u);
}

TEST(timing, copies_and_fills)
{
    EXPECT_EQ(gpu::link_copy_duration_ns(config(), 4096), 7u + 13'653'333'334u);
    EXPECT_EQ(gpu::vram_copy_duration_ns(config(), 4096), 7u + 8'192'000'000u);
    EXPECT_EQ(gpu::fill_duration_ns(config(), 4096), 7u + 4'096'000'000u);
}

// 512 MiB over 16 GiB/s: 64-bit products would overflow.
TEST(timing, products_are_wide)
{
    device_config d;
    EXPECT_EQ(gpu::link_copy_duration_ns(d, 32 * GiB), 5000u + 2 * ns_per_s);
    EXPECT_EQ(gpu::fill_duration_ns(d, 512 * GiB), 5000u + 2 * ns_per_s);
    EXPECT_EQ(gpu::transfer_ns(~u64{0}, ~u64{0}), ns_per_s);
    EXPECT_EQ(gpu::transfer_ns(~u64{0}, 1), gpu::duration_max_ns);
    EXPECT_GE(gpu::job_duration_ns(d, ~u64{0}, 0, 0), gpu::duration_max_ns);
}

} // namespace
