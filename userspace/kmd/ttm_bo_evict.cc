// SPDX-License-Identifier: MIT
// See ttm_bo.h. Models the part of ttm_bo.c that evicts: for an allocation, for a cgroup over its maximum,
// and all.
#include "kmd/dmem_cgroup.h"
#include "kmd/ttm_internal.h"

namespace vramlab::kmd {

int ttm_bo_evict(ttm_buffer_object *bo, ttm_operation_ctx *ctx)
{
    const bool throttled = ttm_manager_type(bo->bdev, bo->resource->mem_type)->use_throttle;
    ttm_resource *evict_mem = nullptr;
    ttm_placement placement;
    ttm_place hop;

    dma_resv_assert_held(bo->resv);

    bo->bdev->funcs->evict_flags(bo, &placement);

    if (!placement.num_placement) {
        int ret = ttm_bo_wait_ctx(bo, ctx);
        if (ret)
            return ret;

        // Idle, so the memory is free at once.
        return ttm_bo_pipeline_gutting(bo);
    }

    int ret = ttm_bo_mem_space(bo, &placement, &evict_mem, ctx);
    if (ret)
        return ret;

    do {
        ret = ttm_bo_handle_move_mem(bo, evict_mem, true, ctx, &hop);
        if (ret != -EMULTIHOP)
            break;

        ret = ttm_bo_bounce_temp_buffer(bo, ctx, &hop);
    } while (!ret);

    if (ret)
        ttm_resource_free(bo, &evict_mem);
    else if (throttled)
        ttm_throttle_evicted(bo, ctx);
    return ret;
}

bool ttm_bo_eviction_valuable(ttm_buffer_object *bo, const ttm_place *place)
{
    ttm_resource *res = bo->resource;

    dma_resv_assert_held(bo->resv);

    if (res->mem_type == TTM_PL_SYSTEM)
        return true;

    return ttm_resource_intersects(bo->bdev, res, place, bo->size);
}

static void trace_evict_begin(const ttm_buffer_object *bo, const ttm_buffer_object *evictor)
{
    if (!tracing())
        return;
    events::event e = ttm_trace_event(events::event_type::evict_begin, bo);
    if (evictor) {
        const events::event by = ttm_trace_event(events::event_type::evict_begin, evictor);
        e.bo2 = by.bo;
        e.vm2 = by.vm;
    }
    e.a = ttm_trace_domain(bo->resource);
    e.c = bo->size;
    record_event(e);
}

int ttm_bo_evict_first(ttm_device *, ttm_resource_manager *man, ttm_operation_ctx *ctx)
{
    ttm_resource_cursor cursor;

    ttm_resource_cursor_init(&cursor, man);
    ttm_resource *res = ttm_resource_manager_first(&cursor);
    ttm_resource_cursor_fini(&cursor);
    if (!res)
        return -ENOENT;

    ttm_buffer_object *bo = res->bo;
    if (!ttm_bo_get_unless_zero(bo))
        return 0;
    const u32 mem_type = res->mem_type;

    int ret = ttm_bo_reserve(bo, ctx->interruptible, ctx->no_wait_gpu, nullptr);
    if (!ret) {
        if (!bo->resource || bo->resource->mem_type != mem_type) {
            // Moved while the lock was waited for.
        } else if (bo->deleted) {
            ret = ttm_bo_wait_ctx(bo, ctx);
            if (!ret)
                ttm_bo_cleanup_memtype_use(bo);
        } else {
            trace_evict_begin(bo, nullptr);
            ret = ttm_bo_evict(bo, ctx);
        }
        dma_resv_unlock(*bo->resv);
    }
    ttm_bo_put(bo);
    return ret;
}

// As dmem_cgroup_state_evict_valuable() if there were no protection: what counts is whether it helps against
// the limit.
static bool below_limit_pool(const dmem_cgroup_pool_state *limit_pool,
                             const dmem_cgroup_pool_state *test_pool)
{
    if (!limit_pool || !limit_pool->parent)
        return true;
    while (test_pool && test_pool != limit_pool)
        test_pool = test_pool->parent;
    return test_pool != nullptr;
}

const char *ttm_bo_evict_protected(const ttm_bo_alloc_state &state, const ttm_device *bdev,
                                   dmem_cgroup_pool_state *css, bool try_low, bool *hit_low)
{
    if (bdev->ignore_protection)
        return below_limit_pool(state.limit_pool, css) ? nullptr : "outside of the limiting cgroup";

    // Unprotected BOs are wanted for a protected cgroup: its own are protected, although evict_valuable would
    // allow them.
    if (!state.may_try_low && css == state.charge_pool)
        return "own cgroup";

    dmem_cgroup_pool_state *limit_pool = state.limit_pool;
    dmem_cgroup_pool_state *ancestor = nullptr;
    // Without a limit, protection is compared below the lowest common ancestor, or siblings would look
    // unrelated.
    if (!limit_pool) {
        ancestor = dmem_cgroup_get_common_ancestor(css, state.charge_pool);
        limit_pool = ancestor;
    }
    const bool valuable = dmem_cgroup_state_evict_valuable(limit_pool, css, try_low, hit_low);
    if (ancestor)
        dmem_cgroup_pool_state_put(ancestor);
    return valuable ? nullptr : "protected";
}

static const char *ttm_bo_evict_unsuitable(ttm_bo_evict_walk *walk, ttm_buffer_object *bo)
{
    if (bo->pin_count)
        return "pinned";
    if (bo->bdev->funcs->eviction_valuable(bo, walk->place))
        return nullptr;
    return tracing() && !ttm_bo_eviction_valuable(bo, walk->place) ? "not in the range" : "driver";
}

// The cgroup rules first, then the BO's own.
s64 ttm_bo_evict_one(ttm_bo_evict_walk *walk, ttm_buffer_object *bo)
{
    const char *why_not = nullptr;
    if (!walk->in_range || !bo->deleted)
        why_not = ttm_bo_evict_protected(*walk->alloc_state, bo->bdev, bo->resource->css, walk->try_low,
                                         &walk->hit_low);
    if (!why_not)
        why_not = ttm_bo_evict_unsuitable(walk, bo);
    if (why_not) {
        ttm_trace_skipped(bo, walk->evictor, why_not);
        return 0;
    }

    s64 lret;
    if (bo->deleted) {
        lret = ttm_bo_wait_ctx(bo, walk->arg.ctx);
        if (!lret)
            ttm_bo_cleanup_memtype_use(bo);
    } else {
        trace_evict_begin(bo, walk->evictor);
        lret = ttm_bo_evict(bo, walk->arg.ctx);
    }

    if (lret) {
        if (lret == -EBUSY || lret == -ENOSPC)
            ttm_trace_skipped(bo, walk->evictor, lret == -EBUSY ? "busy" : "nowhere to go");
        if (lret == -ENOSPC) {
            ttm_trace_converted(bo, -ENOSPC, -EBUSY, "ttm_bo_evict_cb");
            return -EBUSY;
        }
        return lret;
    }

    walk->evicted++;
    // What it freed is the evictor's: nobody may take the BO back until that has its memory.
    walk->arg.keep_lock = true;
    return 1;
}

static s64 ttm_bo_evict_cb(ttm_lru_walk *base, ttm_buffer_object *bo)
{
    ttm_bo_evict_walk *walk = static_cast<ttm_bo_evict_walk *>(base);
    const s64 bo_size = static_cast<s64>(bo->size);

    s64 lret = ttm_bo_evict_one(walk, bo);
    if (lret <= 0)
        return lret;
    if (!walk->res)
        return bo_size;
    lret = ttm_bo_alloc_at_place(walk->evictor, walk->place, false, walk->res, walk->alloc_state);
    if (!lret || (lret == -ENOSPC && walk->charging && walk->alloc_state->charge_pool))
        return 1;
    return lret == -ENOSPC ? -EBUSY : lret; // not enough yet: go on with the next one
}

static const ttm_lru_walk_ops ttm_evict_walk_ops = {.process_bo = ttm_bo_evict_cb};

// Walks with sleeping locks for ttm_bo_evict_alloc(): again as long as it makes progress, then once more
// without regard to low.
static s64 ttm_bo_evict_ticketlock(ttm_bo_evict_walk *walk, ttm_device *bdev, ttm_resource_manager *man,
                                   ww_acquire_ctx *ticket)
{
    s64 lret;

    walk->try_low = walk->hit_low = false;
    walk->arg.trylock_only = false;
    for (;;) {
        do {
            walk->arg.ticket = ticket; // a walk clears it
            walk->evicted = 0;
            lret = ttm_lru_walk_for_evict(walk, bdev, man, 1);
        } while (!lret && walk->evicted);

        if (lret || !walk->hit_low || walk->try_low || !walk->alloc_state->may_try_low)
            return lret;
        walk->try_low = true;
    }
}

s64 ttm_bo_evict_lru(ttm_bo_evict_walk *walk, ttm_device *bdev, ttm_resource_manager *man,
                     ww_acquire_ctx *ticket)
{
    walk->arg.ticket = ticket;
    walk->arg.trylock_only = true;
    s64 lret = ttm_lru_walk_for_evict(walk, bdev, man, 1);

    // Not enough, but some were left for their low protection, and that may be overridden here.
    if (!lret && walk->hit_low && walk->alloc_state->may_try_low) {
        walk->try_low = true;
        lret = ttm_lru_walk_for_evict(walk, bdev, man, 1);
    }
    if (!lret && ticket)
        lret = ttm_bo_evict_ticketlock(walk, bdev, man, ticket);
    return lret;
}

// The end of an eviction under an exec: the locks of what was evicted are dropped, whatever came of it.
static s64 ttm_bo_evict_exec_done(ttm_bo_evict_walk *walk, s64 lret, std::size_t snapshot)
{
    drm_exec *exec = walk->arg.ctx->exec;

    // Others may have made room while this slept.
    if (!lret) {
        lret = ttm_bo_alloc_at_place(walk->evictor, walk->place, false, walk->res, walk->alloc_state);
        lret = lret == -ENOSPC ? 0 : lret ? lret : 1;
    }
    if (lret == -EDEADLK && tracing()) {
        events::event e = ttm_trace_event(events::event_type::alloc_backoff, walk->evictor);
        e.a = u64{1} << walk->place->mem_type;
        e.b = exec->snapshot() - snapshot;
        record_event(e);
    }
    exec->restore(snapshot);
    return lret;
}

int ttm_bo_evict_alloc(ttm_device *bdev, ttm_resource_manager *man, const ttm_place *place,
                       ttm_buffer_object *evictor, ttm_operation_ctx *ctx, ww_acquire_ctx *ticket,
                       ttm_resource **res, ttm_bo_alloc_state *state)
{
    const std::size_t snapshot = ctx->exec ? ctx->exec->snapshot() : 0;
    ttm_bo_evict_walk walk;
    walk.ops = &ttm_evict_walk_ops;
    walk.arg.ctx = ctx;
    walk.arg.evictor = evictor;
    walk.place = place;
    walk.evictor = evictor;
    walk.res = res;
    walk.alloc_state = state;

    state->in_evict = true;

    const bool by_range =
        bdev->mechanisms.contig_range && (place->flags & TTM_PL_FLAG_CONTIGUOUS) && man->func->claim_range;
    s64 lret = by_range ? ttm_bo_evict_contiguous(&walk, bdev, man, ticket)
                        : ttm_bo_evict_lru(&walk, bdev, man, ticket);
    if (ctx->exec)
        lret = ttm_bo_evict_exec_done(&walk, lret, snapshot);

    state->in_evict = false;
    if (lret < 0)
        return static_cast<int>(lret);
    return lret ? 0 : -EBUSY;
}

s64 ttm_bo_evict_cgroup(ttm_device *bdev, ttm_resource_manager *man, dmem_cgroup_pool_state *limit_pool,
                        s64 target_bytes, ttm_operation_ctx *ctx)
{
    ttm_bo_alloc_state state;
    state.limit_pool = limit_pool;
    state.in_evict = true;
    ttm_bo_evict_walk walk;
    walk.ops = &ttm_evict_walk_ops;
    walk.arg.ctx = ctx;
    walk.arg.trylock_only = true;
    walk.alloc_state = &state;

    s64 lret = ttm_lru_walk_for_evict(&walk, bdev, man, target_bytes);
    if (lret < 0 || lret >= target_bytes)
        return lret;

    if (walk.hit_low) {
        walk.try_low = true;
        const s64 pass = ttm_lru_walk_for_evict(&walk, bdev, man, target_bytes - lret);
        if (pass < 0)
            return pass;
        lret += pass;
        if (lret >= target_bytes)
            return lret;
    }

    walk.try_low = walk.hit_low = false;
    walk.arg.trylock_only = false;
    walk.arg.sleeping_lock = true;
    for (;;) {
        do {
            walk.evicted = 0;
            const s64 pass = ttm_lru_walk_for_evict(&walk, bdev, man, target_bytes - lret);
            if (pass < 0)
                return pass;
            lret += pass;
        } while (lret < target_bytes && walk.evicted);

        if (lret >= target_bytes || !walk.hit_low || walk.try_low)
            return lret;
        walk.try_low = true;
    }
}

} // namespace vramlab::kmd
