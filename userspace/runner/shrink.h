// SPDX-License-Identifier: MIT
// Makes a failing workload small: the fewest operations that still fail (delta debugging), then the fewest
// BOs in lists and touch sets, then without the cgroups and processes that nothing uses. What stays is
// well-formed.
#pragma once

#include "workload/workload.h"

#include <functional>

namespace vramlab::runner {

struct shrink_options {
    u32 runs_max = 3000; // of the predicate
    std::function<void(u32 runs, std::size_t operations)> progress;
};

// fails(w) must be true for the workload given. Order file only (another order comes back as it is).
workload::workload shrink(workload::workload w, const std::function<bool(const workload::workload &)> &fails,
                          const shrink_options &options = {});

// Leaves out the operations that make no sense without what was left out before: on VMs, BOs and lists that
// do not exist, of processes that are busy. Ends with all tasks run to their end.
workload::workload make_well_formed(const workload::workload &w);

} // namespace vramlab::runner
