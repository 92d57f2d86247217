/* SPDX-License-Identifier: GPL-2.0 OR MIT */
#ifndef _VTTM_VM_H_
#define _VTTM_VM_H_

#include <linux/list.h>
#include <linux/spinlock.h>
#include <linux/xarray.h>

#include <drm/gpu_scheduler.h>
#include <drm/ttm/ttm_resource.h>

#include "vttm_engine.h"
#include "vttm_throttle.h"

struct drm_device;
struct drm_file;
struct vttm_bo;
struct vttm_ctx;
struct vttm_device;
struct vttm_root;

/**
 * struct vttm_vm - Virtual memory of a file: what all its submissions can use
 */
struct vttm_vm {
	/** @vdev: The device. */
	struct vttm_device *vdev;
	/** @node: Link in &vttm_device.vms. */
	struct list_head node;
	/** @root: Owner of the reservation object of private BOs. */
	struct vttm_root *root;
	/** @owner: Owner of jobs, see &drm_sched_fence.owner. Not a pointer. */
	void *owner;
	/** @ctx: What its jobs refer to. A reset replaces it. */
	struct vttm_ctx *ctx;
	/** @bulk_move: Private BOs, which move in the LRU together. */
	struct ttm_lru_bulk_move bulk_move;
	/**
	 * @evicted: Private BOs that the next submission validates, from the
	 * last list to the first, see vttm_priority_level(). Changes under the
	 * resv and @evicted_lock.
	 */
	struct list_head evicted[DRM_VTTM_PRIORITY_MAX + 1];
	/** @evicted_lock: Protects @evicted from those without the resv. */
	spinlock_t evicted_lock;
	/** @as_owner: It as an owner of BOs, for TTM. */
	struct vttm_owner as_owner;
	/** @entities: Queues of jobs, by enum drm_vttm_engine. Under the resv. */
	struct drm_sched_entity entities[VTTM_NUM_USER_ENGINES];
	/** @lost: @entities could not be created again. */
	bool lost;
	/** @seqno: Number of submissions. Under the resv. */
	u64 seqno;
	/** @first_seqno: No fence in @fences is older. Under the resv. */
	u64 first_seqno;
	/** @fences: Fences of submissions that may be unfinished, by number. */
	struct xarray fences;
	/** @bos: struct vttm_vm_bo of BOs with a handle, by address. */
	struct xarray bos;
};

/**
 * struct vttm_vm_bo - What a file has of a BO; under the lock of the array
 */
struct vttm_vm_bo {
	/** @handles: Number of handles. */
	unsigned int handles;
	/** @pins: Number of pins. */
	unsigned int pins;
};

int vttm_vm_open(struct drm_device *drm, struct drm_file *file);
void vttm_vm_postclose(struct drm_device *drm, struct drm_file *file);
int vttm_vm_reset(struct vttm_vm *vm);
int vttm_vm_can_submit(struct vttm_vm *vm);

int vttm_vm_open_bo(struct vttm_vm *vm, struct vttm_bo *bo);
void vttm_vm_close_bo(struct vttm_vm *vm, struct vttm_bo *bo);
void vttm_vm_add_bo(struct vttm_vm *vm, struct vttm_bo *bo);
void vttm_vm_remove_bo(struct vttm_vm *vm, struct vttm_bo *bo);
struct vttm_bo *vttm_vm_first_evicted(struct vttm_vm *vm);
void vttm_vm_bo_evicted(struct vttm_bo *bo);
void vttm_vm_bo_validated(struct vttm_bo *bo);

int vttm_vm_add_fence(struct vttm_vm *vm, struct dma_fence *fence);

int vttm_wait_ioctl(struct drm_device *drm, void *data, struct drm_file *file);
int vttm_vm_set_label_ioctl(struct drm_device *drm, void *data,
			    struct drm_file *file);

#endif
