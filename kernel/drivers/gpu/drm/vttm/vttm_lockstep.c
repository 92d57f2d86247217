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

#include <linux/delay.h>
#include <linux/dma-lab.h>
#include <linux/kref.h>
#include <linux/ktime.h>
#include <linux/preempt.h>
#include <linux/sched/signal.h>
#include <linux/sched/task.h>
#include <linux/slab.h>

#include <drm/ttm/ttm_bo.h>

#include "vttm_drv.h"

/* Falling asleep makes no noise: look this often. */
#define VTTM_POLL_NS	(50 * NSEC_PER_USEC)

/** enum vttm_task_phase - What a task does */
enum vttm_task_phase {
	/** @VTTM_TASK_IDLE: No operation is under way. */
	VTTM_TASK_IDLE,
	/** @VTTM_TASK_RUNNING: It is the one that runs. */
	VTTM_TASK_RUNNING,
	/** @VTTM_TASK_PARKED: It waits for a step. */
	VTTM_TASK_PARKED,
	/** @VTTM_TASK_LOCKING: It is within the lock primitive. */
	VTTM_TASK_LOCKING,
};

/**
 * struct vttm_task - A thread that runs in lockstep with others
 */
struct vttm_task {
	/** @ref: References. */
	struct kref ref;
	/** @node: Link in &vttm_lockstep.tasks. */
	struct list_head node;
	/** @id: Its number. */
	u32 id;
	/** @thread: The thread, with a reference. */
	struct task_struct *thread;
	/** @file: File that it registered through. */
	struct drm_file *file;
	/** @controller: File that the operation was begun through. */
	struct drm_file *controller;
	/** @phase: What it does. */
	enum vttm_task_phase phase;
	/** @nvcsw: Its voluntary context switches before a lock attempt. */
	unsigned long nvcsw;
	/** @wq: It parks here. */
	wait_queue_head_t wq;
};

/* There is one device, and hooks have no argument for it. */
static struct vttm_device *lab_vdev;

static void task_free(struct kref *ref)
{
	struct vttm_task *task = container_of(ref, struct vttm_task, ref);

	put_task_struct(task->thread);
	kfree(task);
}

static void task_put(struct vttm_task *task)
{
	kref_put(&task->ref, task_free);
}

static struct vttm_task *get_current_task(struct vttm_lockstep *ls)
{
	struct vttm_task *task;

	if (!READ_ONCE(ls->num_tasks))
		return NULL;

	guard(spinlock)(&ls->lock);
	list_for_each_entry(task, &ls->tasks, node) {
		if (task->thread == current) {
			kref_get(&task->ref);
			return task;
		}
	}

	return NULL;
}

static struct vttm_task *find_task(struct vttm_lockstep *ls, u64 id)
{
	struct vttm_task *task;

	lockdep_assert_held(&ls->lock);
	list_for_each_entry(task, &ls->tasks, node)
		if (task->id == id)
			return task;

	return NULL;
}

static bool is_at_rest(struct vttm_task *task)
{
	switch (task->phase) {
	case VTTM_TASK_IDLE:
	case VTTM_TASK_PARKED:
		return true;
	case VTTM_TASK_LOCKING:
		return dma_lab_task_is_asleep(task->thread);
	case VTTM_TASK_RUNNING:
	default:
		/* It won't tell any more. */
		return READ_ONCE(task->thread->flags) & PF_EXITING;
	}
}

/* Are all tasks at rest, except @self if that isn't NULL? */
static bool all_at_rest(struct vttm_lockstep *ls, struct vttm_task *self)
{
	struct vttm_task *task;

	guard(spinlock)(&ls->lock);
	list_for_each_entry(task, &ls->tasks, node)
		if (task != self && !is_at_rest(task))
			return false;

	return true;
}

/*
 * Wait for those that the running task may have woken.
 *
 * A lock can be released under a spinlock, though not one that somebody waits
 * for: TTM does it to BOs that are about to be freed.
 */
static void wait_for_others(struct vttm_lockstep *ls, struct vttm_task *self)
{
	unsigned int i;

	for (i = 0; !all_at_rest(ls, self); i++) {
		if (in_atomic() || irqs_disabled())
			cpu_relax();
		else if (fatal_signal_pending(current))
			return;
		else if (i < 20)
			cond_resched();
		else
			usleep_range(10, 50);
	}
}

static enum vttm_task_phase get_phase(struct vttm_lockstep *ls, struct vttm_task *task)
{
	guard(spinlock)(&ls->lock);
	return task->phase;
}

/* Enter a phase, unless the task was released meanwhile. */
static bool set_phase(struct vttm_lockstep *ls, struct vttm_task *task,
		      enum vttm_task_phase phase)
{
	guard(spinlock)(&ls->lock);
	if (task->phase == VTTM_TASK_IDLE)
		return false;

	task->phase = phase;
	return true;
}

static void park(struct vttm_lockstep *ls, struct vttm_task *task)
{
	if (!set_phase(ls, task, VTTM_TASK_PARKED))
		return;

	wake_up_all(&ls->rest_wq);

	/* A killed task isn't held up, nor are others by it. */
	if (wait_event_killable(task->wq, get_phase(ls, task) != VTTM_TASK_PARKED)) {
		set_phase(ls, task, VTTM_TASK_IDLE);
		wake_up_all(&ls->rest_wq);
	}
}

