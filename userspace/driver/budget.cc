// SPDX-License-Identifier: MIT
#include "driver/budget.h"

#include <algorithm>

namespace vramlab::driver {

u64 move_budget::us_to_bytes(s64 us) const
{
    if (us <= 0 || !log2_max_mbps_)
        return 0;
    // A million microseconds a second: times MB/s that is bytes.
    return static_cast<u64>(us) << log2_max_mbps_;
}

s64 move_budget::bytes_to_us(u64 bytes) const
{
    return log2_max_mbps_ ? static_cast<s64>(bytes >> log2_max_mbps_) : 0;
}

u64 move_budget::threshold(u64 now_ns, u64 vram_size_bytes, u64 used_bytes, u64 pinned_bytes)
{
    constexpr s64 us_upper_bound = 200'000;

    if (!log2_max_mbps_)
        return 0;

    const u64 total_vram = vram_size_bytes - pinned_bytes;
    const u64 free_vram = used_bytes >= total_vram ? 0 : total_vram - used_bytes;

    const s64 time_us = static_cast<s64>(now_ns / ns_per_us);
    const s64 increment_us = time_us - last_update_us_;
    last_update_us_ = time_us;
    accum_us_ = std::min(accum_us_ + increment_us, us_upper_bound);

    // Plenty of free VRAM: start filling it now, whatever the debt.
    if (free_vram >= 128 * MiB || free_vram >= total_vram / 8)
        accum_us_ = std::max(bytes_to_us(free_vram / 4), accum_us_);

    return us_to_bytes(accum_us_);
}

} // namespace vramlab::driver
