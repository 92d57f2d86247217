// SPDX-License-Identifier: MIT
// The BOs of a group: how large they are, which are touched in a frame and how much. Internal to expansion.
#pragma once

#include "base/rng.h"
#include "workload/scenario.h"

namespace vramlab::workload {

// Sizes by the scale, rounded up to pages.
u64 scaled_size(u64 bytes, u32 scale);

struct drawn_group {
    const group_config *config = nullptr;
    rng random{0};
    u64 first_bo = 0;             // tag of BO 0; the others follow
    std::vector<u64> sizes_bytes; // by BO
    std::vector<u32> creation;    // BOs in order of creation
    std::vector<u32> ranks;       // BO at each rank
    bool alive = false;

    u32 count() const { return static_cast<u32>(sizes_bytes.size()); }
    u64 tag(u32 bo) const { return first_bo + bo; }
};

// max_count: how many BOs there may be. Throws parse_error.
drawn_group draw_group(const group_config &g, const rng &random, const scenario &s, u64 max_count);

// The BOs that a frame touches, by rank.
std::vector<u32> touched_bos(const drawn_group &g, u64 frame);

// What touching BO `bo` as number `rank` costs after caches; nothing if both amounts are 0.
touch touch_of(const drawn_group &g, u32 bo, u32 rank);

} // namespace vramlab::workload