static void vttm_lab_before_lock(struct dma_resv *resv, struct ww_acquire_ctx *ctx)
{
	struct vttm_lockstep *ls = &lab_vdev->lockstep;
	struct vttm_task *task = get_current_task(ls);

	if (!task)
		return;

	park(ls, task);
	task->nvcsw = current->nvcsw;
	set_phase(ls, task, VTTM_TASK_LOCKING);
	task_put(task);
}

static void vttm_lab_after_lock(struct dma_resv *resv, struct ww_acquire_ctx *ctx,
				int ret)
{
	struct vttm_lockstep *ls = &lab_vdev->lockstep;
	struct vttm_task *task = get_current_task(ls);

	if (!task)
		return;

	if (get_phase(ls, task) == VTTM_TASK_LOCKING) {
		/* The running task waits for those that slept to park. */
		if (current->nvcsw != task->nvcsw)
			park(ls, task);
		else if (set_phase(ls, task, VTTM_TASK_RUNNING))
			wait_for_others(ls, task);
	}
	task_put(task);
}

static void vttm_lab_after_unlock(struct dma_resv *resv)
{
	struct vttm_lockstep *ls = &lab_vdev->lockstep;
	struct vttm_task *task = get_current_task(ls);

	if (!task)
		return;

	if (get_phase(ls, task) == VTTM_TASK_RUNNING)
		wait_for_others(ls, task);
	task_put(task);
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
 * vttm_lockstep_init() - Start to listen to locks and fences
 * @vdev: the device
 *
 * Return: 0, or -EBUSY if another driver listens.
 */
int vttm_lockstep_init(struct vttm_device *vdev)
{
	spin_lock_init(&vdev->lockstep.lock);
	INIT_LIST_HEAD(&vdev->lockstep.tasks);
	init_waitqueue_head(&vdev->lockstep.rest_wq);

	lab_vdev = vdev;
	return dma_lab_register(&vttm_lab_ops);
}

/**
 * vttm_lockstep_fini() - Stop to listen
 * @vdev: the device, without open files
 */
void vttm_lockstep_fini(struct vttm_device *vdev)
{
	dma_lab_unregister(&vttm_lab_ops);
	lab_vdev = NULL;
}

/**
 * vttm_lockstep_current_id() - Who runs?
 * @vdev: the device
 *
 * Return: number of the task, or process ID of a thread that is none.
 */
u32 vttm_lockstep_current_id(struct vttm_device *vdev)
{
	struct vttm_task *task = get_current_task(&vdev->lockstep);
	u32 id = task_pid_nr(current);

	if (task) {
		id = task->id;
		task_put(task);
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
	task_put(task);
	return -EBUSY;
}

/**
 * vttm_lockstep_begin() - The next operation of a task parks
 * @vdev: the device
 * @file: file of the controller; when it is closed the task is released
 * @id: number of the task
 *
 * Return: 0, -ENOENT, -EBUSY if an operation is under way, or -EINVAL under the
 * real clock.
 */
int vttm_lockstep_begin(struct vttm_device *vdev, struct drm_file *file, u64 id)
{
	struct vttm_lockstep *ls = &vdev->lockstep;
	struct vttm_task *task;

	if (!vdev->config.virtual_clock)
		return -EINVAL;

	guard(spinlock)(&ls->lock);
	task = find_task(ls, id);
	if (!task)
		return -ENOENT;
	if (task->phase != VTTM_TASK_IDLE)
		return -EBUSY;

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
	struct vttm_task *task = get_current_task(ls);

	if (!task)
		return -EINVAL;

	/* While it still is the one that runs. */
	vttm_clock_end_op(vdev);
	set_phase(ls, task, VTTM_TASK_IDLE);
	wake_up_all(&ls->rest_wq);
	task_put(task);
	return 0;
}

/* Wait until all tasks are at rest, and say what @task does. */
static int wait_for_rest(struct vttm_device *vdev, struct vttm_task *task, u32 *state)
{
	struct vttm_lockstep *ls = &vdev->lockstep;
	int ret;

	do {
		ret = wait_event_interruptible_hrtimeout(ls->rest_wq,
							 all_at_rest(ls, NULL),
							 ns_to_ktime(VTTM_POLL_NS));
	} while (ret == -ETIME);
	if (ret)
		return -EINTR;

	vttm_clock_end_op(vdev);

	switch (get_phase(ls, task)) {
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
		task = find_task(ls, id);
		if (!task)
			return -ENOENT;
		if (task->phase != VTTM_TASK_PARKED)
			return -EINVAL;

		kref_get(&task->ref);
		task->phase = VTTM_TASK_RUNNING;
	}

	wake_up_all(&task->wq);
	ret = wait_for_rest(vdev, task, state);
	task_put(task);
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
		task = find_task(ls, id);
		if (!task)
			return -ENOENT;
		kref_get(&task->ref);
	}

	ret = wait_for_rest(vdev, task, state);
	task_put(task);
	return ret;
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

			task->phase = VTTM_TASK_IDLE;
			task->controller = NULL;
			wake_up_all(&task->wq);

			if (task->file == file) {
				list_move(&task->node, &gone);
				WRITE_ONCE(ls->num_tasks, ls->num_tasks - 1);
			}
		}
	}

	wake_up_all(&ls->rest_wq);
	list_for_each_entry_safe(task, next, &gone, node) {
		list_del(&task->node);
		task_put(task);
	}
}
