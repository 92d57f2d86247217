// SPDX-License-Identifier: MIT
// How long the device takes: the cost model of Documentation/semantics.rst, "Jobs, engines, time". All
// integer; products are 128 bits wide, each quotient is rounded up, results that do not fit are clamped to
// duration_max_ns.
//
// Models: bandwidth of video memory and of one direction of the link, fixed latency of a copy.
// Omits: sharing of the link between copies and remote reads, caches (a touch's bytes are those after
// caches), clocks.
#pragma once

#include "base/device_config.h"

namespace vramlab::gpu {

// About 36 years: far from u64's end, so that sums of a few do not wrap.
inline constexpr u64 duration_max_ns = u64{1} << 60;

// ceil(bytes * 10^9 / bandwidth), bandwidth in bytes a second, not zero.
u64 transfer_ns(u64 bytes, u64 bandwidth);

// A job that touches vram_bytes in VRAM and link_bytes across the link; duration_max_ns or more if it does
// not fit.
u64 job_duration_ns(const device_config &d, u64 compute_ns, u64 vram_bytes, u64 link_bytes);
// A copy between VRAM and GTT, either way.
u64 link_copy_duration_ns(const device_config &d, u64 size_bytes);
// A copy within VRAM: each byte is read and written there.
u64 vram_copy_duration_ns(const device_config &d, u64 size_bytes);
u64 fill_duration_ns(const device_config &d, u64 size_bytes);

} // namespace vramlab::gpu
