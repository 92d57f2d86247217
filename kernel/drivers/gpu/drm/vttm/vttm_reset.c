// SPDX-License-Identifier: GPL-2.0 OR MIT

#include <linux/jiffies.h>

#include <drm/drm_print.h>

#include "vttm_drv.h"
#include "vttm_gem.h"
#include "vttm_job.h"
#include "vttm_reset.h"
#include "vttm_throttle.h"
#include "vttm_vm.h"

/* How long deleted BOs may still be busy under the real clock. */
#define VTTM_DRAIN_TIMEOUT_MS	20000

/**
 * vttm_reset_check_config() - Can this kernel run a device that is described?
 * @vdev: the device
 * @config: the valid description
 *
 * Return: 0, or -EOPNOTSUPP.
 */
int vttm_reset_check_config(struct vttm_device *vdev,
			    const struct vttm_config *config)
{
	if (!config->virtual_clock)
		return 0;

	if (!IS_ENABLED(CONFIG_DMA_LAB)) {
		drm_info(&vdev->drm, "the virtual clock needs a kernel with DMA_LAB\n");
		return -EOPNOTSUPP;
	}

	if (!READ_ONCE(vdev->lockstep.enabled)) {
		drm_info(&vdev->drm, "another device has the virtual clock\n");
		return -EOPNOTSUPP;
	}

	if (!vdev->sched_is_fifo) {
		drm_err(&vdev->drm, "the virtual clock needs gpu_sched.sched_policy=1 (FIFO)\n");
		return -EOPNOTSUPP;
	}

	return 0;
}

static bool is_drained(struct vttm_device *vdev)
{
	guard(spinlock)(&vdev->bos_lock);
	return !vdev->num_bos;
}

/* Ghosts, too, keep BOs alive: they don't count. */
static bool has_handles(struct vttm_device *vdev)
{
	struct vttm_bo *bo;

	guard(spinlock)(&vdev->bos_lock);
	list_for_each_entry(bo, &vdev->bos, node)
		if (READ_ONCE(bo->tbo.base.handle_count))
			return true;

	return false;
}

/**
 * vttm_drain() - Wait until a device without files has nothing left to do
 * @vdev: the device
 */
void vttm_drain(struct vttm_device *vdev)
{
	if (vdev->config.virtual_clock)
		vttm_clock_run_dry(vdev);
	else
		wait_event(vdev->idle_wq, is_drained(vdev) && vttm_jobs_are_over(vdev));

	vttm_clock_settle(vdev);
}

/* Wait until what was deleted is gone, for a while. */
static int try_drain(struct vttm_device *vdev)
{
	long left;

	lockdep_assert_held_write(&vdev->reset_lock);

	if (has_handles(vdev) || !vttm_engine_is_idle(&vdev->engines[VTTM_ENGINE_GFX]) ||
	    !vttm_engine_is_idle(&vdev->engines[VTTM_ENGINE_COMPUTE]))
		return -EBUSY;

	if (vdev->config.virtual_clock) {
		vttm_clock_run_dry(vdev);
	} else {
		left = wait_event_interruptible_timeout(vdev->idle_wq, is_drained(vdev),
							msecs_to_jiffies(VTTM_DRAIN_TIMEOUT_MS));
		if (left < 0)
			return left;
		vttm_clock_settle(vdev);
	}

	if (!is_drained(vdev) ||
	    !vttm_engine_is_idle(&vdev->engines[VTTM_ENGINE_COPY]))
		return -EBUSY;

	return 0;
}

/* Go on after an error, so that as much as possible works. */
static int rebuild(struct vttm_device *vdev, const struct vttm_config *config)
{
	const u32 num_crtcs = vdev->config.num_crtcs;
	struct vttm_vm *vm;
	int ret, err;

	lockdep_assert_held_write(&vdev->reset_lock);

	vttm_copy_fini(vdev);
	vttm_gtt_mgr_fini(vdev);
	vttm_vram_mgr_fini(vdev);
	vttm_vram_store_fini(&vdev->vram_store);

	vdev->config = *config;
	vdev->config.num_crtcs = num_crtcs;
	vttm_engines_reset(vdev);
	vttm_clock_reset(vdev);
	vttm_budget_init(&vdev->budget);
	vttm_retry_reset(vdev);
	vttm_owners_reset(vdev);
	vttm_event_log_reset(&vdev->events);
	atomic64_set(&vdev->bytes_moved, 0);
	atomic64_set(&vdev->evictions, 0);
	atomic64_set(&vdev->hangs, 0);

	ret = vttm_vram_mgr_init(vdev);
	vttm_gtt_mgr_init(vdev);

	err = vttm_copy_init(vdev);
	ret = ret ?: err;

	/* Files are opened and closed with the lock held for reading. */
	list_for_each_entry(vm, &vdev->vms, node) {
		err = vttm_vm_reset(vm);
		ret = ret ?: err;
	}

	return ret;
}

/**
 * vttm_reset() - Set the device up anew
 * @vdev: the device
 * @config: what it is to be like, valid
 *
 * Return: 0, -EOPNOTSUPP, -EBUSY while there is a BO, a submission or an
 * operation under way, -ERESTARTSYS, or -ENOMEM: then try again.
 */
int vttm_reset(struct vttm_device *vdev, const struct vttm_config *config)
{
	int ret;

	/* The device that had it when this one was bound may be gone. */
	if (config->virtual_clock)
		vttm_lockstep_claim(vdev);

	ret = vttm_reset_check_config(vdev, config);
	if (ret)
		return ret;

	/* Parked tasks hold it for reading for as long as they like. */
	if (!down_write_trylock(&vdev->reset_lock))
		return -EBUSY;

	ret = try_drain(vdev);
	if (!ret)
		ret = rebuild(vdev, config);
	up_write(&vdev->reset_lock);

	return ret;
}
