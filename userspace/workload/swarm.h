// SPDX-License-Identifier: MIT
// Random workloads from a seed: every operation, on a device so small that evictions, refusals and lock
// contention are the rule. Same seed and options: same workload, everywhere.
#pragma once

#include "workload/workload.h"

namespace vramlab::workload {

struct swarm_options {
    u32 operations = 200;
    u32 bos_max = 64; // that exist at a time
    u32 processes_max = 4;
    // Arguments that the uAPI must refuse as well (handles that are gone, bits that do not exist). Such a
    // workload does not pass the checker; it can be run but not read back.
    bool edge_cases = false;
    // Several submit lists of most of VRAM at the same time: whoever makes room then meets locks of others.
    bool crowded = false;
};

workload make_swarm(u64 seed, const swarm_options &options = {});

} // namespace vramlab::workload
