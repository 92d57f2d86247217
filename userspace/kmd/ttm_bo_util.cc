// SPDX-License-Identifier: MIT
// See ttm_bo.h. Models ttm_bo_util.c: what drivers end a move with, and ghosts. The LRU walk is in
// ttm_bo_walk.cc.
#include "kmd/slab.h"
#include "kmd/ttm_internal.h"

#include <utility>

namespace vramlab::kmd {

namespace {
// A ghost: holds the old memory of bo until a fence. Keeps a reference to bo.
struct ttm_transfer_obj final : ttm_buffer_object {
    static void *operator new(std::size_t size_bytes) { return slab<ttm_transfer_obj>::get(size_bytes); }
    static void operator delete(void *p) { slab<ttm_transfer_obj>::put(p); }

    ttm_buffer_object *bo = nullptr;
};
} // namespace

static void ttm_transfered_destroy(ttm_buffer_object *ghost)
{
    ttm_transfer_obj *fbo = static_cast<ttm_transfer_obj *>(ghost);
    ttm_bo_put(fbo->bo);
    delete fbo;
}

const ttm_buffer_object *ttm_bo_ghost_of(const ttm_buffer_object *bo)
{
    if (bo->destroy != &ttm_transfered_destroy)
        return nullptr;
    return static_cast<const ttm_transfer_obj *>(bo)->bo;
}

void ttm_bo_assign_mem(ttm_buffer_object *bo, ttm_resource *new_mem)
{
    ttm_warn_on(bo->resource, "ttm_bo_assign_mem: has a resource");
    bo->resource = new_mem;
}

void ttm_bo_move_null(ttm_buffer_object *bo, ttm_resource *new_mem)
{
    ttm_resource_free(bo, &bo->resource);
    ttm_bo_assign_mem(bo, new_mem);
}

// There are no contents to copy.
int ttm_bo_move_memcpy(ttm_buffer_object *bo, ttm_operation_ctx *ctx, ttm_resource *dst_mem)
{
    ttm_warn_on(!bo->resource, "ttm_bo_move_memcpy: no resource");

    const ttm_resource_manager *dst_man = ttm_manager_type(bo->bdev, dst_mem->mem_type);
    if (bo->ttm && ((bo->ttm->page_flags & TTM_TT_FLAG_SWAPPED) || dst_man->use_tt)) {
        int ret = ttm_bo_populate(bo, ctx);
        if (ret)
            return ret;
    }
    ttm_bo_move_sync_cleanup(bo, dst_mem);
    return 0;
}

// The new object is locked. Its resource, if any, is bo's; its ttm is bo's too, of which the caller takes one
// away.
int ttm_buffer_object_transfer(ttm_buffer_object *bo, ttm_buffer_object **new_obj)
{
    ttm_transfer_obj *fbo = new ttm_transfer_obj;

    fbo->size = bo->size;
    fbo->bdev = bo->bdev;
    fbo->resource = bo->resource;
    fbo->ttm = bo->ttm;
    fbo->bulk_move = bo->bulk_move;
    fbo->page_alignment = bo->page_alignment;
    fbo->type = bo->type;
    fbo->priority = bo->priority;
    fbo->deleted = bo->deleted;
    fbo->bulk_priority = bo->bulk_priority;

    bo->bdev->glob->bo_count++;

    fbo->kref = 1;
    fbo->destroy = &ttm_transfered_destroy;
    fbo->resv = bo->type != ttm_bo_type_sg ? &fbo->_resv : bo->resv;

    ttm_warn_on(!dma_resv_trylock(fbo->_resv), "ttm_buffer_object_transfer");
    int ret = dma_resv_reserve_fences(fbo->_resv, TTM_NUM_MOVE_FENCES);
    if (ret) {
        dma_resv_unlock(fbo->_resv);
        delete fbo;
        return ret;
    }

    if (fbo->resource) {
        ttm_resource_set_bo(fbo->resource, fbo);
        bo->resource = nullptr;
        ttm_bo_set_bulk_move(fbo, nullptr);
    } else {
        fbo->bulk_move = nullptr;
    }

    ttm_bo_get(bo);
    fbo->bo = bo;

    ttm_bo_move_to_lru_tail_unlocked(fbo);

    *new_obj = fbo;
    return 0;
}

static int ttm_bo_wait_free_node(ttm_buffer_object *bo, bool dst_use_tt)
{
    const int ret = dma_resv_wait(*bo->resv, dma_resv_usage::bookkeep);
    if (ret)
        return ret;

    if (!dst_use_tt)
        ttm_bo_tt_destroy(bo);
    ttm_resource_free(bo, &bo->resource);
    return 0;
}

static int ttm_bo_move_to_ghost(ttm_buffer_object *bo, dma_fence *fence, bool dst_use_tt)
{
    ttm_buffer_object *ghost_obj;

    const int ret = ttm_buffer_object_transfer(bo, &ghost_obj);
    if (ret)
        return ret;

    dma_resv_add_fence(ghost_obj->_resv, *fence, dma_resv_usage::kernel);

    // The ttm stays where the pages are needed: with bo, or, until they have been copied from, with the
    // ghost.
    if (dst_use_tt)
        ghost_obj->ttm = nullptr;
    else
        bo->ttm = nullptr;

    dma_resv_unlock(ghost_obj->_resv);
    ttm_bo_put(ghost_obj);
    return 0;
}

// Fixed memory without a ttm: it is free at once, and whoever gets it next waits for the fence.
static void ttm_bo_move_pipeline_evict(ttm_buffer_object *bo, dma_fence *fence)
{
    ttm_resource_manager *from = ttm_manager_type(bo->bdev, bo->resource->mem_type);

    u32 i;
    for (i = 0; i < TTM_NUM_MOVE_FENCES; i++) {
        dma_fence *tmp = from->eviction_fences[i];
        if (!tmp)
            break;
        if (fence->context != tmp->context)
            continue;
        if (dma_fence_is_later(*fence, *tmp)) {
            dma_fence_put(tmp);
            break;
        }
        ttm_resource_free(bo, &bo->resource);
        return;
    }
    if (i < TTM_NUM_MOVE_FENCES)
        from->eviction_fences[i] = dma_fence_get(fence);
    else // more contexts than slots; the kernel warns
        dma_fence_wait(*fence);

    ttm_resource_free(bo, &bo->resource);
}

int ttm_bo_move_accel_cleanup(ttm_buffer_object *bo, dma_fence *fence, bool evict, bool pipeline,
                              ttm_resource *new_mem)
{
    ttm_resource_manager *from = ttm_manager_type(bo->bdev, bo->resource->mem_type);
    ttm_resource_manager *man = ttm_manager_type(bo->bdev, new_mem->mem_type);
    int ret = 0;

    dma_resv_add_fence(*bo->resv, *fence, dma_resv_usage::kernel);
    if (!evict)
        ret = ttm_bo_move_to_ghost(bo, fence, man->use_tt);
    else if (!from->use_tt && pipeline)
        ttm_bo_move_pipeline_evict(bo, fence);
    else
        ret = ttm_bo_wait_free_node(bo, man->use_tt);

    if (ret)
        return ret;

    ttm_bo_assign_mem(bo, new_mem);
    return 0;
}

void ttm_bo_move_sync_cleanup(ttm_buffer_object *bo, ttm_resource *new_mem)
{
    const ttm_resource_manager *man = ttm_manager_type(bo->bdev, new_mem->mem_type);

    ttm_warn_on(ttm_bo_wait_free_node(bo, man->use_tt) != 0, "ttm_bo_move_sync_cleanup");
    ttm_bo_assign_mem(bo, new_mem);
}

int ttm_bo_pipeline_gutting(ttm_buffer_object *bo)
{
    if (dma_resv_test_signaled(*bo->resv, dma_resv_usage::bookkeep)) {
        if (!bo->ttm) {
            int ret = ttm_tt_create(bo, true);
            if (ret)
                return ret;
        } else {
            ttm_tt_unpopulate(bo->bdev, bo->ttm);
            if (bo->type == ttm_bo_type_device)
                ttm_tt_mark_for_clear(bo->ttm);
        }
        ttm_resource_free(bo, &bo->resource);
        return 0;
    }

    // A new ttm for bo first, since failing after the old one has gone to the ghost is no option.
    ttm_tt *ttm = std::exchange(bo->ttm, nullptr);
    int ret = ttm_tt_create(bo, true);
    std::swap(bo->ttm, ttm);
    if (ret)
        return ret;

    ttm_buffer_object *ghost;
    ret = ttm_buffer_object_transfer(bo, &ghost);
    if (ret) {
        ttm_tt_destroy(bo->bdev, ttm);
        return ret;
    }

    if (dma_resv_copy_fences(ghost->_resv, *bo->resv))
        dma_resv_wait(*bo->resv, dma_resv_usage::bookkeep);

    dma_resv_unlock(ghost->_resv);
    ttm_bo_put(ghost);
    bo->ttm = ttm;
    return 0;
}

} // namespace vramlab::kmd
