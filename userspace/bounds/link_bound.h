// SPDX-License-Identifier: MIT
// How little link traffic any policy could have caused that knew the future.
#pragma once

#include "bounds/instance.h"

#include <optional>

namespace vramlab::bounds {

struct link_bound {
    u64 lower_bytes = 0;            // no policy reads less over the link
    std::optional<u64> upper_bytes; // a schedule that reads so much exists; nullopt: none was found
    bool exact = false;             // both are the optimum
    u32 iterations = 0;

    // Further apart than this, what the optimum is counts as unknown.
    static constexpr u32 widest_gap_percent = 30;
    bool known() const
    {
        return upper_bytes && u128{*upper_bytes} * 100 <= u128{lower_bytes} * (100 + widest_gap_percent);
    }
};

struct bound_options {
    u32 iterations = 400;
    u32 move_weight = move_weight_one; // below it: of bytes moved only that share counts
};

link_bound least_link_bytes(const instance &in, const bound_options &o = {});

} // namespace vramlab::bounds
