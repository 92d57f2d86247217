// SPDX-License-Identifier: GPL-2.0 OR MIT

#include <linux/cgroup_dmem.h>
#include <linux/dma-fence.h>
#include <linux/list_sort.h>
#include <linux/sizes.h>
#include <linux/slab.h>

#include <drm/drm_drv.h>
#include <drm/drm_print.h>
#include <drm/ttm/ttm_bo.h>
#include <drm/ttm/ttm_placement.h>

#include "vttm_drv.h"
#include "vttm_throttle.h"
#include "vttm_gem.h"
#include "vttm_vram_range.h"

/* Blocks are at least this large if the size allows, as in amdgpu. */
#define VTTM_PAGES_PER_BLOCK	(SZ_2M >> PAGE_SHIFT)

static struct vttm_vram_mgr *to_vttm_vram_mgr(struct ttm_resource_manager *man)
{
	return container_of(man, struct vttm_vram_mgr, base);
}

static int compare_blocks(void *priv, const struct list_head *a,
			  const struct list_head *b)
{
	u64 offset_a = gpu_buddy_block_offset(list_entry(a, struct gpu_buddy_block, link));
	u64 offset_b = gpu_buddy_block_offset(list_entry(b, struct gpu_buddy_block, link));

	return offset_a > offset_b;
}

static bool blocks_adjoin(struct gpu_buddy *mm, struct list_head *blocks)
{
	struct gpu_buddy_block *block;
	u64 end = 0;

	list_for_each_entry(block, blocks, link) {
		if (!list_is_first(&block->link, blocks) &&
		    gpu_buddy_block_offset(block) != end)
			return false;
		end = gpu_buddy_block_offset(block) + gpu_buddy_block_size(mm, block);
	}

	return true;
}

/* The loop of amdgpu_vram_mgr_new(). */
static int alloc_blocks(struct vttm_vram_mgr *mgr, const struct ttm_place *place,
			u64 remaining, bool contiguous, struct list_head *blocks)
{
	u64 fpfn = (u64)place->fpfn << PAGE_SHIFT;
	u64 lpfn = (u64)place->lpfn << PAGE_SHIFT;
	u64 pages_per_block = VTTM_PAGES_PER_BLOCK;
	unsigned long flags = 0;
	int ret;

	lockdep_assert_held(&mgr->lock);

	if (!lpfn || lpfn > mgr->base.size)
		lpfn = mgr->base.size;

	if (place->flags & TTM_PL_FLAG_TOPDOWN)
		flags |= GPU_BUDDY_TOPDOWN_ALLOCATION;
	if (fpfn || lpfn != mgr->mm.size)
		flags |= GPU_BUDDY_RANGE_ALLOCATION;
	if (contiguous) {
		flags |= GPU_BUDDY_CONTIGUOUS_ALLOCATION;
		pages_per_block = ~0ULL;
	}

	while (remaining) {
		u64 block_size = pages_per_block << PAGE_SHIFT;
		u64 min_block_size = PAGE_SIZE;

		if (remaining >= block_size && !(remaining & (block_size - 1)))
			min_block_size = block_size;

		ret = gpu_buddy_alloc_blocks(&mgr->mm, fpfn, lpfn, remaining,
					     min_block_size, blocks, flags);
		if (ret == -ENOSPC && pages_per_block == ~0ULL &&
		    !(place->flags & TTM_PL_FLAG_CONTIGUOUS)) {
			/* One range would be nice, but isn't demanded. */
			flags &= ~GPU_BUDDY_CONTIGUOUS_ALLOCATION;
			pages_per_block = VTTM_PAGES_PER_BLOCK;
			continue;
		}
		if (ret)
			return ret;

		remaining = 0;
	}

	return 0;
}

/* As amdgpu_vram_mgr_new(). */
static int vttm_vram_mgr_alloc(struct ttm_resource_manager *man,
			       struct ttm_buffer_object *tbo,
			       const struct ttm_place *place,
			       struct ttm_resource **res)
{
	struct vttm_vram_mgr *mgr = to_vttm_vram_mgr(man);
	struct vttm_bo *bo = to_vttm_bo(tbo);
	struct vttm_vram_resource *vres;
	struct gpu_buddy_block *block;
	int ret;

	vres = kzalloc_obj(*vres);
	if (!vres)
		return -ENOMEM;

	INIT_LIST_HEAD(&vres->blocks);
	ttm_resource_init(tbo, place, &vres->base);

	if (ttm_resource_manager_usage(man) > man->size) {
		ret = -ENOSPC;
		goto err_fini;
	}

