// SPDX-License-Identifier: MIT
// See ttm_bo.h. Models the part of ttm_bo.c that finds memory for a BO: ttm_bo_alloc_at_place(),
// ttm_bo_alloc_resource() and ttm_bo_mem_space().
#include "kmd/dmem_cgroup.h"
#include "kmd/ttm_internal.h"

namespace vramlab::kmd {

static void trace_failure(events::event_type type, const ttm_buffer_object *bo, u32 mem_type, int error)
{
    events::event e = ttm_trace_event(type, bo);
    e.a = u64{1} << mem_type;
    (type == events::event_type::alloc_failed ? e.b : e.c) = bo->size;
    e.error = error;
    record_event(e);
}

// -EBUSY: no space, but eviction may help. -ENOSPC: no space.
int ttm_bo_alloc_at_place(ttm_buffer_object *bo, const ttm_place *place, bool force_space, ttm_resource **res,
                          ttm_bo_alloc_state *alloc_state)
{
    bool may_evict = !alloc_state->in_evict && force_space && place->mem_type != TTM_PL_SYSTEM;
    int ret;

    if (!alloc_state->charge_pool) {
        ret = ttm_resource_try_charge(bo, place, &alloc_state->charge_pool,
                                      force_space ? &alloc_state->limit_pool : nullptr);
        if (ret) {
            if (tracing()) [[unlikely]]
                trace_failure(events::event_type::charge_failed, bo, place->mem_type, ret);
            if (!alloc_state->in_evict)
                alloc_state->may_try_low = may_evict;
            // A failed charge is a failed allocation: -EAGAIN would end a walk that is about to make room.
            if (ret == -EAGAIN) {
                ret = may_evict ? -EBUSY : -ENOSPC;
                ttm_trace_converted(bo, -EAGAIN, ret, "ttm_bo_alloc_at_place");
            }
            return ret;
        }
    }

    // Protected cgroups are entitled to their memory: below min, eviction is allowed before other places are
    // tried, as if space were forced; below low, only of what is protected by neither (may_try_low stays
    // false).
    if (!alloc_state->in_evict && !bo->bdev->ignore_protection && !alloc_state->yields) {
        may_evict |= dmem_cgroup_below_min(nullptr, alloc_state->charge_pool);
        alloc_state->may_try_low = may_evict;

        may_evict |= dmem_cgroup_below_low(nullptr, alloc_state->charge_pool);
    } else if (!alloc_state->in_evict) {
        alloc_state->may_try_low = may_evict;
    }

    ret = ttm_resource_alloc(bo, place, res, alloc_state->charge_pool);
    if (ret) {
        if (tracing() && !alloc_state->in_evict) [[unlikely]]
            trace_failure(events::event_type::alloc_failed, bo, place->mem_type, ret);
        if (ret == -ENOSPC && may_evict)
            ret = -EBUSY;
        return ret;
    }

    // The resource owns it now.
    alloc_state->charge_pool = nullptr;
    return 0;
}

// The memory may still be in use by evictions that are under way: whoever uses the BO waits for them.
static int ttm_bo_add_pipelined_eviction_fences(ttm_buffer_object *bo, ttm_resource_manager *man,
                                                bool no_wait_gpu)
{
    for (dma_fence *fence : man->eviction_fences) {
        if (!fence)
            continue;

        if (no_wait_gpu) {
            if (!dma_fence_is_signaled(*fence))
                return -EBUSY;
        } else {
            dma_resv_add_fence(*bo->resv, *fence, dma_resv_usage::kernel);
        }
    }

    return dma_resv_reserve_fences(*bo->resv, 1);
}

static void ttm_bo_drop_charge(ttm_buffer_object *bo, ttm_bo_alloc_state *state)
{
    dmem_cgroup_uncharge(state->charge_pool, bo->size);
    state->charge_pool = nullptr;
}

int ttm_bo_alloc_resource(ttm_buffer_object *bo, const ttm_placement *placement, ttm_operation_ctx *ctx,
                          bool force_space, ttm_resource **res)
{
    ttm_device *bdev = bo->bdev;
    ww_acquire_ctx *ticket = ctx->exec ? &ctx->exec->ticket() : dma_resv_locking_ctx(*bo->resv);
    const bool yields = !bdev->mechanisms.throttle_protected && bo->resource &&
                        ttm_throttle_phase_of(bdev, ctx->throttle) == ttm_throttle_phase::weak;

    int ret = dma_resv_reserve_fences(*bo->resv, TTM_NUM_MOVE_FENCES);
    if (ret)
        return ret;

    for (u32 i = 0; i < placement->num_placement; ++i) {
        const ttm_place *place = &placement->placement[i];
        ttm_bo_alloc_state alloc_state;
        alloc_state.yields = yields;

        ttm_resource_manager *man = ttm_manager_type(bdev, place->mem_type);
        if (!man || !ttm_resource_manager_used(man))
            continue;

        if (place->flags & (force_space ? TTM_PL_FLAG_DESIRED : TTM_PL_FLAG_FALLBACK))
            continue;

        ret = ttm_bo_alloc_at_place(bo, place, force_space, res, &alloc_state);

        if (ret == -EBUSY) {
            ret = ttm_bo_evict_alloc(bdev, man, place, bo, ctx, ticket, res, &alloc_state);
            dmem_cgroup_pool_state_put(alloc_state.limit_pool);
            if (ret) {
                ttm_bo_drop_charge(bo, &alloc_state);
                if (ret == -EBUSY)
                    continue;
                return ret;
            }
        } else if (ret) {
            ttm_bo_drop_charge(bo, &alloc_state);
            dmem_cgroup_pool_state_put(alloc_state.limit_pool);
            if (ret == -ENOSPC)
                continue;
            return ret;
        }

        ret = ttm_bo_add_pipelined_eviction_fences(bo, man, ctx->no_wait_gpu);
        if (ret) {
            ttm_resource_free(bo, res);
            if (ret == -EBUSY)
                continue;
            return ret;
        }
        return 0;
    }

    return -ENOSPC;
}

int ttm_bo_mem_space(ttm_buffer_object *bo, const ttm_placement *placement, ttm_resource **res,
                     ttm_operation_ctx *ctx)
{
    bool force_space = false;
    int ret;

    do {
        ret = ttm_bo_alloc_resource(bo, placement, ctx, force_space, res);
        force_space = !force_space;
    } while (ret == -ENOSPC && force_space);

    return ret;
}

} // namespace vramlab::kmd
