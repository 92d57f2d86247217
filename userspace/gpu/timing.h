// SPDX-License-Identifier: MIT
// What the device needs time for: the cost model of Documentation/semantics.rst, "Jobs, engines, time". All
// integer; products are 128 bits wide, each quotient is rounded up, results that do not fit are clamped to
// duration_max_ns.
//
// Models: bandwidth of video memory, of each direction of the link, fixed latency of a copy.
// Omits: sharing of video memory's bandwidth between engines, caches (a touch's bytes are those after
// caches), clocks. How the link is shared: gpu/link.h.
#pragma once

#include "base/device_config.h"
#include "gpu/link.h"

namespace vramlab::gpu {

// About 36 years: far from u64's end, so that sums of a few do not wrap.
inline constexpr u64 duration_max_ns = u64{1} << 60;

// What a job takes of its engine and of the link. It lasts fixed_ns and as long as its transfer does.
struct job_time {
    u64 fixed_ns = 0;
    u64 link_ns = 0; // if nobody else transfers in that direction; 0: no transfer
    link_direction direction = link_direction::none;
    bool at_once = false; // the transfer begins with the job, else after the fixed part

    // How long the job takes if it shares the link with nobody.
    u64 alone_ns() const;
};

// ceil(bytes * 10^9 / bandwidth), bandwidth in bytes a second, not zero.
u64 transfer_ns(u64 bytes, u64 bandwidth);

// A job that touches vram_bytes in VRAM and link_bytes across the link. The sum of compute, VRAM's and the
// link's time goes to *sum_ns: duration_max_ns or more if it does not fit, and then there is no such job.
job_time time_of_job(const device_config &d, u64 compute_ns, u64 vram_bytes, u64 link_bytes, u64 *sum_ns);
// A copy between VRAM and GTT, into VRAM or out of it.
job_time time_of_link_copy(const device_config &d, u64 size_bytes, link_direction direction);
// A copy within VRAM: each byte is read and written there.
job_time time_of_vram_copy(const device_config &d, u64 size_bytes);
job_time time_of_fill(const device_config &d, u64 size_bytes);

} // namespace vramlab::gpu
