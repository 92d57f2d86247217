// SPDX-License-Identifier: MIT
// See ttm_resource.h. Models ttm_resource.c, second half: what is asked of managers, and cursors over their
// LRU lists.
#include "kmd/dmem_cgroup.h"
#include "kmd/ttm_internal.h"
#include "kmd/ttm_resource.h"

namespace vramlab::kmd {

bool ttm_resource_intersects(ttm_device *bdev, ttm_resource *res, const ttm_place *place, u64 size_bytes)
{
    ttm_resource_manager *man = ttm_manager_type(bdev, res->mem_type);

    if (!place || !man->func->intersects)
        return true;

    return man->func->intersects(man, res, place, size_bytes);
}

bool ttm_resource_compatible(ttm_resource *res, const ttm_placement *placement, bool evicting)
{
    ttm_buffer_object *bo = res->bo;

    if (res->placement & TTM_PL_FLAG_TEMPORARY)
        return false;

    for (u32 i = 0; i < placement->num_placement; i++) {
        const ttm_place *place = &placement->placement[i];

        if (res->mem_type != place->mem_type)
            continue;

        if (place->flags & (evicting ? TTM_PL_FLAG_DESIRED : TTM_PL_FLAG_FALLBACK))
            continue;

        if ((place->flags & TTM_PL_FLAG_CONTIGUOUS) && !(res->placement & TTM_PL_FLAG_CONTIGUOUS))
            continue;

        ttm_resource_manager *man = ttm_manager_type(bo->bdev, res->mem_type);
        if (man->func->compatible && !man->func->compatible(man, res, place, bo->size))
            continue;

        return true;
    }
    return false;
}

void ttm_resource_manager_set_used(ttm_resource_manager *man, bool used)
{
    for (const list_head &lru : man->lru)
        ttm_warn_on(!list_empty(lru), "ttm_resource_manager_set_used: LRU not empty");
    man->use_type = used;
}

void ttm_resource_manager_cleanup(ttm_resource_manager *man)
{
    for (dma_fence *&fence : man->eviction_fences) {
        dma_fence_put(fence);
        fence = nullptr;
    }
}

void ttm_resource_manager_init(ttm_resource_manager *man, ttm_device *bdev, u64 size)
{
    man->bdev = bdev;
    man->size = size;
    man->usage = 0;
    for (list_head &lru : man->lru)
        lru.next = lru.prev = &lru;
    man->eviction_fences = {};
}

int ttm_resource_manager_evict_all(ttm_device *bdev, ttm_resource_manager *man)
{
    ttm_operation_ctx ctx;
    int ret;

    do {
        ret = ttm_bo_evict_first(bdev, man, &ctx);
    } while (!ret);

    if (ret != -ENOENT)
        return ret;

    for (u32 i = 0; i < TTM_NUM_MOVE_FENCES; i++) {
        // A reference, since waiting lets others replace it.
        fence_ref fence(man->eviction_fences[i]);
        if (!fence || dma_fence_is_signaled(*fence))
            continue;
        ret = dma_fence_wait(*fence);
        if (ret)
            return ret;
    }
    return 0;
}

u64 ttm_resource_manager_usage(const ttm_resource_manager *man)
{
    return man->usage;
}

void ttm_resource_manager_set_dmem_region(ttm_resource_manager *man, dmem_cgroup_region *region)
{
    man->cg = region;
}

int ttm_resource_manager_dmem_reclaim(dmem_cgroup_pool_state *pool, u64 target_bytes, void *priv)
{
    ttm_resource_manager *man = static_cast<ttm_resource_manager *>(priv);
    ttm_operation_ctx ctx;
    ctx.interruptible = true;

    s64 freed = ttm_bo_evict_cgroup(man->bdev, man, pool, static_cast<s64>(target_bytes), &ctx);
    if (freed < 0)
        return static_cast<int>(freed);

    return freed > 0 ? 0 : -ENOSPC;
}

void ttm_resource_cursor_check_bulk(ttm_resource_cursor *cursor, ttm_resource *next)
{
    ttm_lru_bulk_move *bulk = next->bo->bulk_move;

    if (cursor->bulk != bulk) {
        if (bulk) {
            list_move_tail(*cursor, bulk->cursor_list);
            cursor->mem_type = next->mem_type;
        } else {
            list_del_init(*cursor);
        }
        cursor->bulk = bulk;
    }
}

ttm_resource *ttm_resource_manager_first(ttm_resource_cursor *cursor)
{
    ttm_warn_on(!cursor->man, "ttm_resource_manager_first");

    list_move(cursor->hitch, cursor->man->lru[cursor->priority]);
    return ttm_resource_manager_next(cursor);
}

ttm_resource *ttm_resource_manager_next(ttm_resource_cursor *cursor)
{
    return ttm_resource_manager_next_where(cursor, ttm_lru_pass(nullptr),
                                           [](ttm_resource *) { return true; });
}

ttm_resource *ttm_lru_first_res_or_null(list_head *head)
{
    for (list_head *e = head->next; e != head; e = e->next) {
        ttm_lru_item *lru = static_cast<ttm_lru_item *>(e);
        if (ttm_lru_item_is_res(*lru))
            return ttm_lru_item_to_res(lru);
    }
    return nullptr;
}

} // namespace vramlab::kmd
