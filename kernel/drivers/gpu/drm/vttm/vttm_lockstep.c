// SPDX-License-Identifier: GPL-2.0 OR MIT

/**
 * DOC: Lockstep
 *
 * Several threads use the device at a time, but one of them runs. A thread that
 * registered itself as a task parks before each sleeping reservation lock, and
 * after each that it had to sleep for. A controller lets one task at a time go
 * on to its next park point.
 *
 * A task is *at rest* when it is idle, parked, or asleep within the lock
 * primitive. Whoever runs may wake others: an unlock passes the lock on, and a
 * lock attempt makes younger waiters die. It waits until those have reached
 * their park point, that is until all others are at rest, before it goes on.
 * So only one task runs at a time, and what happens doesn't depend on timing.
 *
 * Threads that aren't tasks aren't held up.
 */

#include <linux/ktime.h>
#include <linux/sched/task.h>
#include <linux/slab.h>

#include "vttm_drv.h"
#include "vttm_task.h"

/* Falling asleep makes no noise: look this often. */
#define VTTM_POLL_NS	(50 * NSEC_PER_USEC)

/**
 * vttm_lockstep_current_id() - Who runs?
 * @vdev: the device
 *
 * Return: number of the task, or process ID of a thread that is none.
 */
u32 vttm_lockstep_current_id(struct vttm_device *vdev)
{
	struct vttm_task *task = vttm_task_get_current(&vdev->lockstep);
	u32 id = task_pid_nr(current);

	if (task) {
		id = task->id;
		vttm_task_put(task);
	}

	return id;
}

/**
 * vttm_lockstep_add_task() - The calling thread becomes a task
 * @vdev: the device
 * @file: file that it does so through; it is one until that is closed
 * @id: its number
 *
 * Return: 0, -EINVAL, -ENOMEM, or -EBUSY if there is such a task or the thread
 * is one.
 */
int vttm_lockstep_add_task(struct vttm_device *vdev, struct drm_file *file, u64 id)
{
	struct vttm_lockstep *ls = &vdev->lockstep;
	struct vttm_task *task, *other;

	if (id > U32_MAX)
		return -EINVAL;

	task = kzalloc_obj(*task);
	if (!task)
		return -ENOMEM;

	kref_init(&task->ref);
	init_waitqueue_head(&task->wq);
	task->id = id;
	task->thread = get_task_struct(current);
	task->file = file;

	scoped_guard(spinlock, &ls->lock) {
		list_for_each_entry(other, &ls->tasks, node)
			if (other->id == id || other->thread == current)
				goto err_busy;

		list_add_tail(&task->node, &ls->tasks);
		WRITE_ONCE(ls->num_tasks, ls->num_tasks + 1);
	}

	return 0;

err_busy:
	vttm_task_put(task);
	return -EBUSY;
}

/**
 * vttm_lockstep_begin() - The next operation of a task parks
 * @vdev: the device
 * @file: file of the controller; when it is closed the task is released
 * @id: number of the task
 *
 * Return: 0, -ENOENT, -EBUSY if an operation is under way, -EINVAL under the
 * real clock, or -ENODEV if the device goes.
 */
int vttm_lockstep_begin(struct vttm_device *vdev, struct drm_file *file, u64 id)
{
	struct vttm_lockstep *ls = &vdev->lockstep;
	struct vttm_task *task;

	if (!vdev->config.virtual_clock)
		return -EINVAL;

	guard(spinlock)(&ls->lock);
	task = vttm_task_find(ls, id);
	if (!task)
		return -ENOENT;
	if (task->phase != VTTM_TASK_IDLE)
		return -EBUSY;
	if (ls->closed)
		return -ENODEV;

	task->phase = VTTM_TASK_RUNNING;
	task->controller = file;
	return 0;
}

/**
 * vttm_lockstep_end() - The operation of the calling task is over
 * @vdev: the device
 *
 * Return: 0, or -EINVAL if the caller is no task.
 */
int vttm_lockstep_end(struct vttm_device *vdev)
{
	struct vttm_lockstep *ls = &vdev->lockstep;
	struct vttm_task *task = vttm_task_get_current(ls);

	if (!task)
		return -EINVAL;

	/* While it still is the one that runs. */
	vttm_clock_end_op(vdev);
	vttm_task_set_phase(ls, task, VTTM_TASK_IDLE);
	wake_up_all(&ls->rest_wq);
	vttm_task_put(task);
	return 0;
}

