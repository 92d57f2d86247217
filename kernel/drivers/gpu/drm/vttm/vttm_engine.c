// SPDX-License-Identifier: GPL-2.0 OR MIT
/* One engine: jobs one after another, each for a modelled time. */

#include <linux/overflow.h>
#include <linux/slab.h>

#include <drm/drm_print.h>

#include "vttm_ctx.h"
#include "vttm_drv.h"
#include "vttm_job.h"

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

/* Take a fence off that ends or has ended at @time_ns. */
static void remove_running(struct vttm_engine *engine, struct vttm_fence *fence,
			   u64 time_ns)
{
	lockdep_assert_held(&engine->lock);
	list_del_init(&fence->node);
	engine->num_running--;
	time_ns = min(time_ns, fence->end_ns);
	if (fence->ctx && time_ns > fence->start_ns)
		atomic64_add(time_ns - fence->start_ns,
			     &fence->ctx->busy_ns[engine - engine->vdev->engines]);
}

static void start_timer(struct vttm_engine *engine, struct vttm_fence *fence)
{
	lockdep_assert_held(&engine->lock);
	if (!engine->vdev->config.virtual_clock)
		hrtimer_start(&engine->timer,
			      vttm_clock_to_ktime(engine->vdev, fence->end_ns),
			      HRTIMER_MODE_ABS);
}

static void set_start(struct vttm_fence *fence, u64 start_ns)
{
	fence->start_ns = start_ns;
	if (check_add_overflow(start_ns, fence->duration_ns, &fence->end_ns))
		fence->end_ns = U64_MAX;
}

/* Those that have not started follow each other from now on. */
static void move_up(struct vttm_engine *engine)
{
	u64 now_ns = vttm_clock_now(engine->vdev), end_ns = now_ns;
	struct vttm_fence *fence;

	lockdep_assert_held(&engine->lock);
	list_for_each_entry(fence, &engine->running, node) {
		if (fence->start_ns > now_ns)
			set_start(fence, end_ns);
		end_ns = fence->end_ns;
	}
	engine->last_end_ns = min(engine->last_end_ns, end_ns);

	fence = first_running(engine);
	if (fence)
		start_timer(engine, fence);
}

/**
 * vttm_fence_end() - Signal the fence of a job that its engine has let go of
 * @fence: the fence, whose reference goes
 * @error: how the job ends: 0, or a negative error code
 */
void vttm_fence_end(struct vttm_fence *fence, int error)
{
	vttm_ctx_put(fence->ctx);
	fence->ctx = NULL;

	if (error)
		dma_fence_set_error(&fence->base, error);
	dma_fence_signal(&fence->base);
	dma_fence_put(&fence->base);
}

static void end_all(struct list_head *done, int error)
{
	struct vttm_fence *fence, *next;

	list_for_each_entry_safe(fence, next, done, node) {
		list_del_init(&fence->node);
		vttm_fence_end(fence, error);
	}
}

static enum hrtimer_restart vttm_engine_timer(struct hrtimer *timer)
{
	struct vttm_engine *engine = container_of(timer, struct vttm_engine, timer);
	u64 now_ns = vttm_clock_now(engine->vdev);
	struct vttm_fence *fence;
	unsigned long flags;
	LIST_HEAD(done);
	bool restart, hung;

	spin_lock_irqsave(&engine->lock, flags);
	while ((fence = first_running(engine)) && fence->end_ns <= now_ns &&
	       !fence->hung) {
		remove_running(engine, fence, fence->end_ns);
		list_add_tail(&fence->node, &done);
	}
	hung = fence && fence->end_ns <= now_ns;
	/* It is queued if jobs that moved up were faster. */
	restart = fence && !hung && !hrtimer_is_queued(timer);
	if (restart)
		hrtimer_set_expires(timer, vttm_clock_to_ktime(engine->vdev,
							       fence->end_ns));
	spin_unlock_irqrestore(&engine->lock, flags);

	/* The list holds a reference to each. */
	end_all(&done, 0);
	if (hung)
		drm_sched_fault(&engine->sched);

	return restart ? HRTIMER_RESTART : HRTIMER_NORESTART;
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

/* The job starts when the ones before it have ended. */
static void set_times(struct vttm_engine *engine, struct vttm_fence *fence,
		      u64 duration_ns)
{
	u64 timeout_ns = READ_ONCE(engine->vdev->job_timeout_ns);

	lockdep_assert_held(&engine->lock);
	if (timeout_ns && duration_ns > timeout_ns) {
		fence->hung = true;
		duration_ns = timeout_ns;
	}

	fence->duration_ns = duration_ns;
	set_start(fence, max(vttm_clock_now(engine->vdev), engine->last_end_ns));
	engine->last_end_ns = fence->end_ns;
}

/**
 * vttm_engine_run() - Give a job to an engine
 * @engine: the engine
 * @fence: fence of the job, which the caller gets a reference to
 * @duration_ns: how long the job takes
 */
void vttm_engine_run(struct vttm_engine *engine, struct vttm_fence *fence,
		     u64 duration_ns)
{
	int error = 0;

	dma_fence_init64(&fence->base, &vttm_fence_ops, NULL,
			 engine->fence_context, ++engine->seqno);
	dma_fence_get(&fence->base);

	scoped_guard(spinlock_irqsave, &engine->lock) {
		set_times(engine, fence, duration_ns);
		if (vttm_ctx_is_banned(fence->ctx))
			error = -ECANCELED;
		if (engine->dead)
			error = engine->dead;

		if (!error) {
			list_add_tail(&fence->node, &engine->running);
			engine->num_running++;
			if (engine->num_running == 1)
				start_timer(engine, fence);
		} else {
			engine->last_end_ns = fence->start_ns;
		}
	}

	if (error)
		vttm_fence_end(fence, error);
}

/* Take off the jobs of a VM, or all, for the caller to end. Others move up. */
static void take_off(struct vttm_engine *engine, struct vttm_ctx *ctx,
		     struct list_head *done)
{
	u64 now_ns = vttm_clock_now(engine->vdev);
	struct vttm_fence *fence, *next;

