// SPDX-License-Identifier: GPL-2.0 OR MIT

#include <linux/math64.h>
#include <linux/slab.h>
#include <linux/time64.h>

#include <drm/drm_drv.h>

#include "vttm_ctx.h"
#include "vttm_drv.h"
#include "vttm_fence.h"
#include "vttm_job.h"
#include "vttm_op.h"
#include "vttm_transfer.h"

static struct vttm_job *to_vttm_job(struct drm_sched_job *base)
{
	return container_of(base, struct vttm_job, base);
}

/**
 * vttm_transfer_time_ns() - How long a transfer takes
 * @bytes: bytes to transfer
 * @bandwidth: bytes a second, not zero
 *
 * Return: nanoseconds, rounded up, at most %VTTM_MAX_DURATION_NS.
 */
u64 vttm_transfer_time_ns(u64 bytes, u64 bandwidth)
{
	if (div64_u64(bytes, bandwidth) >= VTTM_MAX_DURATION_NS / NSEC_PER_SEC)
		return VTTM_MAX_DURATION_NS;

	return mul_u64_u64_div_u64_roundup(bytes, NSEC_PER_SEC, bandwidth);
}

/**
 * vttm_job_create() - Create a job
 * @engine: engine that it is for
 * @entity: entity to queue it on
 * @kind: what it does
 * @owner: whose job it is, see &drm_sched_fence.owner
 * @client_id: DRM client that it is for, or 0
 *
 * Return: the job, to be passed to vttm_job_destroy() or, after
 * vttm_job_arm(), to vttm_job_push(); or an ERR_PTR().
 */
struct vttm_job *vttm_job_create(struct vttm_engine *engine,
				 struct drm_sched_entity *entity,
				 enum vttm_job_kind kind, void *owner,
				 u64 client_id)
{
	struct vttm_job *job;
	int ret;

	job = kzalloc_obj(*job);
	if (!job)
		return ERR_PTR(-ENOMEM);

	job->engine = engine;
	job->kind = kind;
	job->vm_label = VTTM_LABEL_NONE;
	job->task = vttm_lockstep_current_id(engine->vdev);

	/* Allocated now, as running a job must not wait for memory. */
	job->fence = vttm_fence_alloc(engine);
	if (!job->fence) {
		ret = -ENOMEM;
		goto err_free;
	}

	ret = drm_sched_job_init(&job->base, entity, 1, owner, client_id);
	if (ret)
		goto err_fence;

	scoped_guard(spinlock_irqsave, &engine->vdev->idle_wq.lock)
		engine->vdev->num_jobs++;

	return job;

err_fence:
	kfree(job->fence);
err_free:
	kfree(job);
	return ERR_PTR(ret);
}

/**
 * vttm_job_destroy() - Destroy a job that isn't armed, or is over
 * @job: the job, NULL is allowed
 */
void vttm_job_destroy(struct vttm_job *job)
{
	struct vttm_device *vdev;

	if (!job)
		return;

	vdev = job->engine->vdev;
	drm_sched_job_cleanup(&job->base);
	vttm_transfer_free(job->transfer);
	vttm_op_list_free(job->ops);
	vttm_ctx_put(job->ctx);
	kfree(job->fence);
	kfree(job);

	/* Who waits for it to be the last takes the lock, too. */
	guard(spinlock_irqsave)(&vdev->idle_wq.lock);
	if (!--vdev->num_jobs)
		wake_up_all_locked(&vdev->idle_wq);
}

/**
 * vttm_jobs_are_over() - Are there no jobs?
 * @vdev: the device
 *
 * Return: true if nothing will use the device on behalf of a job any more.
 */
bool vttm_jobs_are_over(struct vttm_device *vdev)
{
	guard(spinlock_irqsave)(&vdev->idle_wq.lock);
	return !vdev->num_jobs;
}

/**
 * vttm_job_arm() - Arm a job
 * @job: the job
 *
 * From then on it must be pushed, under the same lock for one entity.
 *
 * Return: a reference to the fence that signals when it is over.
 */
struct dma_fence *vttm_job_arm(struct vttm_job *job)
{
	drm_sched_job_arm(&job->base);
	return dma_fence_get(&job->base.s_fence->finished);
}

/**
 * vttm_job_push() - Queue an armed job
 * @job: the job, which must not be used any more
 *
 * Under the virtual clock it has been given to the engine on return, if it is
 * ready: that keeps the order of events independent of the scheduling of
 * threads.
 */
void vttm_job_push(struct vttm_job *job)
{
	struct vttm_device *vdev = job->engine->vdev;

	job->queued = true;
	atomic_inc(&job->engine->num_queued);
	drm_sched_entity_push_job(&job->base);

	if (vdev->config.virtual_clock)
		vttm_engines_flush(vdev);
}

static void unqueue(struct vttm_job *job)
{
	if (job->queued)
		atomic_dec(&job->engine->num_queued);
	job->queued = false;
}

static struct dma_fence *run_job(struct vttm_job *job)
{
	struct vttm_device *vdev = job->engine->vdev;
	struct vttm_fence *fence = job->fence;

	if (vttm_ctx_is_banned(job->ctx)) {
		unqueue(job);
		return ERR_PTR(-ECANCELED);
	}

	/*
	 * The contents move now: all that they depend on was given to the same
	 * engine before, and nobody looks before the fence is signaled.
	 */
	vttm_transfer_run(vdev, job->transfer);
	vttm_op_list_run(vdev, job->ops);

	job->fence = NULL;
	fence->ctx = vttm_ctx_get(job->ctx);
	fence->load = job->load;
	fence->kind = job->kind;
	fence->vm_label = job->vm_label;
	fence->task = job->task;
	fence->tag = job->tag;
	fence->link_bytes = job->link_bytes;
	vttm_engine_run(job->engine, fence);
	unqueue(job);

	return &fence->base;
}

static struct dma_fence *vttm_sched_run_job(struct drm_sched_job *base)
{
	struct vttm_job *job = to_vttm_job(base);
	struct dma_fence *fence;
	int idx;

	if (job->kind == VTTM_JOB_PROBE) {
		unqueue(job);
		return NULL;
	}

	/* Whatever it was to move is lost with the device. */
	if (!drm_dev_enter(&job->engine->vdev->drm, &idx)) {
		unqueue(job);
		return ERR_PTR(-ENODEV);
	}

	fence = run_job(job);
	drm_dev_exit(idx);
	return fence;
}

/*
 * Under the real clock: the engine says that its job hangs, or the scheduler's
 * timer does. The engine knows better which job that is, if any.
 */
static enum drm_gpu_sched_stat vttm_sched_timedout_job(struct drm_sched_job *base)
{
	vttm_engine_recover(to_vttm_job(base)->engine);

	/* Back to the list of pending jobs, where it is found finished. */
	return DRM_GPU_SCHED_STAT_NO_HANG;
}

static void vttm_sched_free_job(struct drm_sched_job *base)
{
	struct vttm_job *job = to_vttm_job(base);

	/* It was killed before it could run. */
	unqueue(job);
	vttm_job_destroy(job);
}

/** vttm_sched_ops - What the schedulers call. */
const struct drm_sched_backend_ops vttm_sched_ops = {
	.run_job = vttm_sched_run_job,
	.timedout_job = vttm_sched_timedout_job,
	.free_job = vttm_sched_free_job,
};
