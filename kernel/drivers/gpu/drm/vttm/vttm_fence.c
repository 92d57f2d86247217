// SPDX-License-Identifier: GPL-2.0 OR MIT
/* Fences of jobs that engines run, and what is told of these jobs. */

#include <linux/slab.h>

#include "vttm_ctx.h"
#include "vttm_drv.h"
#include "vttm_fence.h"
#include "vttm_trace.h"

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

/**
 * vttm_fence_alloc() - Allocate the fence of a job
 * @engine: engine that the job is for
 *
 * Until it is passed to vttm_fence_init() it can be freed with kfree().
 *
 * Return: the fence, or NULL.
 */
struct vttm_fence *vttm_fence_alloc(struct vttm_engine *engine)
{
	struct vttm_fence *fence = kzalloc_obj(*fence);

	if (fence) {
		fence->engine = engine;
		INIT_LIST_HEAD(&fence->node);
	}

	return fence;
}

/**
 * vttm_fence_init() - Make a fence of it
 * @fence: fence of the job that its engine gets next
 *
 * The reference is the caller's. Calls for an engine are serialized.
 */
void vttm_fence_init(struct vttm_fence *fence)
{
	dma_fence_init64(&fence->base, &vttm_fence_ops, NULL,
			 fence->engine->fence_context, ++fence->engine->seqno);
}

/**
 * vttm_fence_engine() - The engine whose job a fence is
 * @fence: any fence
 *
 * Return: the engine, of whichever device, or NULL if it is no job of ours.
 */
struct vttm_engine *vttm_fence_engine(struct dma_fence *fence)
{
	if (rcu_access_pointer(fence->ops) != &vttm_fence_ops)
		return NULL;

	return container_of(fence, struct vttm_fence, base)->engine;
}

static void record(struct vttm_fence *fence, u32 type)
{
	struct vttm_device *vdev = fence->engine->vdev;

	vttm_event_record(vdev, &(struct drm_vttm_event) {
		.type = type,
		.time_ns = vttm_clock_now(vdev),
		.tag = fence->tag,
		.bytes = fence->link_bytes,
		.start_ns = fence->start_ns,
		.end_ns = fence->end_ns,
		.vm = fence->vm_label,
		.from = fence->engine->id,
		.to = fence->kind,
		.task = fence->task,
	});
}

/**
 * vttm_fence_job_starts() - The job starts
 * @fence: its fence
 * @time_ns: device time
 *
 * The clock may be ahead of @time_ns: timers are late. Called with
 * &vttm_device.engine_lock held, also from a timer.
 */
void vttm_fence_job_starts(struct vttm_fence *fence, u64 time_ns)
{
	fence->start_ns = time_ns;
	trace_vttm_job_run(fence);
	record(fence, DRM_VTTM_EVENT_JOB_START);
}

/**
 * vttm_fence_job_ends() - The job, which has started, ends
 * @fence: its fence
 * @time_ns: device time
 *
 * As vttm_fence_job_starts().
 */
void vttm_fence_job_ends(struct vttm_fence *fence, u64 time_ns)
{
	fence->end_ns = time_ns;
	trace_vttm_job_end(fence);
	record(fence, DRM_VTTM_EVENT_JOB_END);
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

/**
 * vttm_fence_end_all() - Signal fences, first to last
 * @fences: the fences, linked by &vttm_fence.node; empty on return
 * @error: as for vttm_fence_end()
 */
void vttm_fence_end_all(struct list_head *fences, int error)
{
	struct vttm_fence *fence, *next;

	list_for_each_entry_safe(fence, next, fences, node) {
		list_del_init(&fence->node);
		vttm_fence_end(fence, error);
	}
}
