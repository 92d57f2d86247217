// SPDX-License-Identifier: MIT
// What a bound on lost time is asked about: jobs in the order in which the engine ran them, what each of them
// needs, and the time that programs took between them.
//
// Documentation/bounds.rst defines the stall and says what is left out. A window is the time from the end of
// one job to the end of the next.
#pragma once

#include "bounds/instance.h"

namespace vramlab::bounds {

// One job's need of a BO.
struct stall_use {
    u32 step = 0;       // the job, from 0
    u64 vram_bytes = 0; // read in VRAM if it is there then
    u64 link_bytes = 0; // read over the link if not, or must_be_in_vram
};

struct stall_object {
    u64 size_bytes = 0;
    u32 born = 0; // the first job that starts after its creation; not above its first use's step
    std::vector<stall_use> uses; // by step, one a step
};

struct stall_step {
    u64 gap_ns = 0; // in its window: idle before it although no submission was under way
    u64 compute_ns = 0;
    u64 vram_bytes = 0;       // of all uses of it, as if all were in VRAM
    u64 fixed_link_bytes = 0; // of BOs that may not be in VRAM
};

struct stall_instance {
    u64 vram_bytes = 0;
    u64 vram_bandwidth = 1; // bytes a second
    u64 link_bandwidth = 1; // bytes a second, of copies and remote reads together
    bool overlap = false;   // a job computes and reads VRAM and the link at the same time
    std::vector<stall_step> steps;
    std::vector<stall_object> objects;
    std::vector<u32> emptied; // before these jobs all that is not pinned leaves VRAM; ascending
};

} // namespace vramlab::bounds
