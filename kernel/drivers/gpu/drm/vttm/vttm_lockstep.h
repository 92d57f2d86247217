/* SPDX-License-Identifier: GPL-2.0 OR MIT */
#ifndef _VTTM_LOCKSTEP_H_
#define _VTTM_LOCKSTEP_H_

#include <linux/list.h>
#include <linux/sched.h>
#include <linux/spinlock.h>
#include <linux/types.h>
#include <linux/wait.h>

struct drm_file;
struct vttm_device;

/**
 * struct vttm_lockstep - Tasks that run in lockstep
 */
struct vttm_lockstep {
	/** @enabled: This is the device that hooks report to. */
	bool enabled;
	/** @lock: Protects the tasks. */
	spinlock_t lock;
	/** @tasks: The tasks. */
	struct list_head tasks;
	/** @closed: No task parks any more. */
	bool closed;
	/** @num_tasks: Length of @tasks; read without @lock to be quick. */
	unsigned int num_tasks;
	/** @rest_wq: Woken when a task comes to rest. */
	wait_queue_head_t rest_wq;
};

#ifdef CONFIG_DMA_LAB

int vttm_lockstep_claim(struct vttm_device *vdev);
int vttm_lockstep_init(struct vttm_device *vdev);
void vttm_lockstep_fini(struct vttm_device *vdev);
u32 vttm_lockstep_current_id(struct vttm_device *vdev);
int vttm_lockstep_add_task(struct vttm_device *vdev, struct drm_file *file, u64 id);
int vttm_lockstep_begin(struct vttm_device *vdev, struct drm_file *file, u64 id);
int vttm_lockstep_end(struct vttm_device *vdev);
int vttm_lockstep_step(struct vttm_device *vdev, u64 id, u32 *state);
int vttm_lockstep_state(struct vttm_device *vdev, u64 id, u32 *state);
void vttm_lockstep_release_file(struct vttm_device *vdev, struct drm_file *file);
void vttm_lockstep_release_all(struct vttm_device *vdev);

#else /* !CONFIG_DMA_LAB */

static inline int vttm_lockstep_claim(struct vttm_device *vdev)
{
	return 0;
}

static inline int vttm_lockstep_init(struct vttm_device *vdev)
{
	return 0;
}

static inline void vttm_lockstep_fini(struct vttm_device *vdev)
{
}

static inline u32 vttm_lockstep_current_id(struct vttm_device *vdev)
{
	return task_pid_nr(current);
}

static inline int vttm_lockstep_add_task(struct vttm_device *vdev,
					 struct drm_file *file, u64 id)
{
	return -EOPNOTSUPP;
}

static inline int vttm_lockstep_begin(struct vttm_device *vdev,
				      struct drm_file *file, u64 id)
{
	return -EOPNOTSUPP;
}

static inline int vttm_lockstep_end(struct vttm_device *vdev)
{
	return -EOPNOTSUPP;
}

static inline int vttm_lockstep_step(struct vttm_device *vdev, u64 id, u32 *state)
{
	return -EOPNOTSUPP;
}

static inline int vttm_lockstep_state(struct vttm_device *vdev, u64 id, u32 *state)
{
	return -EOPNOTSUPP;
}

static inline void vttm_lockstep_release_file(struct vttm_device *vdev,
					      struct drm_file *file)
{
}

static inline void vttm_lockstep_release_all(struct vttm_device *vdev)
{
}

#endif /* CONFIG_DMA_LAB */

#endif
