/* SPDX-License-Identifier: GPL-2.0 OR MIT */
#ifndef _VTTM_VRAM_MGR_H_
#define _VTTM_VRAM_MGR_H_

#include <linux/gpu_buddy.h>
#include <linux/mutex.h>

#include <drm/ttm/ttm_resource.h>
#ifdef VTTM_RANGE
#include <drm/ttm/ttm_range.h>
#endif

struct dmem_cgroup_region;
struct drm_printer;
struct vttm_device;

/**
 * struct vttm_vram_mgr - Resource manager of video memory
 */
struct vttm_vram_mgr {
	/** @base: Base class. */
	struct ttm_resource_manager base;
	/** @mm: The allocator. Protected by @lock. */
	struct gpu_buddy mm;
	/** @lock: Protects @mm and the block lists of resources. */
	struct mutex lock;
	/** @region: dmem control group region. */
	struct dmem_cgroup_region *region;
#ifdef VTTM_RANGE
	/** @claims: Ranges in which TTM makes room, disjoint. Protected by @lock. */
	struct list_head claims;
	/** @range_stats: For debugfs. Protected by @lock. */
	struct {
		/** @range_stats.requests: Allocations that needed a range emptied. */
		u64 requests;
		/** @range_stats.searches: Searches for that, at least one each. */
		u64 searches;
		/** @range_stats.failed: Those that found none. */
		u64 failed;
	} range_stats;
#endif
};

/**
 * struct vttm_vram_resource - Where a BO is in video memory
 */
struct vttm_vram_resource {
	/** @base: Base class. */
	struct ttm_resource base;
	/** @blocks: Blocks of the allocator, by offset; @private of each is this. */
	struct list_head blocks;
#ifdef VTTM_RANGE
	/** @hint: For choosing a range. */
	struct ttm_range_hint hint;
#endif
};

static inline struct vttm_vram_resource *
to_vttm_vram_resource(struct ttm_resource *res)
{
	return container_of(res, struct vttm_vram_resource, base);
}

int vttm_vram_mgr_init(struct vttm_device *vdev);
void vttm_vram_mgr_fini(struct vttm_device *vdev);
unsigned int vttm_vram_mgr_num_moves(struct vttm_vram_mgr *mgr);
void vttm_vram_mgr_print_free(struct vttm_vram_mgr *mgr, struct drm_printer *p);

#endif
