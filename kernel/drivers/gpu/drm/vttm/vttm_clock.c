// SPDX-License-Identifier: GPL-2.0 OR MIT

#include <linux/dma-resv.h>
#include <linux/overflow.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <linux/workqueue.h>

#include <drm/drm_managed.h>
#include <drm/drm_print.h>
#include <drm/ttm/ttm_bo.h>

#include "vttm_drv.h"

/**
 * struct vttm_deferred_delete - A deleted BO or ghost that waits to be reaped
 */
struct vttm_deferred_delete {
	/** @node: Link in &vttm_clock.deferred. */
	struct list_head node;
	/** @bo: The BO, alive until it is reaped. */
	struct ttm_buffer_object *bo;
};

/**
 * vttm_clock_init() - Initialize the clock
 * @vdev: the device
 *
 * Return: 0, or a negative error code.
 */
int vttm_clock_init(struct vttm_device *vdev)
{
	INIT_LIST_HEAD(&vdev->clock.deferred);
	spin_lock_init(&vdev->clock.deferred_lock);
	vttm_clock_reset(vdev);
	return drmm_mutex_init(&vdev->drm, &vdev->clock.lock);
}

/**
 * vttm_clock_reset() - Set device time to zero
 * @vdev: the device, whose engines are idle
 */
void vttm_clock_reset(struct vttm_device *vdev)
{
	vdev->clock.base = ktime_get();
	WRITE_ONCE(vdev->clock.now_ns, 0);
}

/**
 * vttm_clock_now() - Device time
 * @vdev: the device
 *
 * Return: nanoseconds since the last reset.
 */
u64 vttm_clock_now(struct vttm_device *vdev)
{
	if (vdev->config.virtual_clock)
		return READ_ONCE(vdev->clock.now_ns);

	return ktime_to_ns(ktime_sub(ktime_get(), vdev->clock.base));
}

/**
 * vttm_clock_to_ktime() - CLOCK_MONOTONIC at some device time (real clock)
 * @vdev: the device
 * @time_ns: device time
 *
 * Return: time, at most KTIME_MAX.
 */
ktime_t vttm_clock_to_ktime(struct vttm_device *vdev, u64 time_ns)
{
	return ktime_add_safe(vdev->clock.base,
			      ns_to_ktime(min_t(u64, time_ns, KTIME_MAX)));
}

#ifdef CONFIG_DMA_LAB
static bool is_ready(struct vttm_deferred_delete *del)
{
	/* Once deleted a BO has its own reservation object. */
	return dma_resv_test_signaled(&del->bo->base._resv,
				      DMA_RESV_USAGE_BOOKKEEP) &&
	       !dma_resv_is_locked(del->bo->base.resv);
}

/* Reap what can be reaped now, in order of deletion. */
static bool reap(struct vttm_device *vdev)
{
	struct vttm_clock *clock = &vdev->clock;
	struct vttm_deferred_delete *del, *next;
	bool progress = false;
	LIST_HEAD(ready);
	LIST_HEAD(left);

	/* Others only append; BOs on the list can't go away. */
	scoped_guard(spinlock, &clock->deferred_lock) {
		list_for_each_entry_safe(del, next, &clock->deferred, node)
			if (is_ready(del))
				list_move_tail(&del->node, &ready);
	}

	list_for_each_entry_safe(del, next, &ready, node) {
		list_del(&del->node);
		if (ttm_bo_delayed_delete_now(del->bo)) {
			kfree(del);
			progress = true;
		} else {
			list_add_tail(&del->node, &left);
		}
	}

	scoped_guard(spinlock, &clock->deferred_lock)
		list_splice(&left, &clock->deferred);

	return progress;
}
#else
static bool reap(struct vttm_device *vdev)
{
	return false;
}
#endif

static void clock_lock(struct vttm_clock *clock)
{
	mutex_lock(&clock->lock);
	WRITE_ONCE(clock->owner, current);
}

static void clock_unlock(struct vttm_clock *clock)
{
	WRITE_ONCE(clock->owner, NULL);
	mutex_unlock(&clock->lock);
}

static void settle_locked(struct vttm_device *vdev)
{
	lockdep_assert_held(&vdev->clock.lock);
	do {
		vttm_engines_flush(vdev);
	} while (reap(vdev));
}

/** struct vttm_expire_work - A job ends. */
struct vttm_expire_work {
	/** @base: The work. */
	struct work_struct base;
	/** @engine: The engine that runs it. */
	struct vttm_engine *engine;
};

static void expire_work(struct work_struct *base)
{
	vttm_engine_expire(container_of(base, struct vttm_expire_work, base)->engine);
}

/*
 * One fence can make several entities ready, one after another. Signal it where
 * the schedulers run, lest they choose between the first of these only.
 */
