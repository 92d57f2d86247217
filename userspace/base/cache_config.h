// SPDX-License-Identifier: MIT
// Caches of a device, and how long one read takes that waits for the one before. An L2 is in front of
// everything, a memory-side cache in front of VRAM only.
#pragma once

#include "base/types.h"

namespace vramlab {

struct cache_config {
    u64 l2_size_bytes = 0;
    u64 memory_side_size_bytes = 0; // 0: none
    // Cycles from a read to its data, by where that is. Each is more than the one before.
    u32 l2_cycles = 0;
    u32 memory_side_cycles = 0;
    u32 vram_cycles = 0;
    u32 link_cycles = 0; // in system memory
    u32 clock_mhz = 0;   // whose cycles they are

    friend bool operator==(const cache_config &, const cache_config &) = default;
};

} // namespace vramlab
