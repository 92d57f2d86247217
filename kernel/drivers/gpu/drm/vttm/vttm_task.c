// SPDX-License-Identifier: GPL-2.0 OR MIT

#include <linux/delay.h>
#include <linux/dma-lab.h>
#include <linux/preempt.h>
#include <linux/sched/signal.h>
#include <linux/sched/task.h>
#include <linux/slab.h>

#include "vttm_drv.h"
#include "vttm_task.h"

static void task_free(struct kref *ref)
{
	struct vttm_task *task = container_of(ref, struct vttm_task, ref);

	put_task_struct(task->thread);
	kfree(task);
}

/**
 * vttm_task_put() - Drop a reference
 * @task: the task
 */
void vttm_task_put(struct vttm_task *task)
{
	kref_put(&task->ref, task_free);
}

/**
 * vttm_task_get_current() - Which task is the calling thread?
 * @ls: the tasks
 *
 * Return: the task with a reference, or NULL if it is none.
 */
struct vttm_task *vttm_task_get_current(struct vttm_lockstep *ls)
{
	struct vttm_task *task;

	/* A task that exits isn't held up while it closes its files. */
	if (!READ_ONCE(ls->num_tasks) || (current->flags & PF_EXITING))
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

/**
 * vttm_task_find() - Find a task
 * @ls: the tasks, with their lock held
 * @id: its number
 *
 * Return: the task or NULL.
 */
struct vttm_task *vttm_task_find(struct vttm_lockstep *ls, u64 id)
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

/**
 * vttm_tasks_are_at_rest() - Are all tasks at rest?
 * @ls: the tasks
 * @self: one that doesn't matter, or NULL
 *
 * Return: true if they are.
 */
bool vttm_tasks_are_at_rest(struct vttm_lockstep *ls, struct vttm_task *self)
{
	struct vttm_task *task;

	guard(spinlock)(&ls->lock);
	list_for_each_entry(task, &ls->tasks, node)
		if (task != self && !is_at_rest(task))
			return false;

	return true;
}

/**
 * vttm_task_wait_for_others() - Wait for those whom the running task has woken
 * @ls: the tasks
 * @self: the running task
 *
 * A lock can be released under a spinlock, though not one that somebody waits
 * for: TTM does it to BOs that are about to be freed.
 */
void vttm_task_wait_for_others(struct vttm_lockstep *ls, struct vttm_task *self)
{
	unsigned int i;

	for (i = 0; !vttm_tasks_are_at_rest(ls, self); i++) {
		if (preempt_count())
			cpu_relax();
		else if (fatal_signal_pending(current))
			return;
		else if (i < 20)
			cond_resched();
		else
			usleep_range(10, 50);
	}
}

/**
 * vttm_task_get_phase() - What does a task do?
 * @ls: the tasks
 * @task: the task
 *
 * Return: its phase.
 */
enum vttm_task_phase vttm_task_get_phase(struct vttm_lockstep *ls, struct vttm_task *task)
{
	guard(spinlock)(&ls->lock);
	return task->phase;
}

/**
 * vttm_task_set_phase() - Enter a phase
 * @ls: the tasks
 * @task: the task
 * @phase: the phase
 *
 * Return: false if the task was released meanwhile, and stays idle.
 */
bool vttm_task_set_phase(struct vttm_lockstep *ls, struct vttm_task *task,
			 enum vttm_task_phase phase)
{
	guard(spinlock)(&ls->lock);
	if (task->phase == VTTM_TASK_IDLE)
		return false;

	task->phase = phase;
	return true;
}

/**
 * vttm_task_park() - Wait for a step
 * @ls: the tasks
 * @task: the calling task
 */
void vttm_task_park(struct vttm_lockstep *ls, struct vttm_task *task)
{
	if (!vttm_task_set_phase(ls, task, VTTM_TASK_PARKED))
		return;

	wake_up_all(&ls->rest_wq);

	/* A killed task isn't held up, nor are others by it. */
	if (wait_event_killable(task->wq, vttm_task_get_phase(ls, task) != VTTM_TASK_PARKED)) {
		vttm_task_set_phase(ls, task, VTTM_TASK_IDLE);
		wake_up_all(&ls->rest_wq);
	}
}
