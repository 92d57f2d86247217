// SPDX-License-Identifier: MIT
// What a run caused beside the least that any policy could have caused, and whether both can be true.
#pragma once

#include "bounds/link_bound.h"
#include "bounds/stall_bound.h"
#include "report/metrics.h"
#include "runner/bound_recorder.h"
#include "runner/executor.h"

namespace vramlab::runner {

struct run_bounds {
    u64 submissions = 0; // those that ran
    u64 link_read_bytes = 0;
    bounds::link_bound link;
    s64 stall_ns = 0;                         // less than 0: remote reads were quicker than VRAM
    std::optional<bounds::stall_bound> stall; // none: jobs ran on several engines
};

run_bounds bounds_of(const bound_recorder &r, const report::metrics &m);

// A run below its lower bound: either is wrong, so nothing of it is to be trusted. An invariant ("bound")
// like others, so that every command says so and ends with status 1.
std::optional<invariant_failure> below_bound(const run_bounds &b);

// How tables show a run's share of what was unavoidable: "1.20", "-" where the bound is 0 and the run is not,
// "unknown" where lower and upper bound are too far apart.
std::string times_lower(u64 value, u64 lower, bool known);

} // namespace vramlab::runner
