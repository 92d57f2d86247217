// SPDX-License-Identifier: MIT
// How little time any policy could have lost that knew the future.
#pragma once

#include "bounds/stall_instance.h"

#include <optional>

namespace vramlab::bounds {

struct stall_bound {
    u64 lower_ns = 0;            // no policy loses less
    std::optional<u64> upper_ns; // a schedule that loses so much exists; nullopt: none was found

    // Further apart than this, what the optimum is counts as unknown.
    static constexpr u32 widest_gap_percent = 30;
    bool known() const
    {
        return upper_ns && u128{*upper_ns} * 100 <= u128{lower_ns} * (100 + widest_gap_percent);
    }
};

struct stall_options {
    u32 iterations = 200;
};

stall_bound least_stall(const stall_instance &in, const stall_options &o = {});

} // namespace vramlab::bounds
