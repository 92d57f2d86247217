// SPDX-License-Identifier: MIT
// Where the kernel's tracepoints would be: every layer of the model reports its decisions through here.
// Omits: registration, filters, probes; there is one sink a thread, and a run is one thread.
//
// The process of an event is that of the running task; kmd/task.h switches it along with the stack.
#pragma once

#include "base/types.h"
#include "events/event.h"

namespace vramlab::kmd {

struct ww_mutex;

struct trace_state {
    events::event_sink *sink = nullptr;
    const u64 *now_ns = nullptr; // device clock; nullptr is time 0
    u32 process = 0;             // 0: the system itself
    bool skipped = true;         // the sink's wants_skipped()

    // Fills in bo (or vm2, for a VM's resv) of an event about a lock, which kmd knows by address only. Called
    // on contention and with a sink only, so it may search. nullptr: locks have no names.
    void (*describe_lock)(void *priv, const ww_mutex &lock, events::event &e) = nullptr;
    void *describe_lock_priv = nullptr;
};

// constinit: no guard is tested on access.
inline thread_local constinit trace_state trace;

// Whether anybody listens. Put it in front of anything that costs more than a few stores.
inline bool tracing()
{
    return trace.sink != nullptr;
}

// Not inline, so that callers stay small. Sets time_ns and, unless given, process.
void record_event(events::event e);

// One test if nobody listens.
inline void emit(const events::event &e)
{
    if (tracing()) [[unlikely]]
        record_event(e);
}

// An event about a lock: as emit(), after naming the lock.
void record_lock_event(events::event_type type, const ww_mutex &lock, s32 error);

} // namespace vramlab::kmd
