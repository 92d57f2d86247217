/* SPDX-License-Identifier: GPL-2.0 OR MIT */
#ifndef _VTTM_COPY_H_
#define _VTTM_COPY_H_

#include <linux/mutex.h>

#include <drm/gpu_scheduler.h>

struct dma_fence;
struct ttm_resource;
struct vttm_bo;
struct vttm_device;

/**
 * struct vttm_copy - Copies and fills
 */
struct vttm_copy {
	/** @entity: The one entity that they are queued on. */
	struct drm_sched_entity entity;
	/** @lock: Keeps arming and pushing together. */
	struct mutex lock;
	/** @lost: @entity could not be created again. */
	bool lost;
};

int vttm_copy_init(struct vttm_device *vdev);
void vttm_copy_fini(struct vttm_device *vdev);
bool vttm_copy_probe_fifo(struct vttm_device *vdev);

struct dma_fence *vttm_copy_move(struct vttm_bo *bo, struct ttm_resource *to);
struct dma_fence *vttm_copy_fill(struct vttm_bo *bo);

#endif
