// SPDX-License-Identifier: GPL-2.0 OR MIT

#include <linux/slab.h>

#include <drm/drm_print.h>
#include <drm/ttm/ttm_bo.h>
#include <drm/ttm/ttm_placement.h>

#include "vttm_drv.h"

/* As amdgpu_gtt_mgr_new() without GART. */
static int vttm_gtt_mgr_alloc(struct ttm_resource_manager *man,
			      struct ttm_buffer_object *tbo,
			      const struct ttm_place *place,
			      struct ttm_resource **res)
{
	struct ttm_resource *gres;

	gres = kzalloc_obj(*gres);
	if (!gres)
		return -ENOMEM;

	/* The usage includes this BO from here on. */
	ttm_resource_init(tbo, place, gres);
	if (!(place->flags & TTM_PL_FLAG_TEMPORARY) &&
	    ttm_resource_manager_usage(man) > man->size) {
		ttm_resource_fini(man, gres);
		kfree(gres);
		return -ENOSPC;
	}

	*res = gres;
	return 0;
}

static void vttm_gtt_mgr_free(struct ttm_resource_manager *man,
			      struct ttm_resource *res)
{
	ttm_resource_fini(man, res);
	kfree(res);
}

static bool vttm_gtt_mgr_intersects(struct ttm_resource_manager *man,
				    struct ttm_resource *res,
				    const struct ttm_place *place, size_t size)
{
	return !place->lpfn;
}

static bool vttm_gtt_mgr_compatible(struct ttm_resource_manager *man,
				    struct ttm_resource *res,
				    const struct ttm_place *place, size_t size)
{
	return !place->lpfn;
}

static const struct ttm_resource_manager_func vttm_gtt_mgr_func = {
	.alloc = vttm_gtt_mgr_alloc,
	.free = vttm_gtt_mgr_free,
	.intersects = vttm_gtt_mgr_intersects,
	.compatible = vttm_gtt_mgr_compatible,
};

/**
 * vttm_gtt_mgr_init() - Create the resource manager of the GTT domain
 * @vdev: the device; its configuration says how large
 */
void vttm_gtt_mgr_init(struct vttm_device *vdev)
{
	struct ttm_resource_manager *man = &vdev->gtt_mgr.base;

	ttm_resource_manager_init(man, &vdev->bdev, vdev->config.gtt_size);
	man->func = &vttm_gtt_mgr_func;
	man->use_tt = true;
	ttm_set_driver_manager(&vdev->bdev, TTM_PL_TT, man);
	ttm_resource_manager_set_used(man, true);
}

/**
 * vttm_gtt_mgr_fini() - Destroy the resource manager of the GTT domain
 * @vdev: the device, which has no BOs
 */
void vttm_gtt_mgr_fini(struct vttm_device *vdev)
{
	struct ttm_resource_manager *man = &vdev->gtt_mgr.base;
	int ret;

	ttm_resource_manager_set_used(man, false);
	ret = ttm_resource_manager_evict_all(&vdev->bdev, man);
	drm_WARN_ON(&vdev->drm, ret);
	ttm_resource_manager_cleanup(man);
	ttm_set_driver_manager(&vdev->bdev, TTM_PL_TT, NULL);
}
