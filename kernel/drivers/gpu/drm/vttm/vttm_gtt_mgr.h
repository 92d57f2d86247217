/* SPDX-License-Identifier: GPL-2.0 OR MIT */
#ifndef _VTTM_GTT_MGR_H_
#define _VTTM_GTT_MGR_H_

#include <drm/ttm/ttm_resource.h>

struct vttm_device;

/**
 * struct vttm_gtt_mgr - Resource manager of the GTT domain; counts bytes only
 */
struct vttm_gtt_mgr {
	/** @base: Base class. */
	struct ttm_resource_manager base;
};

void vttm_gtt_mgr_init(struct vttm_device *vdev);
void vttm_gtt_mgr_fini(struct vttm_device *vdev);

#endif
