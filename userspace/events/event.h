// SPDX-License-Identifier: MIT
// What happened, in the order in which it happened. One fixed-size record a decision, so that recording is
// cheap; the fields equal those of the kernel's tracepoints where there is one. Reports and explanations read
// nothing else.
#pragma once

#include "base/types.h"

#include <vector>

namespace vramlab::events {

enum class event_type : u8 {
    op_begin, // a request starts: a = index of the operation in the workload, where = its name (op_name() of
              // the runner: "submit", "bo_create", "flip", ...), vm, bo, vm2 = target of bo_share; for
              // bo_create b = preferred | allowed << 8 | flags << 16 | priority << 24 and c = size, for
              // bo_set_priority b = priority << 24
    op_end,   // a request ended: a = index, b = seqno, error, where as above
    lock_contended,  // bo (0: the VM's resv of vm2): sleeps on a lock held by task `other`
    lock_deadlk,     // likewise: -EDEADLK from the lock
    backoff,         // drm_exec dropped everything and starts over: a = attempt
    error_converted, // an errno becomes another one: error = new, a = old (positive), where = function
    validate,        // bo: a = domains asked for, b = domain before, c = domain after, error
    alloc_failed,    // bo: a = domain, b = bytes, error: no space (before any eviction)
    evict_begin,     // bo is about to be evicted for `bo2` (0: evict-all, cgroup reclaim) of vm2
    evict_skipped,   // bo was looked at for bo2 and left: where = reason
    move,            // bo: a = from domain (0: none), b = to domain, c = bytes, flag = eviction
    ghost,           // bo left c bytes in domain a behind until a fence
    reaped,          // a zombie or ghost gave c bytes of domain a back
    charge_failed,   // cgroup charge for bo failed: c = bytes, error
    fence_wait,      // the running task waits: a = ns waited
    job_start, // a = engine (0 gfx, 1 copy), b = seqno, c = link bytes, start; flag = kind (0 job, 1 copy, 2
               // fill)
    job_end,   // likewise, at its end
    pin,       // bo
    unpin,     // bo
    evicted_list, // bo of vm was put on the evicted list
    budget,       // a submission's move threshold: a = bytes
    flip,         // bo is shown from now on: a = process
    frame, // process finished a frame: a = frame number, b = frame time ns, c = submit latency ns; a = 0: its
           // first frame begins
    throttled,     // vm2 is throttled from now on, since bo was evicted
    alloc_backoff, // an allocation for bo in domain a gives up with -EDEADLK: b = locks of evicted BOs
                   // dropped
    recovered,     // bo of vm was tried again: a = domain before, b = domain after, error
    range_chosen,  // for bo, that has to be one range: a = start in bytes, b = cost, c = cost of what is
                   // protected by dmem.low, flag = which search, error
};

struct event {
    u64 time_ns = 0;
    u64 bo = 0;
    u64 bo2 = 0;
    u64 a = 0;
    u64 b = 0;
    u64 c = 0;
    const char *where = nullptr; // static string: kernel function or reason
    u32 vm = 0;
    u32 vm2 = 0;
    u32 process = 0;
    s32 error = 0;
    event_type type{};
    u8 flag = 0;
};

// Where layers report. Not thread-safe; one sink a run.
class event_sink {
public:
    virtual ~event_sink() = default;
    virtual void record(const event &e) = 0;
    // Whether evict_skipped events are of use: where VRAM is short there are more of them than of all others,
    // dozens a BO reference. Must not change while the sink is in use.
    virtual bool wants_skipped() const { return true; }
};

// Keeps everything.
class event_log final : public event_sink {
public:
    void record(const event &e) override { events_.push_back(e); }
    const std::vector<event> &events() const { return events_; }
    void clear() { events_.clear(); }

private:
    std::vector<event> events_;
};

} // namespace vramlab::events
