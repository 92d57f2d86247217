// SPDX-License-Identifier: GPL-2.0 OR MIT
/* All engines of a device: which of them is next, and what they share. */

#include <linux/build_bug.h>
#include <linux/dma-fence-unwrap.h>
#include <linux/hrtimer.h>
#include <linux/jiffies.h>
#include <linux/limits.h>
#include <linux/workqueue.h>

#include "vttm_drv.h"
#include "vttm_fence.h"
#include "vttm_job.h"

static_assert(VTTM_NUM_ENGINES == VTTM_LINK_MAX_JOBS);

static const char * const engine_names[VTTM_NUM_ENGINES] = {
	[VTTM_ENGINE_GFX] = "gfx",
	[VTTM_ENGINE_COPY] = "copy",
	[VTTM_ENGINE_COMPUTE] = "compute",
};

static const enum vttm_engine_id user_engines[VTTM_NUM_USER_ENGINES] = {
	[DRM_VTTM_ENGINE_GFX] = VTTM_ENGINE_GFX,
	[DRM_VTTM_ENGINE_COMPUTE] = VTTM_ENGINE_COMPUTE,
};

/**
 * vttm_engine_of_user() - Engine that user space means
 * @vdev: the device
 * @index: enum drm_vttm_engine, valid
 *
 * Return: the engine.
 */
struct vttm_engine *vttm_engine_of_user(struct vttm_device *vdev, unsigned int index)
{
	return &vdev->engines[user_engines[index]];
}

/* The engine whose job ends next, and when. */
static struct vttm_engine *next_engine(struct vttm_device *vdev, u64 *end_ns)
{
	struct vttm_engine *next = NULL;
	int i;

	lockdep_assert_held(&vdev->engine_lock);
	*end_ns = U64_MAX;
	for (i = 0; i < VTTM_NUM_ENGINES; i++) {
		struct vttm_engine *engine = &vdev->engines[i];
		u64 this_ns = vttm_engine_end_ns(engine);

		if (engine->num_running && (!next || this_ns < *end_ns)) {
			*end_ns = this_ns;
			next = engine;
		}
	}

	return next;
}

/**
 * vttm_engines_next() - Which job ends next?
 * @vdev: the device
 * @end_ns: returns when it ends, %U64_MAX for never
 *
 * Return: the engine that runs it, or NULL.
 */
struct vttm_engine *vttm_engines_next(struct vttm_device *vdev, u64 *end_ns)
{
	guard(spinlock_irqsave)(&vdev->engine_lock);
	return next_engine(vdev, end_ns);
}

/**
 * vttm_engines_catch_up() - Let all jobs end that are over (real clock)
 * @vdev: the device
 *
 * One after another, each at its time, as what starts then slows others down.
 * To be called before anything starts or stops now, with
 * &vttm_device.engine_lock held, and vttm_engines_rearm() after it. Under the
 * virtual clock each end is a step of its own, and nothing happens here.
 *
 * Return: device time.
 */
u64 vttm_engines_catch_up(struct vttm_device *vdev)
{
	u64 now_ns = vttm_clock_now(vdev), end_ns;
	struct vttm_engine *engine;

	while (!vdev->config.virtual_clock) {
		engine = next_engine(vdev, &end_ns);
		if (!engine || end_ns > now_ns)
			break;
		vttm_engine_end_job(engine);
	}

	return now_ns;
}

/**
 * vttm_engines_rearm() - Let the timer fire when the next job ends (real clock)
 * @vdev: the device
 *
 * At once if jobs have ended already: it is the timer that signals their
 * fences, so that these signal in order. Called with &vttm_device.engine_lock
 * held.
 */
void vttm_engines_rearm(struct vttm_device *vdev)
{
	u64 time_ns = 0;

	lockdep_assert_held(&vdev->engine_lock);
	if (vdev->config.virtual_clock)
		return;

	if (list_empty(&vdev->ended) && !next_engine(vdev, &time_ns))
		return;

	hrtimer_start(&vdev->engine_timer, vttm_clock_to_ktime(vdev, time_ns),
		      HRTIMER_MODE_ABS);
}

static enum hrtimer_restart vttm_engines_timer(struct hrtimer *timer)
{
	struct vttm_device *vdev = container_of(timer, struct vttm_device, engine_timer);
	LIST_HEAD(ended);

	scoped_guard(spinlock_irqsave, &vdev->engine_lock) {
		vttm_engines_catch_up(vdev);
		list_splice_init(&vdev->ended, &ended);
		vttm_engines_rearm(vdev);
	}

	/* The list holds a reference to each. */
	vttm_fence_end_all(&ended, 0);
	return HRTIMER_NORESTART;
}

/**
 * vttm_engines_have_queued() - Does a job wait for its dependencies?
 * @vdev: the device
 *
 * Return: true if one does.
 */
bool vttm_engines_have_queued(struct vttm_device *vdev)
{
	int i;

	for (i = 0; i < VTTM_NUM_ENGINES; i++)
		if (atomic_read(&vdev->engines[i].num_queued))
			return true;

	return false;
}

