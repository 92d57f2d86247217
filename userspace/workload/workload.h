// SPDX-License-Identifier: MIT
// An explicit workload: a system and the operations on it, one a line in a file
// (Documentation/workload-format.rst). Scenarios expand to it; both backends run it.
#pragma once

#include "base/request.h"

#include <optional>
#include <string>
#include <vector>

namespace vramlab::workload {

// How operations are ordered.
enum class order_kind : u8 {
    file, // strictly as written; for conformance and explicit interleavings
    time, // each process is a program of its own; whoever is ready first (device clock, then process number)
          // goes next
};

enum class op_kind : u8 {
    request, // req, to its end. If it blocks on a lock, the other tasks under way are stepped, lowest process
             // first, until it can go on
    begin,   // req starts as a task and stops at its first park point (order file only)
    step,    // process: one step; nothing if its task is idle or blocked (order file only)
    finish,  // process: stepped until its task is idle, as a request (order file only)
    run, // all tasks under way are stepped in an order drawn from `seed` until all are idle (order file only)
    advance,   // clock to at_ns if that is later than now (order file only)
    sleep,     // process: not before at_ns (order time only)
    cpu,       // process: busy on its CPU for period_ns (order time only)
    vblank,    // process: not before the next multiple of period_ns after now (order time only)
    wait_back, // process, vm: until all but the newest `back` submissions of the VM are finished, others go
               // on meanwhile
    flip,  // process, vm, bo: pin it, then unpin what this process showed on `vm` before; bo 0: only unpin
    frame, // process: a frame begins here; the time since its last `frame` is that frame's time
    evict_all,  // the system evicts all of VRAM (process 0)
    swapout,    // the system swaps one BO out (process 0)
    set_limits, // cgroup (process 0)
    end,        // the run is over at at_ns (order time only)
};

struct operation {
    op_kind kind{};
    u32 line = 0;    // in the file it came from, 0 for none
    u32 process = 0; // also req.process where there is a request; 0 is the system itself
    u32 vm = 0;
    u64 bo = 0;
    u64 at_ns = 0;
    u64 period_ns = 0;
    u32 back = 0;
    u64 seed = 0;
    request req;
    cgroup_config cgroup;
};

// What a run must show. `metric` is a name from Documentation/metrics.rst, `process` a process name or empty
// for all.
struct expectation {
    std::string metric;
    std::string process;
    std::string relation; // "==", "!=", "<", "<=", ">", ">="
    double value = 0;
    std::string fails_on; // policy or mutant that fails it: documentation, checked by the table of cases
    std::string source;   // why this is right
    u32 line = 0;
};

struct workload {
    std::string name;
    std::string description;
    order_kind order = order_kind::file;
    system_config system;
    std::vector<operation> operations;
    std::vector<expectation> expectations;
};

} // namespace vramlab::workload
