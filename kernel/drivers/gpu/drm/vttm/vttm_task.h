/* SPDX-License-Identifier: GPL-2.0 OR MIT */
#ifndef _VTTM_TASK_H_
#define _VTTM_TASK_H_

#include <linux/kref.h>
#include <linux/list.h>
#include <linux/types.h>
#include <linux/wait.h>

struct drm_file;
struct task_struct;
struct vttm_lockstep;

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

struct vttm_task *vttm_task_get_current(struct vttm_lockstep *ls);
struct vttm_task *vttm_task_find(struct vttm_lockstep *ls, u64 id);
void vttm_task_put(struct vttm_task *task);

enum vttm_task_phase vttm_task_get_phase(struct vttm_lockstep *ls,
					 struct vttm_task *task);
bool vttm_task_set_phase(struct vttm_lockstep *ls, struct vttm_task *task,
			 enum vttm_task_phase phase);
bool vttm_tasks_are_at_rest(struct vttm_lockstep *ls, struct vttm_task *self);
void vttm_task_wait_for_others(struct vttm_lockstep *ls, struct vttm_task *self);
void vttm_task_park(struct vttm_lockstep *ls, struct vttm_task *task);

#endif
