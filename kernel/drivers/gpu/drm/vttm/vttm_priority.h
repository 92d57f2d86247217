/* SPDX-License-Identifier: GPL-2.0 OR MIT */
#ifndef _VTTM_PRIORITY_H_
#define _VTTM_PRIORITY_H_

#include <linux/types.h>

#include <drm/ttm/ttm_bo.h>

#include "vttm_gem.h"
#include "vttm_throttle.h"

struct vttm_vm;

/*
 * Compiled without for a kernel whose TTM has no order within bulk moves: then
 * priorities are for the order of recovery only.
 */
#ifdef VTTM_PRIORITY

unsigned int vttm_priority_level(struct vttm_bo *bo);
u32 vttm_priority_domains(struct vttm_bo *bo, u32 domains);
int vttm_priority_set(struct vttm_vm *vm, struct vttm_bo *bo, u32 priority);

/**
 * vttm_priority_init_bo() - Tell TTM the priority of a new BO
 * @bo: the BO, not initialized by TTM yet
 */
static inline void vttm_priority_init_bo(struct vttm_bo *bo)
{
	bo->tbo.bulk_priority = bo->priority;
}

/**
 * vttm_priority_set_ctx() - Let a BO push out those of lower priority
 * @ctx: context of its validation
 */
static inline void vttm_priority_set_ctx(struct ttm_operation_ctx *ctx)
{
	ctx->allow_lower_evict = true;
}

#else /* !VTTM_PRIORITY */

static inline unsigned int vttm_priority_level(struct vttm_bo *bo)
{
	return 0;
}

static inline u32 vttm_priority_domains(struct vttm_bo *bo, u32 domains)
{
	return domains;
}

static inline int vttm_priority_set(struct vttm_vm *vm, struct vttm_bo *bo, u32 priority)
{
	vttm_owner_set_priority(vm, bo, priority);
	return 0;
}

static inline void vttm_priority_init_bo(struct vttm_bo *bo)
{
}

static inline void vttm_priority_set_ctx(struct ttm_operation_ctx *ctx)
{
}

#endif /* VTTM_PRIORITY */

#endif