static void expire(struct vttm_engine *engine)
{
	struct vttm_expire_work work = { .engine = engine };

	INIT_WORK_ONSTACK(&work.base, expire_work);
	queue_work(engine->vdev->submit_wq, &work.base);
	flush_work(&work.base);
	destroy_work_on_stack(&work.base);
}

/* Go to the next event, but not beyond @limit_ns. */
static bool step_locked(struct vttm_device *vdev, u64 limit_ns)
{
	struct vttm_engine *engine;
	u64 end_ns;

	lockdep_assert_held(&vdev->clock.lock);

	engine = vttm_engines_next(vdev, &end_ns);
	if (!engine || end_ns > limit_ns)
		return false;

	WRITE_ONCE(vdev->clock.now_ns, end_ns);
	expire(engine);
	settle_locked(vdev);
	return true;
}

/**
 * vttm_clock_settle() - Let everything happen that can happen now
 * @vdev: the device
 *
 * On return schedulers have nothing to do, and deleted BOs and ghosts whose
 * fences are signaled and whose reservation lock nobody holds are gone.
 *
 * Under the virtual clock it can be called with reservation locks held. Under
 * the real clock it can't, as it waits for all deletions that are under way.
 */
void vttm_clock_settle(struct vttm_device *vdev)
{
	if (!vdev->config.virtual_clock) {
		vttm_engines_flush(vdev);
		flush_workqueue(vdev->bdev.wq);
		return;
	}

	clock_lock(&vdev->clock);
	settle_locked(vdev);
	clock_unlock(&vdev->clock);
}

/**
 * vttm_clock_end_op() - An operation is over
 * @vdev: the device
 *
 * Settles under the virtual clock.
 */
void vttm_clock_end_op(struct vttm_device *vdev)
{
	if (vdev->config.virtual_clock)
		vttm_clock_settle(vdev);
}

/**
 * vttm_clock_advance() - Advance the virtual clock
 * @vdev: the device
 * @time_ns: device time to advance to
 *
 * Return: 0, or -EINVAL if the clock is real or past @time_ns.
 */
int vttm_clock_advance(struct vttm_device *vdev, u64 time_ns)
{
	struct vttm_clock *clock = &vdev->clock;
	int ret = 0;

	if (!vdev->config.virtual_clock)
		return -EINVAL;

	clock_lock(clock);
	settle_locked(vdev);
	if (time_ns >= clock->now_ns) {
		while (step_locked(vdev, time_ns))
			cond_resched();
		WRITE_ONCE(clock->now_ns, time_ns);
	} else {
		ret = -EINVAL;
	}
	clock_unlock(clock);

	return ret;
}

/**
 * vttm_clock_run_dry() - Advance the virtual clock until nothing is left to do
 * @vdev: the device
 */
void vttm_clock_run_dry(struct vttm_device *vdev)
{
	clock_lock(&vdev->clock);
	settle_locked(vdev);
	while (step_locked(vdev, U64_MAX))
		cond_resched();
	clock_unlock(&vdev->clock);
}

/**
 * vttm_clock_wait_fence() - Advance the virtual clock until a fence is signaled
 * @vdev: the device
 * @fence: the fence; not one of ours is left alone
 *
 * Does nothing under the real clock. Can be called with reservation locks held.
 */
void vttm_clock_wait_fence(struct vttm_device *vdev, struct dma_fence *fence)
{
	struct vttm_clock *clock = &vdev->clock;

	if (!vdev->config.virtual_clock || dma_fence_is_signaled(fence) ||
	    !vttm_engines_own_fence(vdev, fence))
		return;

	/* A release that runs out of memory waits while it is reaped. */
	if (READ_ONCE(clock->owner) == current)
		return;

	clock_lock(clock);
	settle_locked(vdev);
	while (!dma_fence_is_signaled(fence)) {
		if (!step_locked(vdev, U64_MAX)) {
			/* Unless a job waits for somebody else's fence. */
			drm_WARN_ONCE(&vdev->drm, !vttm_engines_have_queued(vdev),
				      "nothing will signal fence %llu:%llu\n",
				      fence->context, fence->seqno);
			break;
		}
	}
	clock_unlock(clock);
}

/**
 * vttm_clock_defer_delete() - Take over the delayed delete of a BO
 * @vdev: the device
 * @bo: the BO or ghost
 *
 * TTM's workers would delete it at a time of their own.
 *
 * Return: true under the virtual clock, else false.
 */
bool vttm_clock_defer_delete(struct vttm_device *vdev,
			     struct ttm_buffer_object *bo)
{
	struct vttm_deferred_delete *del;

	if (!vdev->config.virtual_clock)
		return false;

	del = kmalloc_obj(*del, GFP_KERNEL | __GFP_NOFAIL);
	del->bo = bo;

	guard(spinlock)(&vdev->clock.deferred_lock);
	list_add_tail(&del->node, &vdev->clock.deferred);
	return true;
}
