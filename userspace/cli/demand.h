// SPDX-License-Identifier: MIT
// How much video memory a workload wants, and which value of a parameter makes it want so much.
#pragma once

#include "cli/input.h"

namespace vramlab::cli {

// Bytes: over all processes, the sum of the most that each has at once, in the order of its program, of BOs
// that were created for VRAM and have a handle in it. What each process does when is not known before it
// runs, so all of it at once is the most that can be.
u64 vram_demand(const workload::workload &w);
// Likewise, of each process; by its number.
std::vector<u64> vram_demands(const workload::workload &w);

// Values of a parameter that is a size, by the demand that they make.
class demand_solver {
public:
    // Throws parse_error, and std::runtime_error if the demand does not grow with the parameter.
    demand_solver(std::string file, const input &in, std::string parameter);

    // Bytes, for --set. Throws std::runtime_error if no value comes within 1 % of VRAM of that demand.
    u64 value_for(u64 demand_bytes) const;
    workload::workload load_with(u64 value) const;

private:
    u64 demand_with(u64 value) const { return vram_demand(load_with(value)); }

    std::string file_;
    input in_;
    std::string parameter_;
    u64 first_ = 0;        // value
    u64 first_demand_ = 0; // with it
    u64 step_ = 0;         // value
    u64 step_demand_ = 0;  // more, with that much more
    u64 vram_bytes_ = 0;
};

} // namespace vramlab::cli
