// SPDX-License-Identifier: GPL-2.0 OR MIT

#include <linux/dma-resv.h>
#include <linux/slab.h>

#include <drm/ttm/ttm_bo.h>
#include <drm/ttm/ttm_pool.h>
#include <drm/ttm/ttm_tt.h>

#include "vttm_drv.h"
#include "vttm_gem.h"
#include "vttm_mmap.h"
#include "vttm_prime.h"
#include "vttm_trace.h"
#include "vttm_ttm.h"
#include "vttm_vm.h"
#include "vttm_vram_range.h"

/**
 * struct vttm_tt - Pages of a BO in system memory
 */
struct vttm_tt {
	/** @base: Base class. */
	struct ttm_tt base;
	/** @bo: The BO, of which imported ones leave no ghosts. */
	struct vttm_bo *bo;
};

static struct vttm_tt *to_vttm_tt(struct ttm_tt *base)
{
	return container_of(base, struct vttm_tt, base);
}

static struct ttm_tt *vttm_ttm_tt_create(struct ttm_buffer_object *tbo,
					 u32 page_flags)
{
	struct vttm_tt *tt = kzalloc_obj(*tt);
	int ret;

	if (!tt)
		return NULL;

	if (page_flags & TTM_TT_FLAG_EXTERNAL) {
		tt->bo = to_vttm_bo(tbo);
		ret = ttm_sg_tt_init(&tt->base, tbo, page_flags, ttm_cached);
	} else {
		ret = ttm_tt_init(&tt->base, tbo, page_flags, ttm_cached, 0);
	}
	if (ret) {
		kfree(tt);
		return NULL;
	}

	return &tt->base;
}

static int vttm_ttm_tt_populate(struct ttm_device *bdev, struct ttm_tt *tt,
				struct ttm_operation_ctx *ctx)
{
	struct vttm_device *vdev = bdev_to_vttm_device(bdev);
	unsigned int i;

	if (tt->page_flags & TTM_TT_FLAG_EXTERNAL)
		return vttm_prime_map_import(to_vttm_tt(tt)->bo, tt);

	if (!vdev->config.no_contents)
		return ttm_pool_alloc(&bdev->pool, tt, ctx);

	for (i = 0; i < tt->num_pages; i++)
		tt->pages[i] = vdev->dummy_page;

	return 0;
}

static void vttm_ttm_tt_unpopulate(struct ttm_device *bdev, struct ttm_tt *tt)
{
	if (tt->page_flags & TTM_TT_FLAG_EXTERNAL)
		vttm_prime_unmap_import(to_vttm_tt(tt)->bo, tt);
	else if (!bdev_to_vttm_device(bdev)->config.no_contents)
		ttm_pool_free(&bdev->pool, tt);
}

static void vttm_ttm_tt_destroy(struct ttm_device *bdev, struct ttm_tt *tt)
{
	ttm_tt_fini(tt);
	kfree(to_vttm_tt(tt));
}

/* As amdgpu_evict_flags(). */
static void vttm_evict_flags(struct ttm_buffer_object *tbo,
			     struct ttm_placement *placement)
{
	static const struct ttm_place system = { .mem_type = TTM_PL_SYSTEM };
	struct vttm_bo *bo;

	if (!vttm_bo_is_vttm_bo(tbo)) {
		placement->placement = &system;
		placement->num_placement = 1;
		return;
	}

	bo = to_vttm_bo(tbo);
	if (tbo->resource->mem_type == TTM_PL_VRAM)
		vttm_bo_placement_from_domain(bo, DRM_VTTM_DOMAIN_GTT |
						  DRM_VTTM_DOMAIN_SYSTEM);
	else
		vttm_bo_placement_from_domain(bo, DRM_VTTM_DOMAIN_SYSTEM);

	*placement = bo->placement;
}

/* Called where amdgpu_bo_move_notify() is, that is before the move. */
static void move_notify(struct ttm_buffer_object *tbo, bool evict,
			struct ttm_resource *new_mem)
{
	struct vttm_device *vdev = bdev_to_vttm_device(tbo->bdev);
	struct ttm_resource *old_mem = tbo->resource;
	struct vttm_bo *bo;

	/* As amdgpu: a ghost isn't ours. */
	if (!vttm_bo_is_vttm_bo(tbo))
		return;

	bo = to_vttm_bo(tbo);
	if (evict && bo->vm)
		vttm_vm_bo_evicted(bo);

	vttm_prime_moving(bo);

	trace_vttm_bo_move(bo, old_mem, new_mem, evict);
	vttm_event_record(vdev, &(struct drm_vttm_event) {
		.type = DRM_VTTM_EVENT_MOVE,
		.time_ns = vttm_clock_now(vdev),
		.tag = bo->tag,
		.bytes = tbo->base.size,
		.vm = vttm_bo_vm_label(bo),
		.from = old_mem ? vttm_mem_type_to_domain(old_mem->mem_type) : 0,
		.to = vttm_mem_type_to_domain(new_mem->mem_type),
		.evict = evict,
		.task = vttm_lockstep_current_id(vdev),
	});

	WRITE_ONCE(bo->domain, vttm_mem_type_to_domain(new_mem->mem_type));
	/* In SYSTEM it keeps those it has had; an import has no mapping there. */
	WRITE_ONCE(bo->has_pages, new_mem->mem_type != TTM_PL_SYSTEM ||
		   (old_mem && old_mem->mem_type != TTM_PL_SYSTEM &&
		    tbo->type != ttm_bo_type_sg));
}

