// SPDX-License-Identifier: MIT
// The device that a workload runs on. Same fields as struct drm_vttm_lab_config of the kernel driver.
#pragma once

#include "base/types.h"

namespace vramlab {

struct device_config {
    u64 vram_size_bytes = 512 * MiB; // multiple of 4096, not zero
    u64 gtt_size_bytes = 1024 * MiB; // multiple of 4096, not zero
    u64 vram_bandwidth = 256 * GiB;  // bytes a second
    u64 link_bandwidth = 16 * GiB;   // bytes a second, in one direction
    u64 copy_latency_ns = 5000;      // fixed part of a copy or fill
    u32 log2_max_mbps = 3;           // move budget, log2 of MiB a second; amdgpu's default is 3
    bool overlap = false;            // a job computes and reads VRAM and the link at the same time

    friend bool operator==(const device_config &, const device_config &) = default;
};

} // namespace vramlab
