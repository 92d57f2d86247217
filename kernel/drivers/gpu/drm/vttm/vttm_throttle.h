/* SPDX-License-Identifier: GPL-2.0 OR MIT */
#ifndef _VTTM_THROTTLE_H_
#define _VTTM_THROTTLE_H_

#include <linux/list.h>
#include <linux/types.h>

#include <uapi/drm/vttm_drm.h>

#include "vttm_gem.h"

struct drm_printer;
struct ttm_buffer_object;
struct ttm_device;
struct ttm_operation_ctx;
struct ttm_resource_manager;
struct ttm_throttle;
struct vttm_device;
struct vttm_exec;
struct vttm_vm;

/**
 * struct vttm_owner - A VM that competes for video memory with others
 */
struct vttm_owner {
	/** @throttle: Its part in TTM; NULL if TTM can't throttle. */
	struct ttm_throttle *throttle;
	/**
	 * @displaced: Private BOs that validation left outside of their
	 * preferred domains, by priority, who waits longest first. Changes under
	 * the resv and &vttm_vm.evicted_lock.
	 */
	struct list_head displaced[DRM_VTTM_PRIORITY_MAX + 1];
};

/*
 * Compiled without for a kernel whose TTM can't throttle: then everything is as
 * if all were in the normal phase.
 */
#ifdef VTTM_THROTTLE

int vttm_owner_init(struct vttm_vm *vm);
void vttm_owner_fini(struct vttm_vm *vm);
void vttm_owner_set_label(struct vttm_vm *vm, u32 label);
void vttm_owner_add_bo(struct vttm_vm *vm, struct vttm_bo *bo);
void vttm_owner_set_ctx(struct vttm_vm *vm, struct ttm_operation_ctx *ctx);
void vttm_owner_set_pin_ctx(struct vttm_vm *vm, struct vttm_bo *bo,
			    struct ttm_operation_ctx *ctx);
bool vttm_owner_is_normal(struct vttm_vm *vm);
void vttm_owner_validated(struct vttm_bo *bo);
void vttm_owner_set_priority(struct vttm_vm *vm, struct vttm_bo *bo, u32 priority);
int vttm_owner_recover(struct vttm_exec *e);
void vttm_owners_reset(struct vttm_device *vdev);
void vttm_owner_print(struct vttm_vm *vm, struct drm_printer *p);
void vttm_throttle_init_mgr(struct ttm_resource_manager *man);
u64 vttm_throttle_now_ns(struct ttm_device *bdev);

#else /* !VTTM_THROTTLE */

static inline int vttm_owner_init(struct vttm_vm *vm)
{
	return 0;
}

static inline void vttm_owner_fini(struct vttm_vm *vm)
{
}

static inline void vttm_owner_set_label(struct vttm_vm *vm, u32 label)
{
}

static inline void vttm_owner_add_bo(struct vttm_vm *vm, struct vttm_bo *bo)
{
}

static inline void vttm_owner_set_ctx(struct vttm_vm *vm, struct ttm_operation_ctx *ctx)
{
}

static inline void vttm_owner_set_pin_ctx(struct vttm_vm *vm, struct vttm_bo *bo,
					  struct ttm_operation_ctx *ctx)
{
}

static inline bool vttm_owner_is_normal(struct vttm_vm *vm)
{
	return true;
}

static inline void vttm_owner_validated(struct vttm_bo *bo)
{
}

static inline void vttm_owner_set_priority(struct vttm_vm *vm, struct vttm_bo *bo,
					   u32 priority)
{
	WRITE_ONCE(bo->priority, priority);
}

static inline int vttm_owner_recover(struct vttm_exec *e)
{
	return 0;
}

static inline void vttm_owners_reset(struct vttm_device *vdev)
{
}

static inline void vttm_owner_print(struct vttm_vm *vm, struct drm_printer *p)
{
}

static inline void vttm_throttle_init_mgr(struct ttm_resource_manager *man)
{
}

#endif /* VTTM_THROTTLE */

#endif
