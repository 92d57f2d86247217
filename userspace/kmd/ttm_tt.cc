// SPDX-License-Identifier: MIT
// See ttm_tt.h.
#include "kmd/ttm_tt.h"

#include "kmd/ttm_internal.h"

#include <utility>

namespace vramlab::kmd {

int ttm_tt_create(ttm_buffer_object *bo, bool zero_alloc)
{
    ttm_device *bdev = bo->bdev;
    u32 page_flags = 0;

    dma_resv_assert_held(bo->resv);

    if (bo->ttm)
        return 0;

    switch (bo->type) {
    case ttm_bo_type_device:
        if (zero_alloc)
            page_flags |= TTM_TT_FLAG_ZERO_ALLOC;
        break;
    case ttm_bo_type_kernel:
        break;
    case ttm_bo_type_sg:
        page_flags |= TTM_TT_FLAG_EXTERNAL;
        break;
    default:
        return -EINVAL;
    }

    bo->ttm = bdev->funcs->ttm_tt_create(bo, page_flags);
    if (!bo->ttm)
        return -ENOMEM;

    ttm_warn_on((bo->ttm->page_flags & TTM_TT_FLAG_EXTERNAL_MAPPABLE) &&
                    !(bo->ttm->page_flags & TTM_TT_FLAG_EXTERNAL),
                "ttm_tt_create: mappable but not external");
    return 0;
}

static void ttm_tt_init_fields(ttm_tt *tt, const ttm_buffer_object *bo, u32 page_flags, ttm_caching caching,
                               u32 extra_pages)
{
    tt->num_pages = static_cast<u32>((bo->size + PAGE_SIZE - 1) >> PAGE_SHIFT) + extra_pages;
    tt->page_flags = page_flags;
    tt->dma_address = false;
    tt->swap_storage = false;
    tt->caching = caching;
}

int ttm_tt_init(ttm_tt *tt, ttm_buffer_object *bo, u32 page_flags, ttm_caching caching, u32 extra_pages)
{
    ttm_tt_init_fields(tt, bo, page_flags, caching, extra_pages);
    tt->pages = true;
    return 0;
}

void ttm_tt_fini(ttm_tt *tt)
{
    ttm_warn_on(ttm_tt_is_populated(tt), "ttm_tt_fini: populated");
    tt->swap_storage = false;
    tt->pages = false;
    tt->dma_address = false;
}

int ttm_sg_tt_init(ttm_tt *tt, ttm_buffer_object *bo, u32 page_flags, ttm_caching caching)
{
    ttm_tt_init_fields(tt, bo, page_flags, caching, 0);
    tt->pages = !(page_flags & TTM_TT_FLAG_EXTERNAL);
    tt->dma_address = true;
    return 0;
}

void ttm_tt_destroy(ttm_device *bdev, ttm_tt *tt)
{
    bdev->funcs->ttm_tt_destroy(bdev, tt);
}

int ttm_tt_swapin(ttm_tt *tt)
{
    ttm_warn_on(!tt->swap_storage, "ttm_tt_swapin: no swap storage");
    tt->swap_storage = false;
    tt->page_flags &= ~TTM_TT_FLAG_SWAPPED;
    return 0;
}

int ttm_tt_swapout(ttm_device *bdev, ttm_tt *tt)
{
    ttm_tt_unpopulate(bdev, tt);
    tt->swap_storage = true;
    tt->page_flags |= TTM_TT_FLAG_SWAPPED;
    return static_cast<int>(tt->num_pages);
}

static void account_pages(ttm_device *bdev, const ttm_tt *tt, s64 sign)
{
    if (tt->page_flags & TTM_TT_FLAG_EXTERNAL)
        return;

    const u64 pages = static_cast<u64>(sign * s64{tt->num_pages});
    bdev->glob->pages_allocated += pages;
    if (bdev->pool.uses_dma32())
        bdev->glob->dma32_pages_allocated += pages;
}

int ttm_tt_populate(ttm_device *bdev, ttm_tt *tt, ttm_operation_ctx *ctx)
{
    int ret = 0;

    if (!tt)
        return -EINVAL;

    if (ttm_tt_is_populated(tt))
        return 0;

    // Counted before there are any, so that the swapout below makes room for them.
    account_pages(bdev, tt, 1);
    ttm_global *glob = bdev->glob;
    while (glob->pages_allocated > glob->pages_limit ||
           glob->dma32_pages_allocated > glob->dma32_pages_limit) {
        // Of pages, not of places: no part of the caller's transaction.
        drm_exec *exec = std::exchange(ctx->exec, nullptr);
        ret = ttm_global_swapout(glob, ctx);
        ctx->exec = exec;
        if (ret == 0)
            break;
        if (ret < 0) {
            account_pages(bdev, tt, -1);
            return ret;
        }
    }

    if (bdev->funcs->ttm_tt_populate)
        ret = bdev->funcs->ttm_tt_populate(bdev, tt, ctx);
    else
        ret = ttm_pool_alloc(&bdev->pool, tt, ctx);
    if (ret) {
        account_pages(bdev, tt, -1);
        return ret;
    }

    tt->page_flags |= TTM_TT_FLAG_PRIV_POPULATED;
    tt->page_flags &= ~TTM_TT_FLAG_BACKED_UP;
    if (tt->page_flags & TTM_TT_FLAG_SWAPPED)
        return ttm_tt_swapin(tt);
    return 0;
}

void ttm_tt_unpopulate(ttm_device *bdev, ttm_tt *tt)
{
    if (!ttm_tt_is_populated(tt))
        return;

    if (bdev->funcs->ttm_tt_unpopulate)
        bdev->funcs->ttm_tt_unpopulate(bdev, tt);
    else
        ttm_pool_free(&bdev->pool, tt);

    account_pages(bdev, tt, -1);
    tt->page_flags &= ~TTM_TT_FLAG_PRIV_POPULATED;
}

} // namespace vramlab::kmd