	lockdep_assert_held(&engine->lock);
	list_for_each_entry_safe(fence, next, &engine->running, node) {
		if (ctx && fence->ctx != ctx)
			continue;
		remove_running(engine, fence, now_ns);
		list_add_tail(&fence->node, done);
	}
	move_up(engine);
}

static void cancel(struct vttm_engine *engine, struct vttm_ctx *ctx, int dead, int error)
{
	LIST_HEAD(done);

	scoped_guard(spinlock_irqsave, &engine->lock) {
		if (dead)
			engine->dead = dead;
		take_off(engine, ctx, &done);
	}

	end_all(&done, error);
}

/**
 * vttm_engine_cancel() - End the jobs of a VM
 * @engine: the engine
 * @ctx: context of the VM, which is banned
 * @error: how they end
 *
 * Those that run and those that wait for their turn; other jobs move up.
 */
void vttm_engine_cancel(struct vttm_engine *engine, struct vttm_ctx *ctx, int error)
{
	cancel(engine, ctx, 0, error);
}

/**
 * vttm_engine_kill() - End all jobs, those that are still to come as well
 * @engine: the engine
 * @error: how they end
 */
void vttm_engine_kill(struct vttm_engine *engine, int error)
{
	cancel(engine, NULL, error, error);
}

/**
 * vttm_engine_recover() - Let an engine go on whose job hangs (real clock)
 * @engine: the engine; nothing happens if none of its jobs hangs
 */
void vttm_engine_recover(struct vttm_engine *engine)
{
	struct vttm_fence *fence;
	LIST_HEAD(done);

	scoped_guard(spinlock_irqsave, &engine->lock) {
		fence = first_running(engine);
		if (!fence || !fence->hung ||
		    fence->end_ns > vttm_clock_now(engine->vdev))
			return;

		remove_running(engine, fence, fence->end_ns);
		/* At once: it is the turn of what was behind it. */
		if (fence->ctx) {
			vttm_ctx_ban(fence->ctx, fence->tag);
			take_off(engine, fence->ctx, &done);
		} else {
			move_up(engine);
		}
	}

	vttm_ctx_hang(engine->vdev, fence);
	end_all(&done, -ECANCELED);
}

/**
 * vttm_engine_busy_ns() - Device time that an engine has spent on a VM
 * @engine: the engine
 * @ctx: context of the VM
 *
 * Return: nanoseconds, never less than before.
 */
u64 vttm_engine_busy_ns(struct vttm_engine *engine, struct vttm_ctx *ctx)
{
	struct vttm_fence *fence;
	u64 busy_ns, now_ns;

	guard(spinlock_irqsave)(&engine->lock);
	now_ns = vttm_clock_now(engine->vdev);
	busy_ns = atomic64_read(&ctx->busy_ns[engine - engine->vdev->engines]);

	/* One that is over already may not have been taken off yet. */
	list_for_each_entry(fence, &engine->running, node) {
		if (fence->start_ns >= now_ns)
			break;
		if (fence->ctx == ctx)
			busy_ns += min(fence->end_ns, now_ns) - fence->start_ns;
	}

	return busy_ns;
}

/**
 * vttm_engine_next_end() - When does the job end that runs?
 * @engine: the engine
 * @end_ns: returns the device time, if there is one
 *
 * Return: true if a job runs.
 */
bool vttm_engine_next_end(struct vttm_engine *engine, u64 *end_ns)
{
	struct vttm_fence *fence;

	guard(spinlock_irqsave)(&engine->lock);
	fence = first_running(engine);
	if (fence)
		*end_ns = fence->end_ns;

	return fence;
}

/**
 * vttm_engine_pop() - Take the job off that runs
 * @engine: the engine
 *
 * It counts as having run to its end.
 *
 * Return: its fence, for the caller to signal and put, or NULL.
 */
struct vttm_fence *vttm_engine_pop(struct vttm_engine *engine)
{
	struct vttm_fence *fence;

	guard(spinlock_irqsave)(&engine->lock);
	fence = first_running(engine);
	if (fence)
		remove_running(engine, fence, fence->end_ns);

	return fence;
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
 * vttm_engine_of_fence() - The engine whose job a fence is
 * @fence: any fence
 *
 * Return: the engine, of whichever device, or NULL if it is no job of ours.
 */
struct vttm_engine *vttm_engine_of_fence(struct dma_fence *fence)
{
	if (rcu_access_pointer(fence->ops) != &vttm_fence_ops)
		return NULL;

	return container_of(fence, struct vttm_fence, base)->engine;
}

/**
 * vttm_engine_init() - Create an engine and its scheduler
 * @vdev: the device, with its workqueue
 * @engine: the engine
 * @name: what it is called
 *
 * Return: 0, or a negative error code.
 */
int vttm_engine_init(struct vttm_device *vdev, struct vttm_engine *engine,
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
 * vttm_engine_fini() - Destroy an idle engine
 * @engine: the engine
 */
void vttm_engine_fini(struct vttm_engine *engine)
{
	drm_WARN_ON(&engine->vdev->drm, !vttm_engine_is_idle(engine));
	drm_sched_fini(&engine->sched);
	hrtimer_cancel(&engine->timer);
}
