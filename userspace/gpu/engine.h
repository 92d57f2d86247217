// SPDX-License-Identifier: MIT
// An engine of the device: runs one job after another, in the order in which it was given them.
//
// A job starts when an idle engine is given it, or when the one before ends. It ends when its fixed part and
// its transfer over the link are over (Documentation/semantics.rst); others' transfers move that end while it
// runs. Completion is an event of the queue; at equal times the engine with the lower rank goes first. Omits:
// preemption, faults, resets, a limit on how many jobs it can be given.
#pragma once

#include "gpu/timing.h"
#include "sim/event_queue.h"

#include <deque>

namespace vramlab::gpu {

// What an engine runs. Owned by whoever gives it to the engine, until done() has been called.
class engine_job {
public:
    u64 seqno = 0; // orders completions at the same time
    job_time time;
    u64 start_ns = 0; // set by the engine when it starts

    virtual void started() = 0; // once, at start_ns
    virtual void done() = 0;    // once, at the end; may destroy the job

protected:
    ~engine_job() = default;
};

class engine final : private sim::event_handler, private link_user {
public:
    // Neither is owned; both must outlive it.
    engine(sim::event_queue &queue, link &l, u32 rank)
        : queue_(queue), link_(l), link_user_(l.add(*this)), rank_(rank)
    {
    }
    engine(const engine &) = delete;
    engine &operator=(const engine &) = delete;

    void run(engine_job &job);

    // When the job ends that runs, as things stand, or else when the last one ended; 0 before the first.
    u64 end_ns() const { return end_ns_; }
    u32 running() const { return static_cast<u32>(jobs_.size()); } // given to it and not ended
    bool idle() const { return jobs_.empty(); }

private:
    void fire() override;
    void transfer_will_end(u64 end_ns) override;
    void start_first();

    sim::event_queue &queue_;
    link &link_;
    std::deque<engine_job *> jobs_; // the first one is running
    u64 end_ns_ = 0;
    u32 link_user_;
    u32 rank_;
};

} // namespace vramlab::gpu
