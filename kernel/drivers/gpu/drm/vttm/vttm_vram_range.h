/* SPDX-License-Identifier: GPL-2.0 OR MIT */
#ifndef _VTTM_VRAM_RANGE_H_
#define _VTTM_VRAM_RANGE_H_

#include "vttm_vram_mgr.h"

struct ttm_buffer_object;
struct ttm_range_claim;
struct vttm_device;

/* Compiled without for a kernel whose TTM doesn't choose ranges. */
#ifdef VTTM_RANGE

int vttm_vram_claim_range(struct ttm_resource_manager *man, struct ttm_range_claim *claim);
void vttm_vram_unclaim_range(struct ttm_resource_manager *man, struct ttm_range_claim *claim);
struct ttm_buffer_object *vttm_vram_range_first(struct ttm_resource_manager *man,
						struct ttm_range_claim *claim,
						struct ttm_resource **res);
void vttm_vram_open_claim(struct vttm_vram_mgr *mgr, struct ttm_buffer_object *tbo);
void vttm_vram_close_claims(struct vttm_vram_mgr *mgr);
unsigned int vttm_evict_weight(struct ttm_buffer_object *tbo);
void vttm_vram_range_debugfs_init(struct vttm_device *vdev);

#else /* !VTTM_RANGE */

static inline void vttm_vram_open_claim(struct vttm_vram_mgr *mgr, struct ttm_buffer_object *tbo)
{
}

static inline void vttm_vram_close_claims(struct vttm_vram_mgr *mgr)
{
}

static inline void vttm_vram_range_debugfs_init(struct vttm_device *vdev)
{
}

#endif /* VTTM_RANGE */

#endif
