// SPDX-License-Identifier: MIT
// What a pointer chase measures on a modelled device: cycles of one read that waits for the one before, by
// the size of the buffer and where it is. A job of such reads goes the way of every other job: a touch, with
// the bytes that are left after caches, on a device as slow as one chain is.
//
// Models: reads spread evenly over the buffer, each cache full of it: a cache of size c serves c / size of
// what reaches it, at most all. Omits: lines, associativity, prefetching, address translation, the first
// round through the buffer.
#pragma once

#include "base/cache_config.h"
#include "workload/workload.h"

namespace vramlab::runner {

inline constexpr u64 chase_reads = 1'000'000; // of a job
inline constexpr u64 chase_size_max_bytes = 4 * GiB;

// One job of chase_reads reads of a buffer in domain_vram or domain_gtt. size_bytes: a multiple of 4096, at
// most chase_size_max_bytes.
workload::workload chase_workload(const cache_config &c, u64 size_bytes, u32 domain);

// Cycles of a read, in thousandths, from the time that the job took.
u64 chase_millicycles(const cache_config &c, u64 job_ns);

} // namespace vramlab::runner