static void vttm_swap_notify(struct ttm_buffer_object *tbo)
{
	if (vttm_bo_is_vttm_bo(tbo))
		WRITE_ONCE(to_vttm_bo(tbo)->has_pages, false);
}

/* As amdgpu_move_blit(). */
static int move_copy(struct ttm_buffer_object *tbo, bool evict,
		     struct ttm_resource *new_mem)
{
	struct vttm_device *vdev = bdev_to_vttm_device(tbo->bdev);
	struct dma_fence *fence;
	int ret;

	fence = vttm_copy_move(to_vttm_bo(tbo), new_mem);
	if (IS_ERR(fence))
		return PTR_ERR(fence);

	ret = ttm_bo_move_accel_cleanup(tbo, fence, evict, true, new_mem);
	dma_fence_put(fence);
	if (ret)
		return ret;

	if (evict)
		atomic64_inc(&vdev->evictions);
	atomic64_add(tbo->base.size, &vdev->bytes_moved);
	return 0;
}

/* As amdgpu_bo_move(). */
static int vttm_bo_move(struct ttm_buffer_object *tbo, bool evict,
			struct ttm_operation_ctx *ctx,
			struct ttm_resource *new_mem, struct ttm_place *hop)
{
	struct ttm_resource *old_mem = tbo->resource;
	int ret;

	/* ttm_bo_evict_first() doesn't look again when it has waited for the lock. */
	if (evict && tbo->pin_count)
		return -EBUSY;

	if (!old_mem || (old_mem->mem_type == TTM_PL_SYSTEM && !tbo->ttm) ||
	    (old_mem->mem_type == TTM_PL_SYSTEM && new_mem->mem_type == TTM_PL_TT)) {
		move_notify(tbo, evict, new_mem);
		ttm_bo_move_null(tbo, new_mem);
		return 0;
	}

	if (old_mem->mem_type == TTM_PL_TT && new_mem->mem_type != TTM_PL_VRAM) {
		ret = ttm_bo_wait_ctx(tbo, ctx);
		if (ret)
			return ret;

		move_notify(tbo, evict, new_mem);
		/* Away from GTT an import has no mapping. */
		if (tbo->type == ttm_bo_type_sg)
			ttm_tt_unpopulate(tbo->bdev, tbo->ttm);
		ttm_resource_free(tbo, &tbo->resource);
		ttm_bo_assign_mem(tbo, new_mem);
		return 0;
	}

	if (new_mem->mem_type == TTM_PL_VRAM && old_mem->mem_type != TTM_PL_VRAM &&
	    vttm_bo_is_vttm_bo(tbo))
		to_vttm_bo(tbo)->cpu_access = false;

	if (old_mem->mem_type == TTM_PL_SYSTEM || new_mem->mem_type == TTM_PL_SYSTEM) {
		*hop = (struct ttm_place) {
			.mem_type = TTM_PL_TT,
			.flags = TTM_PL_FLAG_TEMPORARY,
		};
		return -EMULTIHOP;
	}

	move_notify(tbo, evict, new_mem);
	return move_copy(tbo, evict, new_mem);
}

static const struct ttm_device_funcs vttm_ttm_funcs = {
	.ttm_tt_create = vttm_ttm_tt_create,
	.ttm_tt_populate = vttm_ttm_tt_populate,
	.ttm_tt_unpopulate = vttm_ttm_tt_unpopulate,
	.ttm_tt_destroy = vttm_ttm_tt_destroy,
	.eviction_valuable = ttm_bo_eviction_valuable,
	.evict_flags = vttm_evict_flags,
	.move = vttm_bo_move,
	.swap_notify = vttm_swap_notify,
	.io_mem_reserve = vttm_io_mem_reserve,
	.io_mem_pfn = vttm_io_mem_pfn,
	.access_memory = vttm_access_memory,
#ifdef VTTM_THROTTLE
	.now_ns = vttm_throttle_now_ns,
#endif
#ifdef VTTM_RANGE
	.evict_weight = vttm_evict_weight,
#endif
};

/**
 * vttm_ttm_init() - Create the TTM device and its resource managers
 * @vdev: the device
 *
 * Return: 0, or a negative error code.
 */
int vttm_ttm_init(struct vttm_device *vdev)
{
	int ret;

	vdev->dummy_page = alloc_page(GFP_KERNEL | __GFP_ZERO);
	if (!vdev->dummy_page)
		return -ENOMEM;

	vttm_vram_store_init(&vdev->vram_store);

	ret = ttm_device_init(&vdev->bdev, &vttm_ttm_funcs, vdev->drm.dev,
			      vdev->drm.anon_inode->i_mapping,
			      vdev->drm.vma_offset_manager, 0);
	if (ret)
		goto err_page;

	ret = vttm_vram_mgr_init(vdev);
	if (ret)
		goto err_ttm;

	vttm_gtt_mgr_init(vdev);
	return 0;

err_ttm:
	ttm_device_fini(&vdev->bdev);
err_page:
	__free_page(vdev->dummy_page);
	return ret;
}

/**
 * vttm_ttm_fini() - Destroy the TTM device
 * @vdev: the device, which has no BOs
 */
void vttm_ttm_fini(struct vttm_device *vdev)
{
	vttm_gtt_mgr_fini(vdev);
	vttm_vram_mgr_fini(vdev);
	ttm_device_fini(&vdev->bdev);
	vttm_vram_store_fini(&vdev->vram_store);
	__free_page(vdev->dummy_page);
}
