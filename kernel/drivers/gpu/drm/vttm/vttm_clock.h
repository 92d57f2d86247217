/* SPDX-License-Identifier: GPL-2.0 OR MIT */
#ifndef _VTTM_CLOCK_H_
#define _VTTM_CLOCK_H_

#include <linux/ktime.h>
#include <linux/list.h>
#include <linux/mutex.h>
#include <linux/spinlock.h>

struct dma_fence;
struct task_struct;
struct ttm_buffer_object;
struct vttm_device;

/**
 * struct vttm_clock - Device time
 *
 * Under the real clock device time is the time since the last reset, and jobs
 * end by timers.
 *
 * Under the virtual clock it stands still but for vttm_clock_advance() and
 * vttm_clock_wait_fence(), which go from the end of one job to that of the next
 * and let everything happen that can happen at each of them. It takes one
 * caller at a time that knows what it does; &vttm_lockstep provides that.
 */
struct vttm_clock {
	/** @base: CLOCK_MONOTONIC at device time 0 (real clock). */
	ktime_t base;
	/** @now_ns: Device time (virtual clock). Written under @lock. */
	u64 now_ns;
	/** @lock: Serializes those who advance the clock. */
	struct mutex lock;
	/** @owner: Holder of @lock. */
	struct task_struct *owner;
	/** @deferred: Deleted BOs to reap. Protected by @deferred_lock. */
	struct list_head deferred;
	/** @deferred_lock: Protects @deferred. */
	spinlock_t deferred_lock;
};

int vttm_clock_init(struct vttm_device *vdev);
void vttm_clock_reset(struct vttm_device *vdev);
u64 vttm_clock_now(struct vttm_device *vdev);
ktime_t vttm_clock_to_ktime(struct vttm_device *vdev, u64 time_ns);

void vttm_clock_settle(struct vttm_device *vdev);
void vttm_clock_end_op(struct vttm_device *vdev);
int vttm_clock_advance(struct vttm_device *vdev, u64 time_ns);
void vttm_clock_run_dry(struct vttm_device *vdev);
void vttm_clock_wait_fence(struct vttm_device *vdev, struct dma_fence *fence);
bool vttm_clock_defer_delete(struct vttm_device *vdev,
			     struct ttm_buffer_object *bo);

#endif
