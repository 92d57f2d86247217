// SPDX-License-Identifier: MIT
// When each VM was throttled, from the events alone: an eviction by others begins the strong phase, over
// again if it is one already; the weak phase follows (Documentation/semantics.rst, "Throttle").
#pragma once

#include "base/types.h"

#include <cstddef>
#include <map>
#include <vector>

namespace vramlab::report {

class throttle_phases {
public:
    struct interval {
        u64 begin_ns = 0;
        u64 end_ns = 0;
        bool strong = false;
    };
    struct of_vm {
        std::vector<interval> intervals; // by time; none are empty
        u64 evictions = 0;               // that began a strong phase, or began it again
        u64 left_out = 0;                // intervals beyond the limit
    };

    // Durations of the phases; intervals_max: kept for each VM.
    throttle_phases(u64 strong_ns, u64 weak_ns, std::size_t intervals_max = 1000);

    // By time.
    void throttled(u32 vm, u64 at_ns);
    // All VMs are normal again: everything has been evicted.
    void reset(u64 at_ns);
    // Once, after the last event.
    void finish(u64 end_ns);

    const std::map<u32, of_vm> &vms() const { return vms_; }

private:
    struct open_phase {
        u64 begin_ns = 0; // of the strong phase
        u64 last_ns = 0;  // last eviction
    };
    void close(u32 vm, const open_phase &p, u64 at_ns);
    void add(u32 vm, interval i);

    u64 strong_ns_;
    u64 weak_ns_;
    std::size_t intervals_max_;
    std::map<u32, of_vm> vms_;
    std::map<u32, open_phase> open_;
};

} // namespace vramlab::report
