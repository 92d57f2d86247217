// SPDX-License-Identifier: GPL-2.0 OR MIT

#include <linux/dma-resv.h>

#include <drm/ttm/ttm_bo.h>

#include "vttm_drv.h"
#include "vttm_gem.h"
#include "vttm_job.h"
#include "vttm_transfer.h"

static struct dma_fence *submit(struct vttm_device *vdev, struct vttm_bo *bo,
				struct vttm_job *job)
{
	struct dma_fence *fence;
	int ret;

	ret = drm_sched_job_add_resv_dependencies(&job->base, bo->tbo.base.resv,
						  DMA_RESV_USAGE_BOOKKEEP);
	if (ret)
		return ERR_PTR(ret);

	guard(mutex)(&vdev->copy.lock);
	fence = vttm_job_arm(job);
	vttm_job_push(job);
	return fence;
}

static struct dma_fence *start_transfer(struct vttm_bo *bo, struct ttm_resource *from,
					struct ttm_resource *to, enum vttm_job_kind kind,
					const struct vttm_load *load)
{
	struct vttm_device *vdev = to_vttm_device(bo->tbo.base.dev);
	struct dma_fence *fence;
	struct vttm_job *job;
	int ret;

	dma_resv_assert_held(bo->tbo.base.resv);

	if (vdev->copy.lost)
		return ERR_PTR(-EIO);

	job = vttm_job_create(&vdev->engines[VTTM_ENGINE_COPY], &vdev->copy.entity,
			      kind, NULL, 0);
	if (IS_ERR(job))
		return ERR_CAST(job);

	job->tag = bo->tag;
	job->vm_label = vttm_bo_vm_label(bo);
	job->link_bytes = load->link_ns ? bo->tbo.base.size : 0;
	job->load = *load;
	job->load.fixed_ns += vdev->config.copy_latency_ns;

	ret = vttm_transfer_create(vdev, bo, from, to, &job->transfer);
	if (ret) {
		vttm_job_destroy(job);
		return ERR_PTR(ret);
	}

	fence = submit(vdev, bo, job);
	if (IS_ERR(fence))
		vttm_job_destroy(job);

	return fence;
}

/**
 * vttm_copy_move() - Copy a BO to where it moves
 * @bo: the BO, with its reservation lock held
 * @to: where it moves; it is still where &ttm_buffer_object.resource says
 *
 * Return: a fence that signals when it is copied, or an ERR_PTR().
 */
struct dma_fence *vttm_copy_move(struct vttm_bo *bo, struct ttm_resource *to)
{
	const struct vttm_config *config = &to_vttm_device(bo->tbo.base.dev)->config;
	struct ttm_resource *from = bo->tbo.resource;
	u64 size = bo->tbo.base.size;
	struct vttm_load load = {};

	if (from->mem_type == TTM_PL_VRAM && to->mem_type == TTM_PL_VRAM) {
		load.fixed_ns = vttm_transfer_time_ns(2 * size, config->vram_bandwidth);
	} else {
		load.link_ns = vttm_transfer_time_ns(size, config->link_bandwidth);
		load.dir = to->mem_type == TTM_PL_VRAM ? VTTM_LINK_IN : VTTM_LINK_OUT;
	}

	return start_transfer(bo, from, to, VTTM_JOB_COPY, &load);
}

/**
 * vttm_copy_fill() - Clear a BO in video memory
 * @bo: the BO, with its reservation lock held
 *
 * Return: a fence that signals when it is cleared, or an ERR_PTR().
 */
struct dma_fence *vttm_copy_fill(struct vttm_bo *bo)
{
	const struct vttm_config *config = &to_vttm_device(bo->tbo.base.dev)->config;
	struct vttm_load load = {
		.fixed_ns = vttm_transfer_time_ns(bo->tbo.base.size, config->vram_bandwidth),
	};

	return start_transfer(bo, NULL, bo->tbo.resource, VTTM_JOB_FILL, &load);
}

/**
 * vttm_copy_init() - Create the entity of copies and fills
 * @vdev: the device
 *
 * Return: 0, or a negative error code.
 */
int vttm_copy_init(struct vttm_device *vdev)
{
	struct drm_gpu_scheduler *sched = &vdev->engines[VTTM_ENGINE_COPY].sched;

	int ret;

	mutex_init(&vdev->copy.lock);
	ret = drm_sched_entity_init(&vdev->copy.entity, DRM_SCHED_PRIORITY_KERNEL,
				    &sched, 1, NULL);
	vdev->copy.lost = ret;
	return ret;
}

/**
 * vttm_copy_fini() - Destroy the entity of copies and fills
 * @vdev: the device, whose engines are idle
 */
void vttm_copy_fini(struct vttm_device *vdev)
{
	if (!vdev->copy.lost)
		drm_sched_entity_destroy(&vdev->copy.entity);
	mutex_destroy(&vdev->copy.lock);
}

/**
 * vttm_copy_probe_fifo() - Find out if schedulers are first in, first out
 * @vdev: the device, with a new entity
 *
 * The policy is a parameter of a module that doesn't tell.
 *
 * Return: true if they are.
 */
bool vttm_copy_probe_fifo(struct vttm_device *vdev)
{
	struct vttm_engine *engine = &vdev->engines[VTTM_ENGINE_COPY];
	struct drm_sched_entity *entity = &vdev->copy.entity;
	struct vttm_job *job;

	/* The fair policy has a single run queue. */
	if (engine->sched.num_rqs != engine->sched.num_user_rqs)
		return false;

	job = vttm_job_create(engine, entity, VTTM_JOB_PROBE, NULL, 0);
	if (IS_ERR(job))
		return false;

	dma_fence_put(vttm_job_arm(job));
	vttm_job_push(job);
	vttm_engines_flush(vdev);

	/* Round robin starts to count at zero, else this is the time. */
	return ktime_to_ns(entity->oldest_job_waiting);
}
