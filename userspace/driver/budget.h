// SPDX-License-Identifier: MIT
// Models amdgpu_cs_get_threshold_for_moves() and amdgpu_cs_report_moved_bytes() of 7.3.4: how many bytes a
// submission may move. The currency is microseconds, which accumulate with the clock up to 200 ms and are
// spent by moves; debt is possible. Omits: the second budget for visible VRAM, APUs.
#pragma once

#include "base/types.h"

namespace vramlab::driver {

class move_budget {
public:
    // log2 of MiB a second; 0: nothing is ever moved for preference.
    explicit move_budget(u32 log2_max_mbps) : log2_max_mbps_(log2_max_mbps) {}

    // Bytes that a submission at now_ns may move; used_bytes and pinned_bytes are of VRAM.
    u64 threshold(u64 now_ns, u64 vram_size_bytes, u64 used_bytes, u64 pinned_bytes);
    void report_moved(u64 bytes) { accum_us_ -= bytes_to_us(bytes); }

    s64 accum_us() const { return accum_us_; }
    s64 last_update_us() const { return last_update_us_; }

private:
    u64 us_to_bytes(s64 us) const;
    s64 bytes_to_us(u64 bytes) const;

    u32 log2_max_mbps_;
    s64 accum_us_ = 0;
    s64 last_update_us_ = 0;
};

} // namespace vramlab::driver
