// SPDX-License-Identifier: GPL-2.0 OR MIT

#include <linux/uaccess.h>

#include <drm/ttm/ttm_bo.h>

#include "vttm_drv.h"
#include "vttm_lab.h"
#include "vttm_pm.h"
#include "vttm_reset.h"

static int lab_reset(struct vttm_device *vdev, struct drm_vttm_lab *args)
{
	struct drm_vttm_lab_config uapi;
	struct vttm_config config;
	int ret;

	if (copy_from_user(&uapi, u64_to_user_ptr(args->ptr), sizeof(uapi)))
		return -EFAULT;

	ret = vttm_config_init_from_uapi(&config, &uapi);
	if (ret)
		return ret;

	return vttm_reset(vdev, &config);
}

static int lab_swapout(struct vttm_device *vdev, struct drm_vttm_lab *args)
{
	struct ttm_operation_ctx ctx = { .interruptible = true };
	int ret;

	ret = ttm_device_swapout(&vdev->bdev, &ctx, GFP_KERNEL);
	if (ret < 0)
		return ret;

	/* Pages; 0 if there was nothing to swap out. */
	args->value = ret;
	return 0;
}

/* Operations that the device must not be reset under. */
static int lab_device_op(struct vttm_device *vdev, struct drm_vttm_lab *args)
{
	guard(rwsem_read)(&vdev->reset_lock);

	switch (args->op) {
	case DRM_VTTM_LAB_ADVANCE:
		return vttm_clock_advance(vdev, args->value);
	case DRM_VTTM_LAB_EVICT_ALL:
		return vttm_evict_all(vdev);
	case DRM_VTTM_LAB_SWAPOUT:
		return lab_swapout(vdev, args);
	case DRM_VTTM_LAB_SETTLE:
		vttm_clock_settle(vdev);
		return 0;
	case DRM_VTTM_LAB_SET_JOB_TIMEOUT:
		vttm_engines_set_timeout(vdev, args->value);
		return 0;
	default:
		return -EINVAL;
	}
}

static int lab_op(struct vttm_device *vdev, struct drm_vttm_lab *args,
		  struct drm_file *file)
{
	int ret;

	switch (args->op) {
	case DRM_VTTM_LAB_RESET:
		return lab_reset(vdev, args);
	case DRM_VTTM_LAB_ADVANCE:
	case DRM_VTTM_LAB_EVICT_ALL:
	case DRM_VTTM_LAB_SWAPOUT:
	case DRM_VTTM_LAB_SETTLE:
	case DRM_VTTM_LAB_SET_JOB_TIMEOUT:
		ret = lab_device_op(vdev, args);
		vttm_clock_end_op(vdev);
		return ret;
	case DRM_VTTM_LAB_TASK:
		return vttm_lockstep_add_task(vdev, file, args->value);
	case DRM_VTTM_LAB_BEGIN:
		return vttm_lockstep_begin(vdev, file, args->value);
	case DRM_VTTM_LAB_END:
		return vttm_lockstep_end(vdev);
	case DRM_VTTM_LAB_STEP:
		return vttm_lockstep_step(vdev, args->value, &args->state);
	case DRM_VTTM_LAB_STATE:
		return vttm_lockstep_state(vdev, args->value, &args->state);
	case DRM_VTTM_LAB_EVENTS:
		return vttm_event_log_read(&vdev->events, args->ptr, &args->value);
	default:
		return -EINVAL;
	}
}

/**
 * vttm_lab_ioctl() - Laboratory control
 * @drm: DRM device
 * @data: struct drm_vttm_lab
 * @file: DRM file
 *
 * Return: 0 or a negative error code, see the operations.
 */
int vttm_lab_ioctl(struct drm_device *drm, void *data, struct drm_file *file)
{
	struct vttm_device *vdev = to_vttm_device(drm);
	struct drm_vttm_lab *args = data;
	int ret;

	if (args->ptr && args->op != DRM_VTTM_LAB_RESET &&
	    args->op != DRM_VTTM_LAB_EVENTS)
		return -EINVAL;

	ret = lab_op(vdev, args, file);

	args->clock_ns = vttm_clock_now(vdev);
	vttm_engines_next(vdev, &args->next_ns);
	args->lost = vttm_event_log_lost(&vdev->events);
	return ret;
}
