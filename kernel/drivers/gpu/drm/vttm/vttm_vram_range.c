// SPDX-License-Identifier: GPL-2.0 OR MIT
/* vramlab-needs: 15 */

/**
 * DOC: Contiguous ranges of video memory
 *
 * What is scanned out has to be one range. TTM asks for the range in which
 * making room costs least (see ttm_range.c), evicts what is in the way there,
 * and allocates it. Meanwhile the free parts of the range are allocated for the
 * claim: they are blocks that belong to no resource.
 *
 * A BO that has been scanned out is dearer than others: it is about to be shown
 * again, and needs a range itself then.
 *
 * How often that happens is in debugfs, as vttm_range.
 */

#include <linux/seq_file.h>

#include <drm/drm_debugfs.h>
#include <drm/ttm/ttm_range.h>

#include "vttm_drv.h"
#include "vttm_gem.h"
#include "vttm_vram_range.h"

/* Weight of what has been scanned out, others have 1. */
#define VTTM_WEIGHT_SCANOUT	4

static struct vttm_vram_mgr *to_vttm_vram_mgr(struct ttm_resource_manager *man)
{
	return container_of(man, struct vttm_vram_mgr, base);
}

/* The block that an address is in, which isn't split. */
static struct gpu_buddy_block *block_at(struct vttm_vram_mgr *mgr, u64 addr)
{
	struct gpu_buddy *mm = &mgr->mm;
	struct gpu_buddy_block *block = mm->roots[0];
	unsigned int i;

	lockdep_assert_held(&mgr->lock);

	for (i = 1; addr >= gpu_buddy_block_offset(block) + gpu_buddy_block_size(mm, block); i++)
		block = mm->roots[i];

	while ((block->header & GPU_BUDDY_HEADER_STATE) == GPU_BUDDY_SPLIT)
		block = addr < gpu_buddy_block_offset(block->right) ? block->left : block->right;

	return block;
}

static void extent_at(struct ttm_resource_manager *man, u64 page, struct ttm_range_extent *extent)
{
	struct vttm_vram_mgr *mgr = to_vttm_vram_mgr(man);
	struct gpu_buddy_block *block = block_at(mgr, page << PAGE_SHIFT);
	struct vttm_vram_resource *vres = NULL;

	if ((block->header & GPU_BUDDY_HEADER_STATE) == GPU_BUDDY_ALLOCATED)
		vres = block->private;

	extent->start = gpu_buddy_block_offset(block) >> PAGE_SHIFT;
	extent->end = extent->start + (gpu_buddy_block_size(&mgr->mm, block) >> PAGE_SHIFT);
	extent->res = vres ? &vres->base : NULL;
	extent->hint = vres ? &vres->hint : NULL;
}

/*
 * Allocate what is free in a claimed range. What can't be, for lack of memory,
 * may be taken by others, and then TTM looks for another range.
 */
static void take_free_parts(struct vttm_vram_mgr *mgr, struct ttm_range_claim *claim)
{
	u64 end = claim->range.lpfn << PAGE_SHIFT;
	u64 at = claim->range.fpfn << PAGE_SHIFT;
	struct gpu_buddy_block *block;

	while (at < end) {
		u64 to;

		block = block_at(mgr, at);
		to = min(gpu_buddy_block_offset(block) + gpu_buddy_block_size(&mgr->mm, block),
			 end);
		if (gpu_buddy_block_is_free(block))
			gpu_buddy_alloc_blocks(&mgr->mm, at, to, to - at, PAGE_SIZE,
					       &claim->blocks, GPU_BUDDY_RANGE_ALLOCATION);
		at = to;
	}

	list_for_each_entry(block, &claim->blocks, link)
		block->private = NULL;
}

/**
 * vttm_vram_open_claim() - Free what is claimed for a BO
 * @mgr: the manager, with its lock held
 * @tbo: the BO, for which memory is about to be allocated
 *
 * To be followed by vttm_vram_close_claims().
 */
