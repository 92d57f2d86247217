// SPDX-License-Identifier: MIT
// What a workload may not exceed. The limits keep sums of sizes and times inside 64 bits and memory inside a
// machine; Documentation/workload-format.rst repeats them.
#pragma once

#include "base/types.h"

namespace vramlab::workload {

inline constexpr u32 format_version = 1;

inline constexpr u64 page_bytes = 4096;
inline constexpr u64 size_max_bytes = u64{1} << 44;   // of a BO, VRAM, GTT, or all that one touch set touches
inline constexpr u64 bandwidth_min = u64{1} << 20;    // bytes a second
inline constexpr u64 bandwidth_max = u64{1} << 50;    // bytes a second
inline constexpr u64 cpu_max_ns = 60 * ns_per_s;      // of a submission
inline constexpr u64 copy_latency_max_ns = ns_per_s;  // fixed part of a copy
inline constexpr u32 log2_max_mbps_max = 31;          // shift of the move budget
inline constexpr u64 compute_max_ns = u64{1} << 44;   // of one submission: 4.9 hours
inline constexpr u64 time_max_ns = u64{1} << 60;      // of an absolute time: 36 years
inline constexpr u64 total_job_max_ns = u64{1} << 62; // sum of the longest that all jobs can take
inline constexpr u32 process_max = 4096;              // processes
inline constexpr u32 cgroup_max = 4096;               // cgroups
inline constexpr u32 cgroup_depth_max = 32;           // components of a path
inline constexpr u32 vm_max = 65536;                  // VMs ever opened
inline constexpr u32 bo_max = u32{1} << 24;           // BOs ever created
inline constexpr u32 list_max = u32{1} << 20; // BOs in a list, touches in a touch set (DRM_VTTM_SUBMIT_MAX)
inline constexpr u32 id_max = u32{1} << 20;   // number of a list or touch set
inline constexpr u64 operation_max = 100'000'000;        // operations
inline constexpr u32 expectation_max = 4096;             // expectations
inline constexpr std::size_t name_max_bytes = 128;       // a name, a path component
inline constexpr std::size_t text_max_bytes = 64 * KiB;  // a description or source
inline constexpr std::size_t line_max_bytes = 128 * MiB; // a line of the file
inline constexpr std::size_t scenario_max_bytes = MiB;   // a scenario file

} // namespace vramlab::workload
