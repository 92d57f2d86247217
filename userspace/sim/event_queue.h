// SPDX-License-Identifier: MIT
// Virtual time: an integer clock, and the things that will happen. Nobody else makes time pass.
//
// Equal times are ordered by rank, then by sequence number, then by insertion, so that the order of events
// depends on nothing but the events (Documentation/semantics.rst, "Jobs, engines, time").
#pragma once

#include "base/types.h"

#include <vector>

namespace vramlab::sim {

// Whoever is told that its time has come. Not owned by the queue; must outlive its entries.
class event_handler {
public:
    // Called once for each entry, with the clock at its time.
    virtual void fire() = 0;

protected:
    ~event_handler() = default;
};

class event_queue {
public:
    u64 now_ns() const { return now_ns_; }
    // For kmd::trace, which stamps events with the time. Valid as long as the queue.
    const u64 *now() const { return &now_ns_; }

    // time_ns is not before now; a time that is now fires with the next run_next().
    void push(u64 time_ns, u32 rank, u64 seqno, event_handler &h);

    // Moves the entry of h, of which there must be one, and only one.
    void reschedule(u64 time_ns, event_handler &h);

    bool empty() const { return heap_.empty(); }
    // Time of the next entry, never_ns if there is none.
    u64 next_ns() const { return heap_.empty() ? never_ns : heap_.front().time_ns; }

    // Takes the next entry out, sets the clock to its time, fires it. The queue must not be empty.
    void run_next();
    // Sets the clock. No entry may be due before.
    void set_now(u64 time_ns);

private:
    struct entry {
        u64 time_ns;
        u64 seqno;
        u64 order;
        event_handler *handler;
        u32 rank;
    };
    static bool later(const entry &a, const entry &b);

    std::vector<entry> heap_; // std::push_heap by later(): the earliest is in front
    u64 now_ns_ = 0;
    u64 order_ = 0;
};

} // namespace vramlab::sim
