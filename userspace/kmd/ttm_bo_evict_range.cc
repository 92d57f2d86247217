// SPDX-License-Identifier: MIT
// See ttm_range.h. Models the part of ttm_bo.c in kernel/patches that makes room in a chosen range.
#include "kmd/dmem_cgroup.h"
#include "kmd/ttm_internal.h"

#include <utility>

namespace vramlab::kmd {

static const ttm_lru_walk_ops ttm_evict_range_ops = {
    .process_bo = [](ttm_lru_walk *base, ttm_buffer_object *bo) {
        return ttm_bo_evict_one(static_cast<ttm_bo_evict_walk *>(base), bo);
    }};

// Evicts what is in a claimed range, by address. 1: it is the evictor's; 0: it can't be had, and what is in
// the way is noted; or an error.
static s64 ttm_bo_evict_claimed(ttm_bo_evict_walk *walk, ttm_resource_manager *man, ttm_range_claim *claim)
{
    while (ttm_resource *res = man->func->range_first(man, claim)) {
        const s64 lret = ttm_lru_walk_one(walk, res);
        if (lret == 1)
            continue;
        if (lret != -EAGAIN) // else it is another's by now
            claim->failed[claim->searches - 1] = res;
        return lret == -EBUSY || lret == -ENOSPC || lret == -EALREADY || lret == -EAGAIN ? 0 : lret;
    }
    const s64 lret = ttm_bo_alloc_at_place(walk->evictor, walk->place, false, walk->res, walk->alloc_state);
    return !lret ? 1 : lret == -ENOSPC ? 0 : lret;
}

static void trace_range(const ttm_range_claim &claim, int error)
{
    if (!tracing())
        return;
    events::event e = ttm_trace_event(events::event_type::range_chosen, claim.bo);
    e.error = error;
    if (!error) {
        e.a = claim.range.fpfn << PAGE_SHIFT;
        e.b = claim.cost.bytes;
        e.c = claim.cost.low_bytes;
    }
    e.flag = static_cast<u8>(claim.searches);
    record_event(e);
}

// The cheapest range, and another one for each that turns out not to be had.
static s64 ttm_bo_evict_range(ttm_bo_evict_walk *walk, ttm_resource_manager *man, ww_acquire_ctx *ticket)
{
    ttm_range_claim claim;
    claim.bo = walk->evictor;
    claim.place = walk->place;
    claim.ctx = walk->arg.ctx;
    claim.ticket = ticket;
    claim.alloc_state = walk->alloc_state;
    s64 lret = 0;

    walk->ops = &ttm_evict_range_ops;
    walk->try_low = walk->alloc_state->may_try_low;
    walk->in_range = true;
    walk->arg.trylock_only = false;
    while (!lret && claim.searches < TTM_RANGE_SEARCHES) {
        claim.searches++;
        walk->arg.ticket = ticket; // a lock that slept clears it
        const int ret = man->func->claim_range(man, &claim);
        trace_range(claim, ret);
        if (ret) {
            lret = ret == -ENOSPC ? 0 : ret;
            break;
        }
        walk->place = &claim.range;
        lret = ttm_bo_evict_claimed(walk, man, &claim);
        man->func->unclaim_range(man, &claim);
        walk->place = claim.place;
    }
    return lret;
}

// What the charge needs goes by the LRU, and room by the range.
s64 ttm_bo_evict_contiguous(ttm_bo_evict_walk *walk, ttm_device *bdev, ttm_resource_manager *man,
                            ww_acquire_ctx *ticket)
{
    ttm_bo_alloc_state *state = walk->alloc_state;

    if (state->limit_pool && !state->charge_pool) {
        walk->charging = true;
        const s64 lret = ttm_bo_evict_lru(walk, bdev, man, ticket);
        walk->charging = false;
        if (lret <= 0 || !state->charge_pool) // a resource has taken the charge over
            return lret;
        // Room is to be made whose ever it is.
        dmem_cgroup_pool_state_put(std::exchange(state->limit_pool, nullptr));
    }
    return ttm_bo_evict_range(walk, man, ticket);
}

} // namespace vramlab::kmd
