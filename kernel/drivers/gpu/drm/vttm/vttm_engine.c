// SPDX-License-Identifier: GPL-2.0 OR MIT

#include <linux/dma-fence-unwrap.h>
#include <linux/jiffies.h>
#include <linux/overflow.h>
#include <linux/slab.h>
#include <linux/workqueue.h>

#include <drm/drm_print.h>

#include "vttm_drv.h"
#include "vttm_job.h"

/* Under the real clock a job that takes longer is cancelled, as by a reset. */
#define VTTM_JOB_TIMEOUT_MS	10000

static const char * const engine_names[VTTM_NUM_ENGINES] = {
	[VTTM_ENGINE_GFX] = "gfx",
	[VTTM_ENGINE_COPY] = "copy",
	[VTTM_ENGINE_COMPUTE] = "compute",
};

static const enum vttm_engine_id user_engines[VTTM_NUM_USER_ENGINES] = {
	[DRM_VTTM_ENGINE_GFX] = VTTM_ENGINE_GFX,
	[DRM_VTTM_ENGINE_COMPUTE] = VTTM_ENGINE_COMPUTE,
};

static const char *vttm_fence_get_driver_name(struct dma_fence *fence)
{
	return "vttm";
}

static const char *vttm_fence_get_timeline_name(struct dma_fence *fence)
{
	return container_of(fence, struct vttm_fence, base)->engine->name;
}

/* Neither release nor wait: a signaled fence outlives the module. */
static const struct dma_fence_ops vttm_fence_ops = {
	.get_driver_name = vttm_fence_get_driver_name,
	.get_timeline_name = vttm_fence_get_timeline_name,
};

static struct vttm_fence *first_running(struct vttm_engine *engine)
{
	lockdep_assert_held(&engine->lock);
	return list_first_entry_or_null(&engine->running, struct vttm_fence, node);
}

static void remove_running(struct vttm_engine *engine, struct vttm_fence *fence)
{
	lockdep_assert_held(&engine->lock);
	list_del_init(&fence->node);
	engine->num_running--;
}

static void start_timer(struct vttm_engine *engine, struct vttm_fence *fence)
{
	lockdep_assert_held(&engine->lock);
	if (!engine->vdev->config.virtual_clock)
		hrtimer_start(&engine->timer,
			      vttm_clock_to_ktime(engine->vdev, fence->end_ns),
			      HRTIMER_MODE_ABS);
}

static enum hrtimer_restart vttm_engine_timer(struct hrtimer *timer)
{
	struct vttm_engine *engine = container_of(timer, struct vttm_engine, timer);
	u64 now_ns = vttm_clock_now(engine->vdev);
	struct vttm_fence *fence, *tmp;
	unsigned long flags;
	LIST_HEAD(done);
	bool restart;

	spin_lock_irqsave(&engine->lock, flags);
	while ((fence = first_running(engine)) && fence->end_ns <= now_ns) {
		remove_running(engine, fence);
		list_add_tail(&fence->node, &done);
	}
	/* It is queued if vttm_engine_cancel() was faster. */
	restart = fence && !hrtimer_is_queued(timer);
	if (restart)
		hrtimer_set_expires(timer, vttm_clock_to_ktime(engine->vdev,
							       fence->end_ns));
	spin_unlock_irqrestore(&engine->lock, flags);

	/* The lists hold a reference. */
	list_for_each_entry_safe(fence, tmp, &done, node) {
		list_del_init(&fence->node);
		dma_fence_signal(&fence->base);
		dma_fence_put(&fence->base);
	}

	return restart ? HRTIMER_RESTART : HRTIMER_NORESTART;
}

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

/**
 * vttm_engine_alloc_fence() - Allocate the fence of a job
 * @engine: engine that the job is for
 *
 * Until it is passed to vttm_engine_run() it can be freed with kfree().
 *
 * Return: the fence, or NULL.
 */
struct vttm_fence *vttm_engine_alloc_fence(struct vttm_engine *engine)
{
	struct vttm_fence *fence = kzalloc_obj(*fence);

	if (fence) {
		fence->engine = engine;
		INIT_LIST_HEAD(&fence->node);
	}

	return fence;
}

/**
 * vttm_engine_run() - Give a job to an engine
 * @engine: the engine
 * @fence: fence of the job, which the caller gets a reference to
 * @duration_ns: how long the job takes
 *
 * The job starts when the ones before it have ended.
 */
void vttm_engine_run(struct vttm_engine *engine, struct vttm_fence *fence,
		     u64 duration_ns)
{
	unsigned long flags;

	dma_fence_init64(&fence->base, &vttm_fence_ops, NULL,
			 engine->fence_context, ++engine->seqno);
	dma_fence_get(&fence->base);

	spin_lock_irqsave(&engine->lock, flags);
	fence->start_ns = max(vttm_clock_now(engine->vdev), engine->last_end_ns);
	if (check_add_overflow(fence->start_ns, duration_ns, &fence->end_ns))
		fence->end_ns = U64_MAX;
	engine->last_end_ns = fence->end_ns;

	list_add_tail(&fence->node, &engine->running);
	engine->num_running++;
	if (engine->num_running == 1)
		start_timer(engine, fence);
	spin_unlock_irqrestore(&engine->lock, flags);
}

/**
 * vttm_engine_cancel() - End a job now that takes too long
 * @engine: engine that the job was given to
 * @fence: fence of the job
 *
 * Later jobs move up.
 */
