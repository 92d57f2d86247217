// SPDX-License-Identifier: MIT
// The upper bound: a schedule that exists. Step by step it keeps what is worth most a byte, where worth is
// what a BO's further ways cost outside less what they cost inside, at the prices of the lower bound.
#pragma once

#include "bounds/prices.h"

#include <optional>

namespace vramlab::bounds {

struct traffic {
    u64 moved_in_bytes = 0;
    u64 remote_bytes = 0; // fixed_bytes included
};

// In 1/move_weight_one of a byte: moves weighed, remote reads in full.
wide weighed(const traffic &t, u32 move_weight);

// Where everything is under a schedule.
struct schedule_log {
    struct entry {
        u32 step = 0;
        u32 object = 0;
        u32 outside_from = 0; // of a move: the first step in which it was not in VRAM, or created
        bool move = false;    // into VRAM; else a remote read
    };
    std::vector<entry> entries;  // by step
    std::vector<u64> vram_bytes; // by step: taken
};

// nullopt: what must be in VRAM in some step does not fit.
std::optional<traffic> schedule(const instance &in, const price_list &p, u32 move_weight,
                                schedule_log *log = nullptr);

} // namespace vramlab::bounds