/**
 * vttm_engines_own_fence() - Is it up to our engines to signal a fence?
 * @vdev: the device
 * @fence: any fence
 *
 * Return: true if @fence is that of a job of ours, or contains one.
 */
bool vttm_engines_own_fence(struct vttm_device *vdev, struct dma_fence *fence)
{
	struct dma_fence_unwrap iter;
	struct drm_sched_fence *s_fence;
	struct vttm_engine *engine;
	struct dma_fence *f;
	bool own = false;
	int i;

	dma_fence_unwrap_for_each(f, &iter, fence) {
		engine = vttm_fence_engine(f);
		own |= engine && engine->vdev == vdev;

		s_fence = to_drm_sched_fence(f);
		for (i = 0; s_fence && i < VTTM_NUM_ENGINES; i++)
			own |= s_fence->sched == &vdev->engines[i].sched;
	}

	return own;
}

/**
 * vttm_engines_flush() - Wait until the schedulers have nothing to do now
 * @vdev: the device
 *
 * Then each ready job was given to its engine and each finished one freed. Can
 * be called with reservation locks held: the schedulers' work takes none.
 */
void vttm_engines_flush(struct vttm_device *vdev)
{
	bool busy;
	int i;

	do {
		flush_workqueue(vdev->submit_wq);
		busy = false;
		for (i = 0; i < VTTM_NUM_ENGINES; i++) {
			struct drm_gpu_scheduler *sched = &vdev->engines[i].sched;

			busy |= work_busy(&sched->work_run_job) ||
				work_busy(&sched->work_free_job);
		}
	} while (busy);
}

/**
 * vttm_engines_reset() - Forget the past of idle engines
 * @vdev: the device
 *
 * Takes the kind of clock from the configuration.
 */
void vttm_engines_reset(struct vttm_device *vdev)
{
	int i;

	for (i = 0; i < VTTM_NUM_ENGINES; i++) {
		struct vttm_engine *engine = &vdev->engines[i];

		engine->last_end_ns = 0;
		engine->seqno = 0;
		engine->fence_context = dma_fence_context_alloc(1);
	}

	vttm_engines_set_timeout(vdev, vdev->config.job_timeout_ns);
}

/**
 * vttm_engines_set_timeout() - Say how long jobs may take
 * @vdev: the device
 * @timeout_ns: device time, 0 for ever
 *
 * A job that has started keeps the old one.
 */
void vttm_engines_set_timeout(struct vttm_device *vdev, u64 timeout_ns)
{
	long timeout = MAX_SCHEDULE_TIMEOUT;
	int i;

	/* One jiffy more: the engine is the first to know. */
	if (timeout_ns && !vdev->config.virtual_clock)
		timeout = min_t(u64, nsecs_to_jiffies64(timeout_ns) + 2,
				MAX_SCHEDULE_TIMEOUT);

	WRITE_ONCE(vdev->job_timeout_ns, timeout_ns);
	for (i = 0; i < VTTM_NUM_ENGINES; i++)
		WRITE_ONCE(vdev->engines[i].sched.timeout, timeout);
}

/**
 * vttm_engines_kill() - End all jobs, those that are still to come as well
 * @vdev: the device
 * @error: how they end
 */
void vttm_engines_kill(struct vttm_device *vdev, int error)
{
	unsigned int i;

	for (i = 0; i < VTTM_NUM_ENGINES; i++)
		vttm_engine_kill(&vdev->engines[i], error);
}

/**
 * vttm_engines_init() - Create the engines and their schedulers
 * @vdev: the device
 *
 * Return: 0, or a negative error code.
 */
int vttm_engines_init(struct vttm_device *vdev)
{
	int i, ret;

	spin_lock_init(&vdev->engine_lock);
	INIT_LIST_HEAD(&vdev->ended);
	hrtimer_setup(&vdev->engine_timer, vttm_engines_timer, CLOCK_MONOTONIC,
		      HRTIMER_MODE_ABS);

	vdev->submit_wq = alloc_ordered_workqueue("vttm", WQ_MEM_RECLAIM);
	if (!vdev->submit_wq)
		return -ENOMEM;

	for (i = 0; i < VTTM_NUM_ENGINES; i++) {
		ret = vttm_engine_init(vdev, i, engine_names[i]);
		if (ret)
			goto err_engines;
	}

	vttm_engines_reset(vdev);
	return 0;

err_engines:
	while (i--)
		drm_sched_fini(&vdev->engines[i].sched);
	destroy_workqueue(vdev->submit_wq);
	return ret;
}

/**
 * vttm_engines_fini() - Destroy the idle engines
 * @vdev: the device
 */
void vttm_engines_fini(struct vttm_device *vdev)
{
	int i;

	for (i = 0; i < VTTM_NUM_ENGINES; i++)
		vttm_engine_fini(&vdev->engines[i]);
	hrtimer_cancel(&vdev->engine_timer);
	destroy_workqueue(vdev->submit_wq);
}