void vttm_engine_cancel(struct vttm_engine *engine, struct dma_fence *fence)
{
	struct vttm_fence *vfence, *tmp;
	u64 now_ns = vttm_clock_now(engine->vdev);
	u64 saved_ns = 0;
	bool found = false;
	unsigned long flags;

	spin_lock_irqsave(&engine->lock, flags);
	list_for_each_entry_safe(vfence, tmp, &engine->running, node) {
		if (&vfence->base == fence) {
			saved_ns = vfence->end_ns - min(vfence->end_ns,
							max(now_ns, vfence->start_ns));
			remove_running(engine, vfence);
			found = true;
		} else if (found) {
			vfence->start_ns -= saved_ns;
			vfence->end_ns -= saved_ns;
		}
	}
	engine->last_end_ns -= saved_ns;
	vfence = first_running(engine);
	if (vfence)
		start_timer(engine, vfence);
	spin_unlock_irqrestore(&engine->lock, flags);

	if (found) {
		dma_fence_set_error(fence, -ECANCELED);
		dma_fence_signal(fence);
		dma_fence_put(fence);
	}
}

/* The engine whose first job ends next, and when. */
static struct vttm_engine *next_engine(struct vttm_device *vdev, u64 *end_ns)
{
	struct vttm_engine *next = NULL;
	int i;

	*end_ns = U64_MAX;
	for (i = 0; i < VTTM_NUM_ENGINES; i++) {
		struct vttm_engine *engine = &vdev->engines[i];
		struct vttm_fence *fence;

		guard(spinlock_irqsave)(&engine->lock);
		fence = first_running(engine);
		if (fence && (!next || fence->end_ns < *end_ns)) {
			*end_ns = fence->end_ns;
			next = engine;
		}
	}

	return next;
}

/**
 * vttm_engines_next_end() - When does the next job end?
 * @vdev: the device
 *
 * Return: device time, U64_MAX for never.
 */
u64 vttm_engines_next_end(struct vttm_device *vdev)
{
	u64 end_ns;

	next_engine(vdev, &end_ns);
	return end_ns;
}

/**
 * vttm_engines_pop_next() - Take the job off that ends next
 * @vdev: the device
 * @limit_ns: only if it ends no later
 *
 * Return: its fence, for the caller to signal and put, or NULL.
 */
struct vttm_fence *vttm_engines_pop_next(struct vttm_device *vdev, u64 limit_ns)
{
	struct vttm_engine *engine;
	struct vttm_fence *fence;
	u64 end_ns;

	engine = next_engine(vdev, &end_ns);
	if (!engine || end_ns > limit_ns)
		return NULL;

	guard(spinlock_irqsave)(&engine->lock);
	fence = first_running(engine);
	if (fence)
		remove_running(engine, fence);

	return fence;
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
	struct dma_fence *f;
	bool own = false;
	int i;

	dma_fence_unwrap_for_each(f, &iter, fence) {
		if (rcu_access_pointer(f->ops) == &vttm_fence_ops)
			own |= container_of(f, struct vttm_fence, base)->engine->vdev == vdev;

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
 * vttm_engine_is_idle() - Has an engine nothing to do?
 * @engine: the engine
 *
 * Return: true if no job runs or waits.
 */
bool vttm_engine_is_idle(struct vttm_engine *engine)
{
	guard(spinlock_irqsave)(&engine->lock);
	return !engine->num_running && !atomic_read(&engine->num_queued);
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
		engine->sched.timeout = vdev->config.virtual_clock ?
			MAX_SCHEDULE_TIMEOUT : msecs_to_jiffies(VTTM_JOB_TIMEOUT_MS);
	}
}

static int vttm_engine_init(struct vttm_device *vdev, struct vttm_engine *engine,
			    const char *name)
{
	struct drm_sched_init_args args = {
		.ops = &vttm_sched_ops,
		.submit_wq = vdev->submit_wq,
		.num_rqs = DRM_SCHED_PRIORITY_COUNT,
		/* All that is ready can be handed over: the model has no ring. */
		.credit_limit = INT_MAX,
		.timeout = MAX_SCHEDULE_TIMEOUT,
		.name = name,
		.dev = vdev->drm.dev,
	};

	engine->vdev = vdev;
	engine->name = name;
	spin_lock_init(&engine->lock);
	INIT_LIST_HEAD(&engine->running);
	atomic_set(&engine->num_queued, 0);
	hrtimer_setup(&engine->timer, vttm_engine_timer, CLOCK_MONOTONIC,
		      HRTIMER_MODE_ABS);

	return drm_sched_init(&engine->sched, &args);
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

	vdev->submit_wq = alloc_ordered_workqueue("vttm", WQ_MEM_RECLAIM);
	if (!vdev->submit_wq)
		return -ENOMEM;

	for (i = 0; i < VTTM_NUM_ENGINES; i++) {
		ret = vttm_engine_init(vdev, &vdev->engines[i], engine_names[i]);
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

	for (i = 0; i < VTTM_NUM_ENGINES; i++) {
		struct vttm_engine *engine = &vdev->engines[i];

		drm_WARN_ON(&vdev->drm, !vttm_engine_is_idle(engine));
		drm_sched_fini(&engine->sched);
		hrtimer_cancel(&engine->timer);
	}
	destroy_workqueue(vdev->submit_wq);
}
