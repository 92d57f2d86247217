// SPDX-License-Identifier: MIT
// What a bound on link traffic is asked about: which BOs each submission touches, in the order in which the
// submissions were made, and what that costs if a BO is not in VRAM.
//
// Models: capacity in bytes; a first placement in VRAM is free, as no contents are moved; BOs that must be in
// VRAM (VRAM only, or pinned); VRAM emptied by the system. Omits: fragmentation, cgroups' limits, GTT's size,
// what a policy can know, and how long anything takes. All of that can only cost a policy more, so a lower
// bound stays one.
#pragma once

#include "base/types.h"

#include <vector>

namespace vramlab::bounds {

inline constexpr u64 must_be_in_vram = ~u64{0};

// One submission's need of a BO.
struct use {
    u32 step = 0;         // the submission, from 0
    u64 remote_bytes = 0; // over the link if the BO is outside then, or must_be_in_vram
};

struct object {
    u64 size_bytes = 0;    // of the BO: what a move into VRAM costs
    u32 born = 0;          // the first submission after its creation; not above its first use's step
    std::vector<use> uses; // by step, one a step
};

struct instance {
    u64 vram_bytes = 0;
    u32 steps = 0;
    std::vector<object> objects;
    std::vector<u32> emptied; // before these steps all that is not pinned leaves VRAM; ascending
    u64 fixed_bytes = 0;      // read over the link whatever a policy does: by BOs that may not be in VRAM
};

// Whether what is in VRAM in step `from` cannot be kept until `to`, as VRAM is emptied in between. What is
// pinned in `from` stays.
class emptying {
public:
    explicit emptying(const instance &in);
    bool between(u32 from, u32 to) const { return before_[to] != before_[from]; }

private:
    std::vector<u32> before_; // by step: how often it was emptied up to and before that step
};

// The same at the price of `weight`/move_weight_one a byte for moves: 1 counts moves as remote reads, 0
// counts remote reads only.
inline constexpr u32 move_weight_one = 256;

} // namespace vramlab::bounds
