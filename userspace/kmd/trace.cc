// SPDX-License-Identifier: MIT
#include "kmd/trace.h"

#include "kmd/ww_mutex.h"

namespace vramlab::kmd {

void record_event(events::event e)
{
    e.time_ns = trace.now_ns ? *trace.now_ns : 0;
    if (e.process == 0)
        e.process = trace.process;
    trace.sink->record(e);
}

void record_lock_event(events::event_type type, const ww_mutex &lock, s32 error)
{
    if (!tracing())
        return;
    events::event e{};
    e.type = type;
    e.error = error;
    e.a = lock.holder;
    if (trace.describe_lock)
        trace.describe_lock(trace.describe_lock_priv, lock, e);
    record_event(e);
}

} // namespace vramlab::kmd
