// SPDX-License-Identifier: MIT
#include "gpu/timing.h"

#include <algorithm>

namespace vramlab::gpu {

u64 transfer_ns(u64 bytes, u64 bandwidth)
{
    // 2^64 * 10^9 is below 2^94.
    if (bytes / bandwidth >= duration_max_ns / ns_per_s)
        return duration_max_ns;
    return static_cast<u64>((u128{bytes} * ns_per_s + bandwidth - 1) / bandwidth);
}

u64 job_duration_ns(const device_config &d, u64 compute_ns, u64 vram_bytes, u64 link_bytes)
{
    return std::min(compute_ns, duration_max_ns) + transfer_ns(vram_bytes, d.vram_bandwidth) +
           transfer_ns(link_bytes, d.link_bandwidth);
}

u64 link_copy_duration_ns(const device_config &d, u64 size_bytes)
{
    return std::min(d.copy_latency_ns + transfer_ns(size_bytes, d.link_bandwidth), duration_max_ns);
}

u64 vram_copy_duration_ns(const device_config &d, u64 size_bytes)
{
    return std::min(d.copy_latency_ns + transfer_ns(2 * size_bytes, d.vram_bandwidth), duration_max_ns);
}

u64 fill_duration_ns(const device_config &d, u64 size_bytes)
{
    return std::min(d.copy_latency_ns + transfer_ns(size_bytes, d.vram_bandwidth), duration_max_ns);
}

} // namespace vramlab::gpu