void vttm_vram_open_claim(struct vttm_vram_mgr *mgr, struct ttm_buffer_object *tbo)
{
	struct ttm_range_claim *claim;

	lockdep_assert_held(&mgr->lock);

	list_for_each_entry(claim, &mgr->claims, link)
		if (claim->bo == tbo)
			gpu_buddy_free_list(&mgr->mm, &claim->blocks, 0);
}

/**
 * vttm_vram_close_claims() - Keep others out of what is claimed
 * @mgr: the manager, with its lock held
 *
 * To be called after memory was freed.
 */
void vttm_vram_close_claims(struct vttm_vram_mgr *mgr)
{
	struct ttm_range_claim *claim;

	lockdep_assert_held(&mgr->lock);

	list_for_each_entry(claim, &mgr->claims, link)
		take_free_parts(mgr, claim);
}

/**
 * vttm_vram_claim_range() - Choose a range and claim it
 * @man: the manager
 * @claim: what is needed
 *
 * Return: 0, or -ENOSPC if no range can be emptied.
 */
int vttm_vram_claim_range(struct ttm_resource_manager *man, struct ttm_range_claim *claim)
{
	struct vttm_vram_mgr *mgr = to_vttm_vram_mgr(man);
	int ret;

	guard(mutex)(&mgr->lock);
	if (claim->searches == 1)
		mgr->range_stats.requests++;
	mgr->range_stats.searches++;

	ret = ttm_range_choose(claim, man, mgr->mm.size >> PAGE_SHIFT, &mgr->claims, extent_at);
	if (ret) {
		mgr->range_stats.failed++;
		return ret;
	}

	INIT_LIST_HEAD(&claim->blocks);
	list_add_tail(&claim->link, &mgr->claims);
	take_free_parts(mgr, claim);
	return 0;
}

/**
 * vttm_vram_unclaim_range() - Give up a claim
 * @man: the manager
 * @claim: the claim
 */
void vttm_vram_unclaim_range(struct ttm_resource_manager *man, struct ttm_range_claim *claim)
{
	struct vttm_vram_mgr *mgr = to_vttm_vram_mgr(man);

	guard(mutex)(&mgr->lock);
	gpu_buddy_free_list(&mgr->mm, &claim->blocks, 0);
	list_del(&claim->link);
}

/**
 * vttm_vram_range_first() - What is in the way in a claimed range
 * @man: the manager
 * @claim: the claim
 * @res: set to the resource with the lowest address, or NULL
 *
 * Return: its BO with a reference, or NULL, see ttm_range_first().
 */
struct ttm_buffer_object *vttm_vram_range_first(struct ttm_resource_manager *man,
						struct ttm_range_claim *claim,
						struct ttm_resource **res)
{
	guard(mutex)(&to_vttm_vram_mgr(man)->lock);
	return ttm_range_first(claim, man, res, extent_at);
}

/**
 * vttm_evict_weight() - How much dearer than others it is to evict a BO
 * @tbo: the BO, or a ghost; not locked
 *
 * Return: the weight, 1 for most.
 */
unsigned int vttm_evict_weight(struct ttm_buffer_object *tbo)
{
	if (!vttm_bo_is_vttm_bo(tbo))
		return 1;

	return READ_ONCE(to_vttm_bo(tbo)->flags) & DRM_VTTM_GEM_CONTIGUOUS ?
	       VTTM_WEIGHT_SCANOUT : 1;
}

static int vttm_debugfs_range(struct seq_file *m, void *data)
{
	struct drm_debugfs_entry *entry = m->private;
	struct vttm_vram_mgr *mgr = &to_vttm_device(entry->dev)->vram_mgr;

	guard(mutex)(&mgr->lock);
	seq_printf(m, "requests %llu\n", mgr->range_stats.requests);
	seq_printf(m, "searches %llu\n", mgr->range_stats.searches);
	seq_printf(m, "failed %llu\n", mgr->range_stats.failed);
	return 0;
}

/**
 * vttm_vram_range_debugfs_init() - Add our file to debugfs
 * @vdev: the device, not registered yet
 */
void vttm_vram_range_debugfs_init(struct vttm_device *vdev)
{
	drm_debugfs_add_file(&vdev->drm, "vttm_range", vttm_debugfs_range, NULL);
}