/* Wait until all tasks are at rest, and say what @task does. */
static int wait_for_rest(struct vttm_device *vdev, struct vttm_task *task, u32 *state)
{
	struct vttm_lockstep *ls = &vdev->lockstep;
	int ret;

	do {
		ret = wait_event_interruptible_hrtimeout(ls->rest_wq,
							 vttm_tasks_are_at_rest(ls, NULL),
							 ns_to_ktime(VTTM_POLL_NS));
	} while (ret == -ETIME);
	if (ret)
		return -EINTR;

	vttm_clock_end_op(vdev);

	switch (vttm_task_get_phase(ls, task)) {
	case VTTM_TASK_PARKED:
		*state = DRM_VTTM_TASK_PARKED;
		break;
	case VTTM_TASK_LOCKING:
		*state = DRM_VTTM_TASK_BLOCKED;
		break;
	default:
		*state = DRM_VTTM_TASK_IDLE;
		break;
	}

	return 0;
}

/**
 * vttm_lockstep_step() - Let a parked task go on
 * @vdev: the device
 * @id: number of the task
 * @state: returns what it does when all tasks are at rest again
 *
 * Return: 0, -ENOENT, -EINVAL if it isn't parked, or -EINTR: then it goes on.
 */
int vttm_lockstep_step(struct vttm_device *vdev, u64 id, u32 *state)
{
	struct vttm_lockstep *ls = &vdev->lockstep;
	struct vttm_task *task;
	int ret;

	scoped_guard(spinlock, &ls->lock) {
		task = vttm_task_find(ls, id);
		if (!task)
			return -ENOENT;
		if (task->phase != VTTM_TASK_PARKED)
			return -EINVAL;

		kref_get(&task->ref);
		task->phase = VTTM_TASK_RUNNING;
	}

	wake_up_all(&task->wq);
	ret = wait_for_rest(vdev, task, state);
	vttm_task_put(task);
	return ret;
}

/**
 * vttm_lockstep_state() - What does a task do?
 * @vdev: the device
 * @id: number of the task
 * @state: returns what it does when all tasks are at rest
 *
 * Return: 0, -ENOENT or -EINTR.
 */
int vttm_lockstep_state(struct vttm_device *vdev, u64 id, u32 *state)
{
	struct vttm_lockstep *ls = &vdev->lockstep;
	struct vttm_task *task;
	int ret;

	scoped_guard(spinlock, &ls->lock) {
		task = vttm_task_find(ls, id);
		if (!task)
			return -ENOENT;
		kref_get(&task->ref);
	}

	ret = wait_for_rest(vdev, task, state);
	vttm_task_put(task);
	return ret;
}

static void let_go(struct vttm_task *task)
{
	task->phase = VTTM_TASK_IDLE;
	task->controller = NULL;
	wake_up_all(&task->wq);
}

/**
 * vttm_lockstep_release_all() - The device goes
 * @vdev: the device
 *
 * All tasks run freely to the end of their operation, and none parks any more.
 */
void vttm_lockstep_release_all(struct vttm_device *vdev)
{
	struct vttm_lockstep *ls = &vdev->lockstep;
	struct vttm_task *task;

	scoped_guard(spinlock, &ls->lock) {
		ls->closed = true;
		list_for_each_entry(task, &ls->tasks, node)
			let_go(task);
	}

	wake_up_all(&ls->rest_wq);
}

/**
 * vttm_lockstep_release_file() - A file is closed
 * @vdev: the device
 * @file: the file
 *
 * Tasks that registered through it are none any more, and those that were
 * controlled through it run freely to the end of their operation.
 */
void vttm_lockstep_release_file(struct vttm_device *vdev, struct drm_file *file)
{
	struct vttm_lockstep *ls = &vdev->lockstep;
	struct vttm_task *task, *next;
	LIST_HEAD(gone);

	scoped_guard(spinlock, &ls->lock) {
		list_for_each_entry_safe(task, next, &ls->tasks, node) {
			if (task->file != file && task->controller != file)
				continue;

			let_go(task);
			if (task->file == file) {
				list_move(&task->node, &gone);
				WRITE_ONCE(ls->num_tasks, ls->num_tasks - 1);
			}
		}
	}

	wake_up_all(&ls->rest_wq);
	list_for_each_entry_safe(task, next, &gone, node) {
		list_del(&task->node);
		vttm_task_put(task);
	}
}
