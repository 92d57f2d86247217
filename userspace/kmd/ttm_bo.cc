// SPDX-License-Identifier: MIT
// See ttm_bo.h. Models ttm_bo.c except for eviction (ttm_bo_evict.cc, ttm_bo_alloc.cc) and swapout
// (ttm_bo_swapout.cc).
#include "kmd/ttm_internal.h"

namespace vramlab::kmd {

int ttm_bo_reserve(ttm_buffer_object *bo, bool, bool no_wait, ww_acquire_ctx *ticket)
{
    if (no_wait) {
        if (ticket) // WARN_ON in the kernel
            return -EBUSY;
        return dma_resv_trylock(*bo->resv) ? 0 : -EBUSY;
    }

    return dma_resv_lock(*bo->resv, ticket);
}

void ttm_bo_unreserve(ttm_buffer_object *bo)
{
    ttm_bo_move_to_lru_tail_unlocked(bo);
    dma_resv_unlock(*bo->resv);
}

void ttm_bo_move_to_lru_tail(ttm_buffer_object *bo)
{
    dma_resv_assert_held(bo->resv);

    if (bo->resource)
        ttm_resource_move_to_lru_tail(bo->resource);
}

void ttm_bo_set_bulk_move(ttm_buffer_object *bo, ttm_lru_bulk_move *bulk)
{
    dma_resv_assert_held(bo->resv);

    if (bo->bulk_move == bulk)
        return;

    if (bo->resource)
        ttm_resource_del_bulk_move(bo->resource, bo);
    bo->bulk_move = bulk;
    if (bo->resource)
        ttm_resource_add_bulk_move(bo->resource, bo);
}

void ttm_bo_set_bulk_priority(ttm_buffer_object *bo, u32 priority)
{
    dma_resv_assert_held(bo->resv);
    ttm_warn_on(priority >= TTM_NUM_BULK_PRIORITIES, "ttm_bo_set_bulk_priority");

    if (bo->bulk_priority == priority)
        return;

    bo->bulk_priority = priority & (TTM_NUM_BULK_PRIORITIES - 1);
    if (bo->resource)
        ttm_resource_update_bulk_move(bo->resource, bo);
}

void ttm_bo_pin(ttm_buffer_object *bo)
{
    dma_resv_assert_held(bo->resv);
    ttm_warn_on(!bo->kref, "ttm_bo_pin: no reference");
    if (bo->resource)
        ttm_resource_del_bulk_move(bo->resource, bo);
    if (!bo->pin_count++ && bo->resource)
        ttm_resource_move_to_lru_tail(bo->resource);
}

void ttm_bo_unpin(ttm_buffer_object *bo)
{
    dma_resv_assert_held(bo->resv);
    ttm_warn_on(!bo->kref, "ttm_bo_unpin: no reference");
    ttm_warn_on(!bo->pin_count, "ttm_bo_unpin: not pinned");

    if (!--bo->pin_count && bo->resource) {
        ttm_resource_add_bulk_move(bo->resource, bo);
        ttm_resource_move_to_lru_tail(bo->resource);
    }
}

static void trace_move(const ttm_buffer_object *bo, u64 from, bool evict)
{
    events::event e = ttm_trace_event(events::event_type::move, bo);
    e.a = from;
    e.b = ttm_trace_domain(bo->resource);
    e.c = bo->size;
    e.flag = evict;
    record_event(e);
}

int ttm_bo_handle_move_mem(ttm_buffer_object *bo, ttm_resource *mem, bool evict, ttm_operation_ctx *ctx,
                           ttm_place *hop)
{
    ttm_device *bdev = bo->bdev;
    const bool old_use_tt = !bo->resource || ttm_manager_type(bdev, bo->resource->mem_type)->use_tt;
    const bool new_use_tt = ttm_manager_type(bdev, mem->mem_type)->use_tt;
    const u64 from = ttm_trace_domain(bo->resource);
    int ret = 0;

    if (new_use_tt) {
        // Zeroed if there is nothing to copy over it.
        ret = ttm_tt_create(bo, old_use_tt);
        if (!ret && mem->mem_type != TTM_PL_SYSTEM)
            ret = ttm_bo_populate(bo, ctx);
    }
    if (!ret)
        ret = dma_resv_reserve_fences(*bo->resv, 1);
    if (!ret) {
        ret = bdev->funcs->move(bo, evict, ctx, mem, hop);
        if (ret == -EMULTIHOP)
            return ret;
    }
    if (ret) {
        if (!old_use_tt)
            ttm_bo_tt_destroy(bo);
        return ret;
    }

    ctx->bytes_moved += bo->size;
    if (tracing()) [[unlikely]]
        trace_move(bo, from, evict);
    return 0;
}

void ttm_bo_cleanup_memtype_use(ttm_buffer_object *bo)
{
    if (tracing() && bo->deleted && bo->resource) [[unlikely]] {
        events::event e = ttm_trace_event(events::event_type::reaped, bo);
        e.a = ttm_trace_domain(bo->resource);
        e.c = bo->size;
        record_event(e);
    }

    if (bo->bdev->funcs->delete_mem_notify)
        bo->bdev->funcs->delete_mem_notify(bo);

    ttm_bo_tt_destroy(bo);
    ttm_resource_free(bo, &bo->resource);
}

// Nobody refers to the BO any more: from now on its memory waits for its own copies of the fences, not for a
// VM's resv.
static int ttm_bo_individualize_resv(ttm_buffer_object *bo)
{
    if (bo->resv == &bo->_resv)
        return 0;

    ttm_warn_on(!dma_resv_trylock(bo->_resv), "ttm_bo_individualize_resv: own resv is locked");
    const int ret = dma_resv_copy_fences(bo->_resv, *bo->resv);
    dma_resv_unlock(bo->_resv);
    if (ret)
        return ret;

    if (bo->type != ttm_bo_type_sg)
        bo->resv = &bo->_resv;
    if (bo->resource)
        ttm_lru_forget_passed(ttm_manager_type(bo->bdev, bo->resource->mem_type));
    return 0;
}

static void ttm_bo_make_zombie(ttm_buffer_object *bo)
{
    bo->deleted = true;
    bo->kref = 1;
    if (tracing() && ttm_bo_ghost_of(bo) && bo->resource) [[unlikely]] {
        events::event e = ttm_trace_event(events::event_type::ghost, bo);
        e.a = ttm_trace_domain(bo->resource);
        e.c = bo->size;
        record_event(e);
    }
    bo->bdev->zombies.add(bo);
}

static void ttm_bo_release(ttm_buffer_object *bo)
{
    ttm_device *bdev = bo->bdev;

    ttm_warn_on(bo->pin_count, "ttm_bo_release: pinned");
    ttm_warn_on(bo->bulk_move, "ttm_bo_release: in a bulk move");

    if (!bo->deleted) {
        if (ttm_bo_individualize_resv(bo))
            dma_resv_wait(*bo->resv, dma_resv_usage::bookkeep);

        if (bdev->funcs->release_notify)
            bdev->funcs->release_notify(bo);

        if (!dma_resv_test_signaled(bo->_resv, dma_resv_usage::bookkeep) || bo->type == ttm_bo_type_sg ||
            !dma_resv_trylock(*bo->resv)) {
            ttm_bo_make_zombie(bo);
            return;
        }

        ttm_bo_cleanup_memtype_use(bo);
        dma_resv_unlock(*bo->resv);
    }

    bdev->glob->bo_count--;
    bo->destroy(bo);
}

void ttm_bo_put(ttm_buffer_object *bo)
{
    if (!--bo->kref)
        ttm_bo_release(bo);
}

int ttm_bo_bounce_temp_buffer(ttm_buffer_object *bo, ttm_operation_ctx *ctx, ttm_place *hop)
{
    const ttm_placement hop_placement{1, hop};
    ttm_resource *hop_mem = nullptr;

    int ret = ttm_bo_mem_space(bo, &hop_placement, &hop_mem, ctx);
    if (ret)
        return ret;
    ret = ttm_bo_handle_move_mem(bo, hop_mem, false, ctx, nullptr);
    if (ret)
        ttm_resource_free(bo, &hop_mem);
    return ret;
}

// Whether bo has to stay where it is: it is in one of the places, desired or fallback, and its owner is
// throttled. Weak is for the second pass, in which others would be evicted.
static bool ttm_bo_throttled(ttm_buffer_object *bo, const ttm_placement *placement,
                             const ttm_operation_ctx *ctx, bool force_space)
{
    const ttm_throttle_phase phase = ttm_throttle_phase_of(bo->bdev, ctx->throttle);
    if (phase == ttm_throttle_phase::normal || (phase == ttm_throttle_phase::weak && !force_space))
        return false;
    return bo->resource && (ttm_resource_compatible(bo->resource, placement, false) ||
                            ttm_resource_compatible(bo->resource, placement, true));
}

static int ttm_bo_do_validate(ttm_buffer_object *bo, const ttm_placement *placement, ttm_operation_ctx *ctx)
{
    ttm_resource *res = nullptr;
    ttm_place hop;
    bool force_space = false;
    int ret;

    do {
        if (bo->resource && ttm_resource_compatible(bo->resource, placement, force_space))
            return 0;
        if (ttm_bo_throttled(bo, placement, ctx, force_space))
            return 0;

        if (bo->pin_count)
            return -EINVAL;

        ret = ttm_bo_alloc_resource(bo, placement, ctx, force_space, &res);
        force_space = !force_space;
        if (ret == -ENOSPC)
            continue;
        if (ret)
            return ret;

        do {
            ret = ttm_bo_handle_move_mem(bo, res, false, ctx, &hop);
            if (ret != -EMULTIHOP)
                break;
            ret = ttm_bo_bounce_temp_buffer(bo, ctx, &hop);
        } while (!ret);
        if (ret) {
            ttm_resource_free(bo, &res);
            return ret;
        }
    } while (ret && force_space);

    if (ret == -ENOSPC) {
        if (bo->bdev->alloc_flags & TTM_ALLOCATION_PROPAGATE_ENOSPC)
            return ret;
        ttm_trace_converted(bo, -ENOSPC, -ENOMEM, "ttm_bo_validate");
        return -ENOMEM;
    }

    if (!bo->resource || bo->resource->mem_type == TTM_PL_SYSTEM)
        return ttm_tt_create(bo, true);
    return 0;
}

static void trace_validate(const ttm_buffer_object *bo, const ttm_placement *placement, u64 before, int ret)
{
    events::event e = ttm_trace_event(events::event_type::validate, bo);
    for (u32 i = 0; i < placement->num_placement; i++)
        e.a |= u64{1} << placement->placement[i].mem_type;
    e.b = before;
    e.c = ttm_trace_domain(bo->resource);
    e.error = ret;
    record_event(e);
}

int ttm_bo_validate(ttm_buffer_object *bo, const ttm_placement *placement, ttm_operation_ctx *ctx)
{
    dma_resv_assert_held(bo->resv);

    const u64 before = ttm_trace_domain(bo->resource);
    const int ret =
        placement->num_placement ? ttm_bo_do_validate(bo, placement, ctx) : ttm_bo_pipeline_gutting(bo);

    if (tracing()) [[unlikely]]
        trace_validate(bo, placement, before, ret);
    return ret;
}

int ttm_bo_init_reserved(ttm_device *bdev, ttm_buffer_object *bo, ttm_bo_type type,
                         const ttm_placement *placement, u32 alignment_pages, ttm_operation_ctx *ctx,
                         dma_resv *resv, void (*destroy)(ttm_buffer_object *))
{
    bo->kref = 1;
    bo->bdev = bdev;
    bo->type = type;
    bo->page_alignment = alignment_pages;
    bo->destroy = destroy;
    bo->pin_count = 0;
    bo->bulk_move = nullptr;
    bo->resv = resv ? resv : &bo->_resv;
    bdev->glob->bo_count++;

    if (!resv)
        ttm_warn_on(!dma_resv_trylock(*bo->resv, ctx->exec ? &ctx->exec->ticket() : nullptr),
                    "ttm_bo_init_reserved: locked");
    else
        dma_resv_assert_held(resv);

    const int ret = ttm_bo_validate(bo, placement, ctx);
    if (ret) {
        if (!resv)
            dma_resv_unlock(*bo->resv);
        ttm_bo_put(bo);
    }
    return ret;
}

int ttm_bo_init_validate(ttm_device *bdev, ttm_buffer_object *bo, ttm_bo_type type,
                         const ttm_placement *placement, u32 alignment_pages, bool interruptible,
                         dma_resv *resv, void (*destroy)(ttm_buffer_object *))
{
    ttm_operation_ctx ctx;
    ctx.interruptible = interruptible;

    const int ret = ttm_bo_init_reserved(bdev, bo, type, placement, alignment_pages, &ctx, resv, destroy);
    if (ret)
        return ret;

    if (!resv)
        ttm_bo_unreserve(bo);
    return 0;
}

int ttm_bo_wait_ctx(ttm_buffer_object *bo, ttm_operation_ctx *ctx)
{
    if (ctx->no_wait_gpu)
        return dma_resv_test_signaled(*bo->resv, dma_resv_usage::bookkeep) ? 0 : -EBUSY;

    return dma_resv_wait(*bo->resv, dma_resv_usage::bookkeep);
}

void ttm_bo_tt_destroy(ttm_buffer_object *bo)
{
    if (!bo->ttm)
        return;

    ttm_tt_unpopulate(bo->bdev, bo->ttm);
    ttm_tt_destroy(bo->bdev, bo->ttm);
    bo->ttm = nullptr;
}

int ttm_bo_populate(ttm_buffer_object *bo, ttm_operation_ctx *ctx)
{
    ttm_tt *tt = bo->ttm;

    dma_resv_assert_held(bo->resv);

    if (!tt)
        return 0;

    const bool swapped = ttm_tt_is_swapped(tt);
    const int ret = ttm_tt_populate(bo->bdev, tt, ctx);
    if (ret)
        return ret;

    // Evictable again, unless pinned.
    if (swapped && !ttm_tt_is_swapped(tt) && !bo->pin_count && bo->resource) {
        ttm_resource_add_bulk_move(bo->resource, bo);
        ttm_resource_move_to_lru_tail(bo->resource);
    }

    return 0;
}

int ttm_bo_setup_export(ttm_buffer_object *bo, ttm_operation_ctx *ctx)
{
    int ret = ttm_bo_reserve(bo, false, false, nullptr);
    if (ret)
        return ret;

    ret = ttm_bo_populate(bo, ctx);
    ttm_bo_unreserve(bo);
    return ret;
}

} // namespace vramlab::kmd