	mutex_lock(&mgr->lock);
	vttm_vram_open_claim(mgr, tbo);
	ret = alloc_blocks(mgr, place, vres->base.size,
			   bo->flags & DRM_VTTM_GEM_CONTIGUOUS, &vres->blocks);
	if (ret)
		gpu_buddy_free_list(&mgr->mm, &vres->blocks, 0);
	list_for_each_entry(block, &vres->blocks, link)
		block->private = vres;
	vttm_vram_close_claims(mgr);
	if (ret) {
		mutex_unlock(&mgr->lock);
		goto err_fini;
	}

	/*
	 * Their order makes no difference to the allocator. Unlike amdgpu take
	 * them for one range whatever order they were allocated in.
	 */
	list_sort(NULL, &vres->blocks, compare_blocks);
	if (blocks_adjoin(&mgr->mm, &vres->blocks))
		vres->base.placement |= TTM_PL_FLAG_CONTIGUOUS;
	mutex_unlock(&mgr->lock);

	vres->base.bus.caching = ttm_cached;
	*res = &vres->base;
	return 0;

err_fini:
	ttm_resource_fini(man, &vres->base);
	kfree(vres);
	return ret;
}

static void vttm_vram_mgr_free(struct ttm_resource_manager *man,
			       struct ttm_resource *res)
{
	struct vttm_vram_resource *vres = to_vttm_vram_resource(res);
	struct vttm_vram_mgr *mgr = to_vttm_vram_mgr(man);

	scoped_guard(mutex, &mgr->lock) {
		gpu_buddy_free_list(&mgr->mm, &vres->blocks, 0);
		vttm_vram_close_claims(mgr);
	}

	ttm_resource_fini(man, res);
	kfree(vres);
}

static bool vttm_vram_mgr_intersects(struct ttm_resource_manager *man,
				     struct ttm_resource *res,
				     const struct ttm_place *place, size_t size)
{
	struct vttm_vram_mgr *mgr = to_vttm_vram_mgr(man);
	struct gpu_buddy_block *block;

	list_for_each_entry(block, &to_vttm_vram_resource(res)->blocks, link) {
		u64 fpfn = gpu_buddy_block_offset(block) >> PAGE_SHIFT;
		u64 lpfn = fpfn + (gpu_buddy_block_size(&mgr->mm, block) >> PAGE_SHIFT);

		if (place->fpfn < lpfn && (!place->lpfn || place->lpfn > fpfn))
			return true;
	}

	return false;
}

static bool vttm_vram_mgr_compatible(struct ttm_resource_manager *man,
				     struct ttm_resource *res,
				     const struct ttm_place *place, size_t size)
{
	struct vttm_vram_mgr *mgr = to_vttm_vram_mgr(man);
	struct gpu_buddy_block *block;

	list_for_each_entry(block, &to_vttm_vram_resource(res)->blocks, link) {
		u64 fpfn = gpu_buddy_block_offset(block) >> PAGE_SHIFT;
		u64 lpfn = fpfn + (gpu_buddy_block_size(&mgr->mm, block) >> PAGE_SHIFT);

		if (fpfn < place->fpfn || (place->lpfn && lpfn > place->lpfn))
			return false;
	}

	return true;
}

static const struct ttm_resource_manager_func vttm_vram_mgr_func = {
	.alloc = vttm_vram_mgr_alloc,
	.free = vttm_vram_mgr_free,
	.intersects = vttm_vram_mgr_intersects,
	.compatible = vttm_vram_mgr_compatible,
#ifdef VTTM_RANGE
	.claim_range = vttm_vram_claim_range,
	.unclaim_range = vttm_vram_unclaim_range,
	.range_first = vttm_vram_range_first,
#endif
};

static int vttm_vram_mgr_reclaim(struct dmem_cgroup_pool_state *pool,
				 u64 target_bytes, void *priv)
{
	struct vttm_vram_mgr *mgr = priv;
	struct vttm_device *vdev = container_of(mgr, struct vttm_device, vram_mgr);
	int ret, idx;

	if (!drm_dev_enter(&vdev->drm, &idx))
		return -ENODEV;

	ret = ttm_resource_manager_dmem_reclaim(pool, target_bytes, &mgr->base);
	drm_dev_exit(idx);

	return ret;
}

static const struct dmem_cgroup_ops vttm_vram_mgr_dmem_ops = {
	.reclaim = vttm_vram_mgr_reclaim,
};

/**
 * vttm_vram_mgr_init() - Create the resource manager of video memory
 * @vdev: the device; its configuration says how large
 *
 * Return: 0, or a negative error code.
 */
