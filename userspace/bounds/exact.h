// SPDX-License-Identifier: MIT
// The optimum itself, where few BOs compete: all contents of VRAM that can be on the best way, step by step,
// less those that the prices prove to be too dear.
#pragma once

#include "bounds/schedule.h"

namespace vramlab::bounds {

struct exact_limits {
    u32 objects = 24;
    u32 states = 200'000;      // contents remembered in one step
    u64 decisions = 4'000'000; // in all: whether a BO is in VRAM in a step
};

// The least weighed traffic (as weighed()), or nullopt: too large to say. upper: what a schedule costs,
// weighed.
std::optional<wide> least_weighed(const instance &in, const price_list &p, u32 move_weight, wide upper,
                                  const exact_limits &limits = {});

} // namespace vramlab::bounds
