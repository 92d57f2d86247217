// SPDX-License-Identifier: MIT
// See ttm_internal.h.
#include "kmd/ttm_internal.h"

#include <stdexcept>
#include <string>

namespace vramlab::kmd {

void ttm_bug(const char *what)
{
    throw std::logic_error(std::string("ttm: ") + what);
}

static ttm_trace_id ttm_trace_id_of(const ttm_buffer_object *bo)
{
    if (const ttm_buffer_object *owner = ttm_bo_ghost_of(bo))
        bo = owner;
    return bo->bdev->funcs->trace_id ? bo->bdev->funcs->trace_id(bo) : ttm_trace_id{};
}

events::event ttm_trace_event(events::event_type type, const ttm_buffer_object *bo)
{
    const ttm_trace_id id = ttm_trace_id_of(bo);
    events::event e;
    e.type = type;
    e.bo = id.bo;
    e.vm = id.vm;
    return e;
}

void ttm_trace_converted(const ttm_buffer_object *bo, int from, int to, const char *where)
{
    if (!tracing())
        return;
    events::event e = ttm_trace_event(events::event_type::error_converted, bo);
    e.a = static_cast<u64>(-from);
    e.error = to;
    e.where = where;
    record_event(e);
}

void ttm_trace_skipped(const ttm_buffer_object *bo, const ttm_buffer_object *evictor, const char *reason)
{
    if (!tracing() || !trace.skipped)
        return;
    events::event e = ttm_trace_event(events::event_type::evict_skipped, bo);
    if (evictor) {
        const ttm_trace_id id = ttm_trace_id_of(evictor);
        e.bo2 = id.bo;
        e.vm2 = id.vm;
    }
    e.where = reason;
    record_event(e);
}

} // namespace vramlab::kmd
