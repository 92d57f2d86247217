// SPDX-License-Identifier: MIT
// See ttm_bo.h. Models the part of ttm_bo.c that swaps out BOs under pressure on system memory.
#include "kmd/ttm_internal.h"

namespace vramlab::kmd {

static s64 ttm_bo_swapout_move_to_system(ttm_buffer_object *bo, ttm_operation_ctx *ctx)
{
    const ttm_place place{0, 0, TTM_PL_SYSTEM, 0};
    ttm_resource *evict_mem = nullptr;
    ttm_place hop;

    int ret = ttm_resource_alloc(bo, &place, &evict_mem, nullptr);
    if (ret)
        return ret;

    ret = ttm_bo_handle_move_mem(bo, evict_mem, true, ctx, &hop);
    if (ret) {
        ttm_warn_on(ret == -EMULTIHOP, "ttm_bo_swapout_cb: multihop");
        ttm_resource_free(bo, &evict_mem);
    }
    return ret;
}

static s64 ttm_bo_do_swapout(ttm_buffer_object *bo, ttm_operation_ctx *ctx)
{
    const ttm_place place{0, 0, bo->resource->mem_type, 0};
    ttm_device *bdev = bo->bdev;
    ttm_tt *tt = bo->ttm;
    s64 ret;

    if (bo->pin_count || !bdev->funcs->eviction_valuable(bo, &place))
        return -EBUSY;

    if (!tt || !ttm_tt_is_populated(tt) || (tt->page_flags & (TTM_TT_FLAG_EXTERNAL | TTM_TT_FLAG_SWAPPED)))
        return -EBUSY;

    if (bo->deleted) {
        const u32 num_pages = tt->num_pages;

        ret = ttm_bo_wait_ctx(bo, ctx);
        if (ret)
            return ret;

        ttm_bo_cleanup_memtype_use(bo);
        return num_pages;
    }

    if (bo->resource->mem_type != TTM_PL_SYSTEM) {
        ret = ttm_bo_swapout_move_to_system(bo, ctx);
        if (ret)
            return ret;
    }

    ret = ttm_bo_wait_ctx(bo, ctx);
    if (ret)
        return ret;

    if (bdev->funcs->swap_notify)
        bdev->funcs->swap_notify(bo);

    if (ttm_tt_is_populated(tt)) {
        ret = ttm_tt_swapout(bdev, tt);
        if (ret > 0) {
            ttm_resource_del_bulk_move_unevictable(bo->resource, bo);
            ttm_resource_move_to_lru_tail(bo->resource);
        }
    }
    return ret;
}

static s64 ttm_bo_swapout_cb(ttm_lru_walk *walk, ttm_buffer_object *bo)
{
    const s64 ret = ttm_bo_do_swapout(bo, walk->arg.ctx);

    if (ret == -ENOMEM || ret == -ENOSPC) {
        ttm_trace_converted(bo, static_cast<int>(ret), -EBUSY, "ttm_bo_swapout_cb");
        return -EBUSY;
    }
    return ret;
}

static const ttm_lru_walk_ops ttm_swap_ops = {.process_bo = ttm_bo_swapout_cb};

s64 ttm_bo_swapout(ttm_device *bdev, ttm_operation_ctx *ctx, ttm_resource_manager *man, s64 target_pages)
{
    ttm_lru_walk walk;
    walk.ops = &ttm_swap_ops;
    walk.arg.ctx = ctx;
    walk.arg.trylock_only = true;

    return ttm_lru_walk_for_evict(&walk, bdev, man, target_pages);
}

} // namespace vramlab::kmd
