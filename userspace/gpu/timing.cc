// SPDX-License-Identifier: MIT
#include "gpu/timing.h"

#include <algorithm>

namespace vramlab::gpu {

u64 job_time::alone_ns() const
{
    return at_once ? std::max(fixed_ns, link_ns) : fixed_ns + link_ns;
}

u64 transfer_ns(u64 bytes, u64 bandwidth)
{
    // 2^64 * 10^9 is below 2^94.
    if (bytes / bandwidth >= duration_max_ns / ns_per_s)
        return duration_max_ns;
    return static_cast<u64>((u128{bytes} * ns_per_s + bandwidth - 1) / bandwidth);
}

job_time time_of_job(const device_config &d, u64 compute_ns, u64 vram_bytes, u64 link_bytes, u64 *sum_ns)
{
    compute_ns = std::min(compute_ns, duration_max_ns);
    const u64 vram_ns = transfer_ns(vram_bytes, d.vram_bandwidth);
    const u64 link_ns = transfer_ns(link_bytes, d.link_bandwidth);
    *sum_ns = compute_ns + vram_ns + link_ns;
    return {.fixed_ns = d.overlap ? std::max(compute_ns, vram_ns) : compute_ns + vram_ns,
            .link_ns = link_ns,
            .direction = link_direction::in,
            .at_once = d.overlap};
}

job_time time_of_link_copy(const device_config &d, u64 size_bytes, link_direction direction)
{
    return {.fixed_ns = d.copy_latency_ns,
            .link_ns = transfer_ns(size_bytes, d.link_bandwidth),
            .direction = direction};
}

namespace {

job_time within_vram(const device_config &d, u64 bytes)
{
    return {.fixed_ns = std::min(d.copy_latency_ns + transfer_ns(bytes, d.vram_bandwidth), duration_max_ns)};
}

} // namespace

job_time time_of_vram_copy(const device_config &d, u64 size_bytes)
{
    return within_vram(d, 2 * size_bytes);
}

job_time time_of_fill(const device_config &d, u64 size_bytes)
{
    return within_vram(d, size_bytes);
}

} // namespace vramlab::gpu
