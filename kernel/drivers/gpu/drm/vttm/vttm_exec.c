// SPDX-License-Identifier: GPL-2.0 OR MIT

#include <linux/dma-resv.h>
#include <linux/nospec.h>
#include <linux/overflow.h>

#include <drm/drm_gem.h>

#include "vttm_ctx.h"
#include "vttm_drv.h"
#include "vttm_exec.h"
#include "vttm_gem.h"
#include "vttm_job.h"
#include "vttm_op.h"
#include "vttm_priority.h"
#include "vttm_sync.h"
#include "vttm_trace.h"
#include "vttm_vm.h"

/* As amdgpu_cs_bo_validate(). */
static int validate_bo(struct vttm_exec *e, struct vttm_bo *bo)
{
	struct ttm_operation_ctx ctx = {
		.interruptible = true,
		.resv = bo->tbo.base.resv,
	};
	u32 domain;
	int ret;

	vttm_retry_set_ctx(&ctx, e->retry.exec);
	vttm_owner_set_ctx(e->vm, &ctx);
	vttm_priority_set_ctx(&ctx);

	if (bo->tbo.pin_count)
		return 0;

	/* Whoever is throttled makes do with what is allowed. */
	domain = e->bytes_moved < e->threshold && vttm_owner_is_normal(e->vm) ?
		 bo->preferred : bo->allowed;
	domain = vttm_priority_domains(bo, domain);

	for (;;) {
		vttm_bo_placement_from_domain(bo, domain);
		ret = ttm_bo_validate(&bo->tbo, &bo->placement, &ctx);

		/* As amdgpu: what a first attempt moved counts twice. */
		e->bytes_moved += ctx.bytes_moved;
		if (ret != -ENOMEM || domain == bo->allowed)
			return ret;
		domain = bo->allowed;
	}
}

static int validate(struct vttm_exec *e)
{
	struct drm_gem_object *obj;
	struct vttm_bo *bo;
	int ret;

	/* What a budget has accumulated counts once. */
	if (!e->has_threshold)
		e->threshold = vttm_budget_get_threshold(e->vdev);
	e->has_threshold = true;

	while ((bo = vttm_vm_first_evicted(e->vm))) {
		ret = validate_bo(e, bo);
		if (ret)
			return ret;
		vttm_vm_bo_validated(bo);
		vttm_owner_validated(bo);
	}

	drm_exec_for_each_locked_object(&e->exec, obj) {
		if (obj == &e->vm->root->base)
			continue;

		ret = validate_bo(e, gem_to_vttm_bo(obj));
		if (ret)
			return ret;
	}

	return vttm_owner_recover(e);
}

static int lock_objs(struct vttm_exec *e)
{
	int ret;
	u32 i;

	ret = drm_exec_prepare_obj(&e->exec, &e->vm->root->base,
				   TTM_NUM_MOVE_FENCES + 1);

	for (i = 0; !ret && i < e->num_objs; i++)
		ret = drm_exec_prepare_obj(&e->exec, e->objs[i],
					   TTM_NUM_MOVE_FENCES + 1);

	return ret;
}

static int lock_and_validate(struct vttm_exec *e)
{
	int ret = 0;

	drm_exec_until_all_locked(&e->exec) {
		vttm_retry_attempt(e->vdev, &e->retry, e->vm->root->label, e->bytes_moved);

		ret = lock_objs(e);
		drm_exec_retry_on_contention(&e->exec);
		if (ret)
			return ret;

		if (e->retry.exec) {
			e->retry.evicting = true;
			ret = validate(e);
			drm_exec_retry_on_contention(&e->exec);
			if (ret)
				return ret;
		}
	}

	/* TTM can't retry: contention is none of its business. */
	if (!e->retry.exec)
		ret = validate(e);
	if (ret)
		return ret;

	/* Failing submissions don't pay. */
	vttm_budget_report_moved(e->vdev, e->bytes_moved);
	return 0;
}

/* As amdgpu_sync_test_fence(): kernel jobs have no owner. */
static bool must_wait(struct vttm_exec *e, bool explicit_sync, struct dma_fence *fence)
{
	struct drm_sched_fence *s_fence = to_drm_sched_fence(fence);
	void *owner;

	if (!s_fence || !vttm_engines_own_fence(e->vdev, fence))
		return true;

	owner = s_fence->owner;
	return !owner || (owner != e->vm->owner && !explicit_sync);
}

static int add_dependencies(struct vttm_exec *e)
{
	struct dma_resv_iter cursor;
	struct drm_gem_object *obj;
	struct dma_fence *fence;
	int ret;

	drm_exec_for_each_locked_object(&e->exec, obj) {
		bool explicit_sync = obj != &e->vm->root->base &&
			(gem_to_vttm_bo(obj)->flags & DRM_VTTM_GEM_EXPLICIT_SYNC);

		dma_resv_for_each_fence(&cursor, obj->resv, DMA_RESV_USAGE_READ, fence) {
			if (!must_wait(e, explicit_sync, fence))
				continue;

			ret = drm_sched_job_add_dependency(&e->job->base,
							   dma_fence_get(fence));
			if (ret)
				return ret;
		}

		/* Validation has used some of what was reserved. */
		ret = dma_resv_reserve_fences(obj->resv, 1);
		if (ret)
			return ret;
	}

	return vttm_syncs_add_dependencies(e);
}

