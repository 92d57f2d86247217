// SPDX-License-Identifier: GPL-2.0 OR MIT

/**
 * DOC: vttm (virtual GPU with video memory managed by TTM)
 *
 * vttm is for TTM what vkms is for displays: a driver without hardware. Video
 * memory is system memory that BOs are placed in, and moved to and from, as a
 * real driver does; how long copies and jobs take is modelled. Placement policy
 * is that of amdgpu.
 */

#include <linux/dma-mapping.h>
#include <linux/module.h>
#include <linux/platform_device.h>

#include <drm/drm_drv.h>
#include <drm/drm_gem.h>
#include <drm/drm_ioctl.h>
#include <drm/drm_managed.h>
#include <drm/drm_print.h>

#include "vttm_ctx.h"
#include "vttm_debugfs.h"
#include "vttm_drv.h"
#include "vttm_exec.h"
#include "vttm_fdinfo.h"
#include "vttm_fb.h"
#include "vttm_gem.h"
#include "vttm_kms.h"
#include "vttm_lab.h"
#include "vttm_pin.h"
#include "vttm_pm.h"
#include "vttm_prime.h"
#include "vttm_reset.h"
#include "vttm_ttm.h"
#include "vttm_vram_range.h"
#include "vttm_vm.h"

#define DRIVER_NAME	"vttm"
#define DRIVER_DESC	"Virtual GPU with video memory managed by TTM"
#define DRIVER_MAJOR	1
#define DRIVER_MINOR	0

static int vttm_get_info_ioctl(struct drm_device *drm, void *data,
			       struct drm_file *file)
{
	struct vttm_device *vdev = to_vttm_device(drm);
	struct drm_vttm_get_info *args = data;

	if (args->pad)
		return -EINVAL;

	guard(rwsem_read)(&vdev->reset_lock);

	*args = (struct drm_vttm_get_info) {
		.vram_size = vdev->config.vram_size,
		.vram_usage = ttm_resource_manager_usage(&vdev->vram_mgr.base),
		.vram_pinned = atomic64_read(&vdev->vram_pinned),
		.gtt_size = vdev->config.gtt_size,
		.gtt_usage = ttm_resource_manager_usage(&vdev->gtt_mgr.base),
		.clock_ns = vttm_clock_now(vdev),
		.bytes_moved = atomic64_read(&vdev->bytes_moved),
		.evictions = atomic64_read(&vdev->evictions),
		.flags = vdev->config.virtual_clock ? DRM_VTTM_INFO_VIRTUAL_CLOCK : 0,
	};

	return 0;
}

static const struct drm_ioctl_desc vttm_ioctls[] = {
	DRM_IOCTL_DEF_DRV(VTTM_GET_INFO, vttm_get_info_ioctl, DRM_RENDER_ALLOW),
	DRM_IOCTL_DEF_DRV(VTTM_GEM_CREATE, vttm_gem_create_ioctl, DRM_RENDER_ALLOW),
	DRM_IOCTL_DEF_DRV(VTTM_GEM_MMAP, vttm_gem_mmap_ioctl, DRM_RENDER_ALLOW),
	DRM_IOCTL_DEF_DRV(VTTM_GEM_INFO, vttm_gem_info_ioctl, DRM_RENDER_ALLOW),
	DRM_IOCTL_DEF_DRV(VTTM_GEM_SET_PRIORITY, vttm_gem_set_priority_ioctl,
			  DRM_RENDER_ALLOW),
	DRM_IOCTL_DEF_DRV(VTTM_SUBMIT, vttm_submit_ioctl, DRM_RENDER_ALLOW),
	DRM_IOCTL_DEF_DRV(VTTM_WAIT, vttm_wait_ioctl, DRM_RENDER_ALLOW),
	DRM_IOCTL_DEF_DRV(VTTM_PIN, vttm_pin_ioctl, DRM_RENDER_ALLOW),
	DRM_IOCTL_DEF_DRV(VTTM_VM_SET_LABEL, vttm_vm_set_label_ioctl, DRM_RENDER_ALLOW),
	DRM_IOCTL_DEF_DRV(VTTM_LAB, vttm_lab_ioctl, DRM_RENDER_ALLOW | DRM_ROOT_ONLY),
	DRM_IOCTL_DEF_DRV(VTTM_VM_GET_STATE, vttm_vm_get_state_ioctl, DRM_RENDER_ALLOW),
};

