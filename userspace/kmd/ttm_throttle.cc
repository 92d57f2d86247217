// SPDX-License-Identifier: MIT
#include "kmd/ttm_throttle.h"

#include "kmd/ttm_internal.h"

namespace vramlab::kmd {

ttm_throttle_phase ttm_throttle_phase_of(const ttm_device *bdev, const ttm_throttle *throttle)
{
    const ttm_mechanisms &m = bdev->mechanisms;
    if (!m.throttle || !throttle || !throttle->evicted)
        return ttm_throttle_phase::normal;

    const u64 since_ns = bdev->funcs->now_ns(bdev) - throttle->evicted_at_ns;
    if (since_ns < m.throttle_strong_ns)
        return ttm_throttle_phase::strong;
    // Compared like this, the sum of both cannot overflow.
    return since_ns - m.throttle_strong_ns < m.throttle_weak_ns ? ttm_throttle_phase::weak
                                                                : ttm_throttle_phase::normal;
}

void ttm_throttle_evicted(ttm_buffer_object *bo, const ttm_operation_ctx *ctx)
{
    ttm_device *bdev = bo->bdev;
    if (!bdev->mechanisms.throttle)
        return;
    ttm_throttle *throttle = bdev->funcs->throttle_of(bo);
    if (!throttle || throttle == ctx->throttle)
        return;

    throttle->evicted = true;
    throttle->evicted_at_ns = bdev->funcs->now_ns(bdev);
    if (tracing()) [[unlikely]] {
        events::event e = ttm_trace_event(events::event_type::throttled, bo);
        e.vm2 = throttle->label;
        record_event(e);
    }
}

} // namespace vramlab::kmd
