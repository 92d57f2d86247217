// SPDX-License-Identifier: MIT
// Times of the mechanisms in kernel/patches; module parameters of ttm in the kernel, by the same names.
#pragma once

#include "base/types.h"

namespace vramlab {

struct mechanism_times {
    u32 throttle_strong_ms = 50;
    u32 throttle_weak_ms = 200;

    friend bool operator==(const mechanism_times &, const mechanism_times &) = default;
};

} // namespace vramlab
