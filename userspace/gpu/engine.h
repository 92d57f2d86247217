// SPDX-License-Identifier: MIT
// An engine of the device: runs one job after another, in the order in which it was given them.
//
// start = max(now, end of the job before), end = start + duration (Documentation/semantics.rst). Completion
// is an event of the queue; at equal times the engine with the lower rank goes first, then the lower sequence
// number. Omits: preemption, faults, resets, a limit on how many jobs it can be given.
#pragma once

#include "sim/event_queue.h"

#include <deque>

namespace vramlab::gpu {

// What an engine runs. Owned by whoever gives it to the engine, until done() has been called.
class engine_job {
public:
    u64 seqno = 0; // orders completions at the same time
    u64 duration_ns = 0;
    u64 start_ns = 0; // set by the engine
    u64 end_ns = 0;   // set by the engine

    virtual void started() = 0; // once, at start_ns
    virtual void done() = 0;    // once, at end_ns; may destroy the job

protected:
    ~engine_job() = default;
};

class engine final : private sim::event_handler {
public:
    engine(sim::event_queue &queue, u32 rank) : queue_(queue), rank_(rank) {}
    engine(const engine &) = delete;
    engine &operator=(const engine &) = delete;

    void run(engine_job &job);

    u64 end_ns() const { return end_ns_; } // of the last job given to it; 0 before the first
    u32 running() const { return static_cast<u32>(jobs_.size()); } // given to it and not ended
    bool idle() const { return jobs_.empty(); }

private:
    void fire() override;
    void start_first();

    sim::event_queue &queue_;
    std::deque<engine_job *> jobs_; // the first one is running
    u64 end_ns_ = 0;
    u32 rank_;
};

} // namespace vramlab::gpu
