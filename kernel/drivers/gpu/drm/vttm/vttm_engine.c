// SPDX-License-Identifier: GPL-2.0 OR MIT
/* One engine: jobs one after another, each for a modelled time. */

#include <linux/dma-fence.h>
#include <linux/slab.h>

#include <drm/drm_print.h>

#include "vttm_ctx.h"
#include "vttm_drv.h"
#include "vttm_fence.h"
#include "vttm_job.h"

static struct vttm_fence *first_running(struct vttm_engine *engine)
{
	lockdep_assert_held(&engine->vdev->engine_lock);
	return list_first_entry_or_null(&engine->running, struct vttm_fence, node);
}

/* One that takes too long has no use for the link. The kernel's don't hang. */
static void limit(struct vttm_fence *fence)
{
	u64 timeout_ns = READ_ONCE(fence->engine->vdev->job_timeout_ns);

	if (!timeout_ns || vttm_load_alone_ns(&fence->load) <= timeout_ns)
		return;

	fence->load = (struct vttm_load) { .fixed_ns = timeout_ns };
	fence->hung = fence->ctx;
}

/* It is the turn of the first job, if there is one. */
static void start_first(struct vttm_engine *engine, u64 time_ns)
{
	struct vttm_fence *fence = first_running(engine);

	if (!fence)
		return;

	limit(fence);
	vttm_link_start(&engine->vdev->link, engine->id, &fence->load, time_ns);
	vttm_fence_job_starts(fence, time_ns);
}

/* Stop the first job, for the caller to start the next one. */
static void stop_first(struct vttm_engine *engine, u64 time_ns, struct list_head *to)
{
	struct vttm_fence *fence = first_running(engine);

	vttm_link_stop(&engine->vdev->link, engine->id, time_ns);
	list_move_tail(&fence->node, to);
	engine->num_running--;
	engine->last_end_ns = time_ns;
	if (fence->ctx)
		atomic64_add(time_ns - fence->start_ns, &fence->ctx->busy_ns[engine->id]);
	vttm_fence_job_ends(fence, time_ns);
}

/* Take off the jobs of a VM, or all, for the caller to end. Others move up. */
static void take_off(struct vttm_engine *engine, struct vttm_ctx *ctx, u64 time_ns,
		     struct list_head *to)
{
	struct vttm_fence *first = first_running(engine), *fence, *next;

	list_for_each_entry_safe(fence, next, &engine->running, node) {
		if (ctx && fence->ctx != ctx)
			continue;

		if (fence == first) {
			stop_first(engine, time_ns, to);
		} else {
			list_move_tail(&fence->node, to);
			engine->num_running--;
		}
	}

	if (first_running(engine) != first)
		start_first(engine, time_ns);
}

/**
 * vttm_engine_run() - Give a job to an engine
 * @engine: the engine; calls are serialized
 * @fence: fence of the job, which the caller gets a reference to
 */
void vttm_engine_run(struct vttm_engine *engine, struct vttm_fence *fence)
{
	struct vttm_device *vdev = engine->vdev;
	int error = 0;

	vttm_fence_init(fence);
	dma_fence_get(&fence->base);

	scoped_guard(spinlock_irqsave, &vdev->engine_lock) {
		u64 now_ns = vttm_engines_catch_up(vdev);

		if (vttm_ctx_is_banned(fence->ctx))
			error = -ECANCELED;
		if (engine->dead)
			error = engine->dead;

		if (!error) {
			list_add_tail(&fence->node, &engine->running);
			if (!engine->num_running++)
				start_first(engine, now_ns);
		}
		vttm_engines_rearm(vdev);
	}

	if (error)
		vttm_fence_end(fence, error);
}

/**
 * vttm_engine_end_job() - The job that runs has come to its end
 * @engine: the engine
 *
 * The next one starts at that moment, however late the caller is, who holds
 * &vttm_device.engine_lock and sees to it that &vttm_device.ended is ended. One
 * that hangs waits for vttm_engine_recover(), together with others of its VM.
 */
void vttm_engine_end_job(struct vttm_engine *engine)
{
	struct vttm_device *vdev = engine->vdev;
	struct vttm_fence *fence = first_running(engine);
	u64 end_ns = vttm_engine_end_ns(engine);

	if (!fence->hung) {
		stop_first(engine, end_ns, &vdev->ended);
		start_first(engine, end_ns);
		return;
	}

	vttm_ctx_ban(fence->ctx, fence->tag);
	take_off(engine, fence->ctx, end_ns, &engine->hung);
	if (!vdev->config.virtual_clock)
		drm_sched_fault(&engine->sched);
}