/*
 * The driver stays bound while an ioctl of ours uses the device. One that only
 * waits doesn't: what it waits for ends when the device goes.
 */
static long enter_and_call(long (*call)(struct file *filp, unsigned int cmd,
					unsigned long arg),
			   struct file *filp, unsigned int cmd, unsigned long arg)
{
	struct drm_file *file = filp->private_data;
	unsigned int nr = DRM_IOCTL_NR(cmd);
	long ret;
	int idx;

	if (nr < DRM_COMMAND_BASE || nr >= DRM_COMMAND_END ||
	    nr == DRM_COMMAND_BASE + DRM_VTTM_WAIT)
		return call(filp, cmd, arg);

	if (!drm_dev_enter(file->minor->dev, &idx))
		return -ENODEV;

	ret = call(filp, cmd, arg);
	drm_dev_exit(idx);
	return ret;
}

static long vttm_ioctl(struct file *filp, unsigned int cmd, unsigned long arg)
{
	return enter_and_call(drm_ioctl, filp, cmd, arg);
}

#ifdef CONFIG_COMPAT
static long vttm_compat_ioctl(struct file *filp, unsigned int cmd, unsigned long arg)
{
	return enter_and_call(drm_compat_ioctl, filp, cmd, arg);
}
#else
#define vttm_compat_ioctl	NULL
#endif

static const struct file_operations vttm_driver_fops = {
	.owner = THIS_MODULE,
	.open = drm_open,
	.release = drm_release,
	.unlocked_ioctl = vttm_ioctl,
	.compat_ioctl = vttm_compat_ioctl,
	.poll = drm_poll,
	.read = drm_read,
	.llseek = noop_llseek,
	.get_unmapped_area = drm_gem_get_unmapped_area,
	.mmap = drm_gem_mmap,
	.show_fdinfo = drm_show_fdinfo,
	.fop_flags = FOP_UNSIGNED_OFFSET,
};

static const struct drm_driver vttm_driver = {
	.driver_features = DRIVER_GEM | DRIVER_RENDER | DRIVER_MODESET | DRIVER_ATOMIC |
			   DRIVER_SYNCOBJ | DRIVER_SYNCOBJ_TIMELINE,
	.open = vttm_vm_open,
	.postclose = vttm_vm_postclose,
	.gem_prime_import = vttm_prime_import,
	.show_fdinfo = vttm_show_fdinfo,
	.dumb_create = vttm_dumb_create,
	.ioctls = vttm_ioctls,
	.num_ioctls = ARRAY_SIZE(vttm_ioctls),
	.fops = &vttm_driver_fops,
	.name = DRIVER_NAME,
	.desc = DRIVER_DESC,
	.major = DRIVER_MAJOR,
	.minor = DRIVER_MINOR,
};

/* Runs when the last file is closed, which can be after the driver is unbound. */
static void vttm_device_fini(struct drm_device *drm, void *res)
{
	struct vttm_device *vdev = to_vttm_device(drm);

	vttm_drain(vdev);
	vttm_lockstep_fini(vdev);
	vttm_copy_fini(vdev);
	vttm_ttm_fini(vdev);
	vttm_engines_fini(vdev);
}

static int vttm_device_init(struct vttm_device *vdev)
{
	int ret;

	init_rwsem(&vdev->reset_lock);
	INIT_LIST_HEAD(&vdev->bos);
	spin_lock_init(&vdev->bos_lock);
	init_waitqueue_head(&vdev->idle_wq);
	INIT_LIST_HEAD(&vdev->vms);
	spin_lock_init(&vdev->vms_lock);
	vttm_budget_init(&vdev->budget);
	vttm_retry_init(vdev);

	ret = vttm_event_log_init(vdev);
	if (ret)
		return ret;

	ret = vttm_clock_init(vdev);
	if (ret)
		return ret;

	ret = vttm_engines_init(vdev);
	if (ret)
		return ret;

	ret = vttm_ttm_init(vdev);
	if (ret)
		goto err_engines;

	ret = vttm_copy_init(vdev);
	if (ret)
		goto err_ttm;

	ret = vttm_lockstep_init(vdev);
	if (ret)
		goto err_copy;

	vdev->sched_is_fifo = vttm_copy_probe_fifo(vdev);

	return drmm_add_action_or_reset(&vdev->drm, vttm_device_fini, NULL);

err_copy:
	vttm_copy_fini(vdev);
err_ttm:
	vttm_ttm_fini(vdev);
err_engines:
	vttm_engines_fini(vdev);
	return ret;
}