/* What the job takes of the device with BOs where they are now. */
static int compute_load(struct vttm_exec *e)
{
	const struct vttm_config *config = &e->vdev->config;
	u64 vram_bytes = 0, link_bytes = 0, compute_ns, vram_ns, link_ns;
	bool overflow = false;
	u32 i;

	for (i = 0; i < e->num_touched; i++) {
		struct ttm_resource *res = gem_to_vttm_bo(e->touched[i])->tbo.resource;

		if (res && res->mem_type == TTM_PL_VRAM)
			overflow |= check_add_overflow(vram_bytes,
						       e->touches[i].vram_bytes,
						       &vram_bytes);
		else
			overflow |= check_add_overflow(link_bytes,
						       e->touches[i].link_bytes,
						       &link_bytes);
	}

	compute_ns = e->args->compute_ns;
	overflow |= compute_ns > VTTM_MAX_DURATION_NS;
	if (overflow)
		return -EINVAL;

	/* Three times the maximum at most. */
	vram_ns = vttm_transfer_time_ns(vram_bytes, config->vram_bandwidth);
	link_ns = vttm_transfer_time_ns(link_bytes, config->link_bandwidth);
	if (compute_ns + vram_ns + link_ns >= VTTM_MAX_DURATION_NS)
		return -EINVAL;

	e->job->load = (struct vttm_load) {
		.fixed_ns = config->overlap ? max(compute_ns, vram_ns) :
					      compute_ns + vram_ns,
		.link_ns = link_ns,
		.dir = VTTM_LINK_IN,
		.overlap = config->overlap,
	};
	e->job->link_bytes = link_bytes;
	return vttm_ops_prepare(e);
}

/* As amdgpu_cs_submit(); can't fail. */
static u64 push(struct vttm_exec *e)
{
	struct drm_gem_object *obj;
	struct dma_fence *fence;

	fence = vttm_job_arm(e->job);

	drm_exec_for_each_locked_object(&e->exec, obj) {
		if (obj != &e->vm->root->base)
			ttm_bo_move_to_lru_tail_unlocked(&gem_to_vttm_bo(obj)->tbo);
		dma_resv_add_fence(obj->resv, fence, DMA_RESV_USAGE_WRITE);
	}

	vttm_syncs_signal(e, fence);
	vttm_vm_add_fence(e->vm, fence);
	e->job->tag = e->vm->seqno;
	trace_vttm_submit(e->job, e->bytes_moved, e->threshold);
	vttm_job_push(e->job);
	e->job = NULL;
	dma_fence_put(fence);

	scoped_guard(spinlock, &e->vdev->bdev.lru_lock)
		ttm_lru_bulk_move_tail(&e->vm->bulk_move);

	return e->vm->seqno;
}

static int submit_locked(struct vttm_exec *e, u64 *seqno)
{
	int ret;

	ret = lock_and_validate(e);
	if (ret)
		return ret;

	ret = add_dependencies(e);
	if (ret)
		return ret;

	ret = compute_load(e);
	if (ret)
		return ret;

	ret = vttm_vm_add_fence(e->vm, NULL);
	if (ret)
		return ret;

	*seqno = push(e);
	return 0;
}

static int submit(struct vttm_exec *e, u64 *seqno)
{
	int ret;

	ret = vttm_exec_lookup(e);
	if (ret)
		return ret;

	guard(rwsem_read)(&e->vdev->reset_lock);
	ret = vttm_vm_can_submit(e->vm);
	if (ret)
		return ret;

	e->job = vttm_job_create(vttm_engine_of_user(e->vdev, e->queue),
				 &e->vm->entities[e->queue], VTTM_JOB_USER,
				 e->vm->owner, e->file->client_id);
	if (IS_ERR(e->job)) {
		ret = PTR_ERR(e->job);
		e->job = NULL;
		return ret;
	}
	e->job->vm_label = e->vm->root->label;
	e->job->ctx = vttm_ctx_get(e->vm->ctx);

	drm_exec_init(&e->exec, DRM_EXEC_INTERRUPTIBLE_WAIT | DRM_EXEC_IGNORE_DUPLICATES,
		      e->num_objs + 1);
	vttm_retry_begin(&e->retry, &e->exec);
	ret = submit_locked(e, seqno);
	vttm_retry_end(e->vdev, &e->retry);
	drm_exec_fini(&e->exec);
	vttm_job_destroy(e->job);

	return ret;
}

/**
 * vttm_submit_ioctl() - Submit a job
 * @drm: DRM device
 * @data: struct drm_vttm_submit
 * @file: DRM file
 *
 * Return: 0, -EINVAL, -E2BIG, -EFAULT, -ENOENT, -ENOMEM if BOs don't fit,
 * -ECANCELED if the VM is banned, -EIO if it is lost, -EINTR or -ERESTARTSYS.
 */
int vttm_submit_ioctl(struct drm_device *drm, void *data, struct drm_file *file)
{
	struct vttm_device *vdev = to_vttm_device(drm);
	struct drm_vttm_submit *args = data;
	struct vttm_exec e = {
		.vdev = vdev,
		.file = file,
		.vm = file->driver_priv,
		.args = args,
	};
	u64 seqno = 0;
	int ret;

	if (args->flags || args->engine >= VTTM_NUM_USER_ENGINES)
		return -EINVAL;
	e.queue = array_index_nospec(args->engine, VTTM_NUM_USER_ENGINES);

	ret = submit(&e, &seqno);
	if (!ret)
		args->seqno = seqno;

	vttm_exec_put_objs(&e);
	vttm_clock_end_op(vdev);

	return ret;
}