/**
 * vttm_engine_expire() - The job that runs ends now (virtual clock)
 * @engine: the engine; nothing happens if that job was taken off meanwhile
 */
void vttm_engine_expire(struct vttm_engine *engine)
{
	struct vttm_device *vdev = engine->vdev;
	LIST_HEAD(ended);

	scoped_guard(spinlock_irqsave, &vdev->engine_lock) {
		if (first_running(engine) &&
		    vttm_engine_end_ns(engine) <= vttm_clock_now(vdev))
			vttm_engine_end_job(engine);
		list_splice_init(&vdev->ended, &ended);
	}

	vttm_fence_end_all(&ended, 0);
	vttm_engine_recover(engine);
}

/**
 * vttm_engine_recover() - End jobs that hang, and others of the same VM
 * @engine: the engine; nothing happens if none of its jobs hangs
 */
void vttm_engine_recover(struct vttm_engine *engine)
{
	struct vttm_device *vdev = engine->vdev;
	struct vttm_fence *fence, *next;
	LIST_HEAD(hung);

	scoped_guard(spinlock_irqsave, &vdev->engine_lock) {
		vttm_engines_catch_up(vdev);
		list_splice_init(&engine->hung, &hung);
		vttm_engines_rearm(vdev);
	}

	list_for_each_entry_safe(fence, next, &hung, node) {
		list_del_init(&fence->node);
		if (fence->hung)
			vttm_ctx_hang(vdev, fence);
		else
			vttm_fence_end(fence, -ECANCELED);
	}
}

static void cancel(struct vttm_engine *engine, struct vttm_ctx *ctx, int dead, int error)
{
	struct vttm_device *vdev = engine->vdev;
	LIST_HEAD(done);

	scoped_guard(spinlock_irqsave, &vdev->engine_lock) {
		u64 now_ns = vttm_engines_catch_up(vdev);

		if (dead)
			engine->dead = dead;
		take_off(engine, ctx, now_ns, &done);
		vttm_engines_rearm(vdev);
	}

	vttm_fence_end_all(&done, error);
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
 * vttm_engine_end_ns() - When does the job end that runs?
 * @engine: the engine
 *
 * Called with &vttm_device.engine_lock held.
 *
 * Return: device time, as can be foreseen now; if no job runs, that at which
 * the last one ended, 0 if there was none.
 */
u64 vttm_engine_end_ns(struct vttm_engine *engine)
{
	return first_running(engine) ? vttm_link_end(&engine->vdev->link, engine->id) :
				       engine->last_end_ns;
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

	guard(spinlock_irqsave)(&engine->vdev->engine_lock);
	now_ns = vttm_clock_now(engine->vdev);
	busy_ns = atomic64_read(&ctx->busy_ns[engine->id]);

	/* One that is over already may not have been taken off yet. */
	fence = first_running(engine);
	if (fence && fence->ctx == ctx)
		busy_ns += min(vttm_engine_end_ns(engine), now_ns) - fence->start_ns;

	return busy_ns;
}

/**
 * vttm_engine_is_idle() - Has an engine nothing to do?
 * @engine: the engine
 *
 * Return: true if no job runs, waits or hangs.
 */
bool vttm_engine_is_idle(struct vttm_engine *engine)
{
	guard(spinlock_irqsave)(&engine->vdev->engine_lock);
	return !engine->num_running && list_empty(&engine->hung) &&
	       !atomic_read(&engine->num_queued);
}

/**
 * vttm_engine_init() - Create an engine and its scheduler
 * @vdev: the device, with its workqueue
 * @id: which one
 * @name: what it is called
 *
 * Return: 0, or a negative error code.
 */
int vttm_engine_init(struct vttm_device *vdev, enum vttm_engine_id id,
		     const char *name)
{
	struct vttm_engine *engine = &vdev->engines[id];
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
	engine->id = id;
	engine->name = name;
	INIT_LIST_HEAD(&engine->running);
	INIT_LIST_HEAD(&engine->hung);
	atomic_set(&engine->num_queued, 0);

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
}
