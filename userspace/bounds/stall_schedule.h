// SPDX-License-Identifier: MIT
// The upper bound on the stall: a schedule that exists. What is in VRAM when, the schedule for traffic
// decides at the stall's prices; then copies that a job would have to wait for go into windows before, where
// both the link and VRAM have room.
#pragma once

#include "bounds/stall_prices.h"

#include <optional>

namespace vramlab::bounds {

// Time beyond that of all windows with all in VRAM, ns; not below 0. nullopt: what must be in VRAM does not
// fit.
std::optional<u64> schedule_stall(const stall_instance &in, const std::vector<window_shape> &shapes,
                                  const stall_prices &p);

} // namespace vramlab::bounds