int vttm_vram_mgr_init(struct vttm_device *vdev)
{
	struct vttm_vram_mgr *mgr = &vdev->vram_mgr;
	struct dmem_cgroup_region *region;
	int ret;

	ttm_resource_manager_init(&mgr->base, &vdev->bdev, vdev->config.vram_size);
	mgr->base.func = &vttm_vram_mgr_func;
	vttm_throttle_init_mgr(&mgr->base);
	mutex_init(&mgr->lock);
#ifdef VTTM_RANGE
	INIT_LIST_HEAD(&mgr->claims);
	memset(&mgr->range_stats, 0, sizeof(mgr->range_stats));
#endif
	memset(&mgr->mm, 0, sizeof(mgr->mm));

	ret = gpu_buddy_init(&mgr->mm, mgr->base.size, PAGE_SIZE);
	if (ret)
		return ret;
	gpu_buddy_driver_set_lock(&mgr->mm, &mgr->lock);

	region = dmem_cgroup_register_region(&(struct dmem_cgroup_init) {
		.size = mgr->base.size,
		.ops = &vttm_vram_mgr_dmem_ops,
		.reclaim_priv = mgr,
	}, "drm/%s/vram", vdev->drm.unique);
	if (IS_ERR(region)) {
		scoped_guard(mutex, &mgr->lock)
			gpu_buddy_fini(&mgr->mm);
		return PTR_ERR(region);
	}

	mgr->region = region;
	ttm_resource_manager_set_dmem_region(&mgr->base, region);
	ttm_set_driver_manager(&vdev->bdev, TTM_PL_VRAM, &mgr->base);
	ttm_resource_manager_set_used(&mgr->base, true);
	return 0;
}

/**
 * vttm_vram_mgr_fini() - Destroy the resource manager of video memory
 * @vdev: the device, which has no BOs
 *
 * Does nothing if there is none.
 */
void vttm_vram_mgr_fini(struct vttm_device *vdev)
{
	struct vttm_vram_mgr *mgr = &vdev->vram_mgr;
	int ret;

	/* A reset has failed. */
	if (!ttm_manager_type(&vdev->bdev, TTM_PL_VRAM))
		return;

	ttm_resource_manager_set_used(&mgr->base, false);
	ret = ttm_resource_manager_evict_all(&vdev->bdev, &mgr->base);
	drm_WARN_ON(&vdev->drm, ret);

	/* Drains reclaim, so afterwards nobody uses the manager. */
	dmem_cgroup_unregister_region(mgr->region);
	mgr->region = NULL;
	ttm_resource_manager_set_dmem_region(&mgr->base, NULL);

	scoped_guard(mutex, &mgr->lock)
		gpu_buddy_fini(&mgr->mm);
	ttm_resource_manager_cleanup(&mgr->base);
	ttm_set_driver_manager(&vdev->bdev, TTM_PL_VRAM, NULL);
	mutex_destroy(&mgr->lock);
}

/**
 * vttm_vram_mgr_num_moves() - Evictions that are still under way
 * @mgr: the manager
 *
 * Return: number of eviction fences that aren't signaled.
 */
unsigned int vttm_vram_mgr_num_moves(struct vttm_vram_mgr *mgr)
{
	unsigned int i, num = 0;

	guard(spinlock)(&mgr->base.eviction_lock);
	for (i = 0; i < TTM_NUM_MOVE_FENCES; i++) {
		struct dma_fence *fence = mgr->base.eviction_fences[i];

		if (fence && !dma_fence_is_signaled(fence))
			num++;
	}

	return num;
}

/* The block after @block and all of its children. */
static struct gpu_buddy_block *next_block(struct gpu_buddy_block *block)
{
	while (block->parent && block == block->parent->right)
		block = block->parent;

	return block->parent ? block->parent->right : NULL;
}

/**
 * vttm_vram_mgr_print_free() - Print the free blocks by offset
 * @mgr: the manager
 * @p: the printer
 */
void vttm_vram_mgr_print_free(struct vttm_vram_mgr *mgr, struct drm_printer *p)
{
	unsigned int i;

	guard(mutex)(&mgr->lock);
	for (i = 0; i < mgr->mm.n_roots; i++) {
		struct gpu_buddy_block *block = mgr->mm.roots[i];

		while (block) {
			if ((block->header & GPU_BUDDY_HEADER_STATE) == GPU_BUDDY_SPLIT) {
				block = block->left;
				continue;
			}

			if (gpu_buddy_block_is_free(block))
				drm_printf(p, " %llu+%llu",
					   gpu_buddy_block_offset(block),
					   gpu_buddy_block_size(&mgr->mm, block));
			block = next_block(block);
		}
	}
}
