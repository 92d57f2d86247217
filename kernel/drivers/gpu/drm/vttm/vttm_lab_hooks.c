// SPDX-License-Identifier: GPL-2.0 OR MIT

#include <linux/dma-lab.h>
#include <linux/sched.h>

#include <drm/ttm/ttm_bo.h>

#include "vttm_drv.h"
#include "vttm_task.h"

/* Hooks have no argument for the device: the first one has them. */
static struct vttm_device *lab_vdev;

static void vttm_lab_before_lock(struct dma_resv *resv, struct ww_acquire_ctx *ctx)
{
	struct vttm_lockstep *ls = &lab_vdev->lockstep;
	struct vttm_task *task = vttm_task_get_current(ls);

	if (!task)
		return;

	vttm_task_park(ls, task);
	task->nvcsw = current->nvcsw;
	vttm_task_set_phase(ls, task, VTTM_TASK_LOCKING);
	vttm_task_put(task);
}

static void vttm_lab_after_lock(struct dma_resv *resv, struct ww_acquire_ctx *ctx,
				int ret)
{
	struct vttm_lockstep *ls = &lab_vdev->lockstep;
	struct vttm_task *task = vttm_task_get_current(ls);

	if (!task)
		return;

	if (vttm_task_get_phase(ls, task) == VTTM_TASK_LOCKING) {
		/* The running task waits for those that slept to park. */
		if (current->nvcsw != task->nvcsw)
			vttm_task_park(ls, task);
		else if (vttm_task_set_phase(ls, task, VTTM_TASK_RUNNING))
			vttm_task_wait_for_others(ls, task);
	}
	vttm_task_put(task);
}

static void vttm_lab_after_unlock(struct dma_resv *resv)
{
	struct vttm_lockstep *ls = &lab_vdev->lockstep;
	struct vttm_task *task = vttm_task_get_current(ls);

	if (!task)
		return;

	if (vttm_task_get_phase(ls, task) == VTTM_TASK_RUNNING)
		vttm_task_wait_for_others(ls, task);
	vttm_task_put(task);
}

static void vttm_lab_fence_wait(struct dma_fence *fence, long timeout)
{
	/* Who polls doesn't make time pass, nor do the kernel's own threads. */
	if (timeout && !(current->flags & (PF_KTHREAD | PF_WQ_WORKER)))
		vttm_clock_wait_fence(lab_vdev, fence);
}

static bool vttm_lab_defer_delete(struct ttm_buffer_object *bo)
{
	return bo->bdev == &lab_vdev->bdev && vttm_clock_defer_delete(lab_vdev, bo);
}

static const struct dma_lab_ops vttm_lab_ops = {
	.before_lock = vttm_lab_before_lock,
	.after_lock = vttm_lab_after_lock,
	.after_unlock = vttm_lab_after_unlock,
	.fence_wait = vttm_lab_fence_wait,
	.defer_delete = vttm_lab_defer_delete,
};

/**
 * vttm_lockstep_claim() - Start to listen to locks and fences
 * @vdev: the device
 *
 * Only one device at a time can; others have neither lockstep nor a virtual
 * clock. One that went away has it until its last file is closed, so that a
 * reset tries again.
 *
 * Return: 0, also if another device listens, or -EBUSY if another driver does.
 */
int vttm_lockstep_claim(struct vttm_device *vdev)
{
	int ret;

	if (cmpxchg(&lab_vdev, NULL, vdev))
		return 0;

	ret = dma_lab_register(&vttm_lab_ops);
	if (ret)
		lab_vdev = NULL;
	else
		WRITE_ONCE(vdev->lockstep.enabled, true);

	return ret;
}

/**
 * vttm_lockstep_init() - Prepare for lockstep, and claim it
 * @vdev: the device
 *
 * Return: 0, or -EBUSY if another driver listens.
 */
int vttm_lockstep_init(struct vttm_device *vdev)
{
	spin_lock_init(&vdev->lockstep.lock);
	INIT_LIST_HEAD(&vdev->lockstep.tasks);
	init_waitqueue_head(&vdev->lockstep.rest_wq);

	return vttm_lockstep_claim(vdev);
}

/**
 * vttm_lockstep_fini() - Stop to listen
 * @vdev: the device, without open files
 */
void vttm_lockstep_fini(struct vttm_device *vdev)
{
	if (!vdev->lockstep.enabled)
		return;

	dma_lab_unregister(&vttm_lab_ops);
	lab_vdev = NULL;
}
