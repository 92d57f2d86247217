// SPDX-License-Identifier: MIT
// The one seam between workloads and memory managers. Two implementations: sim_backend (the model) and
// kernel_backend (the real TTM, through libdrm on vttm). Both are deterministic under the virtual clock.
//
// Requests never throw for errors of the memory manager (those are in result::error); misuse of the interface
// and broken transport throw std::runtime_error.
#pragma once

#include "base/request.h"
#include "events/event.h"

#include <string>
#include <vector>

namespace vramlab::backend {

// What a process's operation does when every task is at rest. See "Lockstep" in Documentation/semantics.rst.
enum class task_state : u8 { idle, parked, blocked };

struct usage {
    u64 vram_usage_bytes = 0;
    u64 vram_pinned_bytes = 0;
    u64 gtt_usage_bytes = 0;
    u64 bytes_moved = 0;
    u64 evictions = 0;
};

class memory_backend {
public:
    virtual ~memory_backend() = default;

    // A fresh device at time 0. Everything of the workload before is gone.
    virtual void reset(const system_config &s) = 0;

    // Runs a request to its end. No other task may be under way.
    virtual result execute(const request &r) = 0;

    // Concurrency. begin() starts a request as the task of r.process (which must be idle) and runs it to its
    // first park point, until it blocks or ends. step() lets a parked task go on likewise. When state_of() is
    // idle after begin(), take_result() returns what came of it, once.
    virtual task_state begin(const request &r) = 0;
    virtual task_state step(u32 process) = 0;
    virtual task_state state_of(u32 process) = 0;
    virtual result take_result(u32 process) = 0;

    // Device clock, ns. next_event_ns(): when the device does something next if left alone, never_ns if
    // nothing. advance() to an absolute time, not before now.
    virtual u64 now_ns() = 0;
    virtual u64 next_event_ns() = 0;
    virtual void advance(u64 to_ns) = 0;

    // Whether submission seqno of the VM is finished (true for 0).
    virtual bool signaled(u32 vm, u64 seqno) = 0;

    // What the system does by itself. Errors as the kernel: 0 or negative. No task may be under way.
    virtual int evict_all() = 0;
    virtual int swapout() = 0;
    virtual int set_limits(const cgroup_config &c) = 0;

    virtual usage query_usage() = 0;

    // The whole state as text, in the form that Documentation/semantics.rst gives, ending with a newline.
    virtual std::string state() = 0;

    // Where events go from now on; nullptr for nowhere. The kernel's are delivered at the end of each call.
    virtual void set_event_sink(events::event_sink *sink) = 0;
};

} // namespace vramlab::backend