static int vttm_probe(struct platform_device *pdev)
{
	struct vttm_device *vdev;
	int ret;

	vdev = devm_drm_dev_alloc(&pdev->dev, &vttm_driver, struct vttm_device, drm);
	if (IS_ERR(vdev))
		return PTR_ERR(vdev);

	platform_set_drvdata(pdev, vdev);
	ret = dma_coerce_mask_and_coherent(&pdev->dev, DMA_BIT_MASK(64));
	if (ret)
		return ret;

	vttm_config_init_default(&vdev->config);
	if (!vttm_config_is_valid(&vdev->config)) {
		drm_err(&vdev->drm, "invalid module parameters\n");
		return -EINVAL;
	}

	ret = vttm_device_init(vdev);
	if (ret)
		return ret;

	ret = vttm_reset_check_config(vdev, &vdev->config);
	if (ret)
		return ret;

	ret = vttm_kms_init(vdev);
	if (ret)
		return ret;

	vttm_debugfs_init(vdev);
	vttm_retry_debugfs_init(vdev);
	vttm_vram_range_debugfs_init(vdev);

	return drm_dev_register(&vdev->drm, 0);
}

static void vttm_remove(struct platform_device *pdev)
{
	struct vttm_device *vdev = platform_get_drvdata(pdev);

	/* Whoever is in the middle of something gets out of it. */
	vttm_lockstep_release_all(vdev);
	vttm_engines_kill(vdev, -ENODEV);
	drm_dev_unplug(&vdev->drm);
	vttm_kms_shutdown(vdev);
}

static struct platform_driver vttm_platform_driver = {
	.driver = {
		.name = DRIVER_NAME,
		.pm = pm_sleep_ptr(&vttm_pm_ops),
	},
	.probe = vttm_probe,
	.remove = vttm_remove,
};

#define VTTM_MAX_DEVICES	8

static unsigned int num_devices = 1;
module_param(num_devices, uint, 0444);
MODULE_PARM_DESC(num_devices, "Devices to create, all alike (default: 1)");

static struct platform_device *vttm_platform_devices[VTTM_MAX_DEVICES];

static void remove_devices(void)
{
	unsigned int i = num_devices;

	while (i--)
		platform_device_unregister(vttm_platform_devices[i]);
	platform_driver_unregister(&vttm_platform_driver);
}

static int __init vttm_init(void)
{
	unsigned int i;
	int ret;

	if (num_devices > VTTM_MAX_DEVICES)
		return -EINVAL;

	ret = platform_driver_register(&vttm_platform_driver);
	if (ret)
		return ret;

	for (i = 0; i < num_devices; i++) {
		struct platform_device *pdev;

		/* The first is just called "vttm", as is its dmem region. */
		pdev = platform_device_register_simple(DRIVER_NAME,
						       i ? i : PLATFORM_DEVID_NONE,
						       NULL, 0);
		if (IS_ERR(pdev)) {
			num_devices = i;
			remove_devices();
			return PTR_ERR(pdev);
		}
		vttm_platform_devices[i] = pdev;
	}

	return 0;
}

static void __exit vttm_exit(void)
{
	remove_devices();
	/* Fences in flight call us until an RCU grace period has passed. */
	rcu_barrier();
}

module_init(vttm_init);
module_exit(vttm_exit);

MODULE_DESCRIPTION(DRIVER_DESC);
MODULE_LICENSE("Dual MIT/GPL");
MODULE_IMPORT_NS("DMA_BUF");
