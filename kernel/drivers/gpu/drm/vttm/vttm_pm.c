// SPDX-License-Identifier: GPL-2.0 OR MIT

/**
 * DOC: Suspend and resume
 *
 * Video memory loses its contents in suspend, so BOs move out of it first, and
 * come back when a submission wants them there. What is pinned stays: that a
 * real driver unpins scanout buffers and finds room for them elsewhere is not
 * modelled, and neither is that they lose what they show.
 *
 * All that uses the device is frozen by then. Jobs that were given to an engine
 * go on after resume, as device time doesn't pass meanwhile, and the others are
 * not given to it before that.
 */

#include <linux/device.h>

#include <drm/drm_print.h>
#include <drm/ttm/ttm_resource.h>

#include "vttm_drv.h"
#include "vttm_pm.h"
#include "vttm_throttle.h"

/* So often a BO can get pinned in front of somebody who evicts all. */
#define VTTM_EVICT_TRIES	32

/**
 * vttm_evict_all() - Move everything out of video memory that isn't pinned
 * @vdev: the device
 *
 * Return: 0, or a negative error code.
 */
int vttm_evict_all(struct vttm_device *vdev)
{
	unsigned int tries = VTTM_EVICT_TRIES;
	int ret;

	/* A BO that is just being pinned refuses, and isn't tried again. */
	do {
		ret = ttm_resource_manager_evict_all(&vdev->bdev, &vdev->vram_mgr.base);
	} while (ret == -EBUSY && tries--);

	/* Nobody else has taken it. */
	vttm_owners_reset(vdev);
	return ret;
}

static int vttm_pm_suspend(struct device *dev)
{
	struct vttm_device *vdev = dev_get_drvdata(dev);
	unsigned int i;
	int ret;

	ret = vttm_evict_all(vdev);
	if (ret) {
		drm_err(&vdev->drm, "can't evict video memory: %d\n", ret);
		return ret;
	}

	/* What was moved leaves when its copy is over, which it is. */
	vttm_clock_settle(vdev);

	for (i = 0; i < VTTM_NUM_ENGINES; i++)
		drm_sched_wqueue_stop(&vdev->engines[i].sched);

	if (!ttm_resource_manager_usage(&vdev->vram_mgr.base))
		vttm_vram_store_fini(&vdev->vram_store);

	return 0;
}

static int vttm_pm_resume(struct device *dev)
{
	struct vttm_device *vdev = dev_get_drvdata(dev);
	unsigned int i;

	for (i = 0; i < VTTM_NUM_ENGINES; i++)
		drm_sched_wqueue_start(&vdev->engines[i].sched);

	return 0;
}

/* System sleep. */
DEFINE_SIMPLE_DEV_PM_OPS(vttm_pm_ops, vttm_pm_suspend, vttm_pm_resume);
