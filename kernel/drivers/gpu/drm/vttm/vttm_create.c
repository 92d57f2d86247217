// SPDX-License-Identifier: GPL-2.0 OR MIT

#include <linux/dma-resv.h>

#include <drm/drm_exec.h>

#include "vttm_drv.h"
#include "vttm_gem.h"
#include "vttm_retry.h"
#include "vttm_trace.h"
#include "vttm_vm.h"

/**
 * struct vttm_create - A creation, with all of its attempts
 */
struct vttm_create {
	/** @vdev: The device. */
	struct vttm_device *vdev;
	/** @vm: VM of the file that it is for. */
	struct vttm_vm *vm;
	/** @args: Valid arguments. */
	const struct drm_vttm_gem_create *args;
	/** @resv: The VM's, if the BO is to be private, else NULL. */
	struct dma_resv *resv;
	/** @exec: In whose loop it takes place; NULL if TTM doesn't retry. */
	struct drm_exec *exec;
	/** @bytes_moved: By attempts that met contention. */
	u64 bytes_moved;
};

/* As amdgpu_bo_validate_size(). */
static bool valid_size(struct vttm_device *vdev, u64 size, u32 domain)
{
	if (domain & DRM_VTTM_DOMAIN_GTT)
		return size < vdev->config.gtt_size;
	if (domain & DRM_VTTM_DOMAIN_VRAM)
		return size < vdev->config.vram_size;
	return true;
}

/* Clear a new BO in video memory, as amdgpu_bo_create() does. */
static int clear(struct vttm_bo *bo)
{
	struct dma_fence *fence;
	int ret;

	ret = dma_resv_reserve_fences(bo->tbo.base.resv, 1);
	if (ret)
		return ret;

	fence = vttm_copy_fill(bo);
	if (IS_ERR(fence))
		return PTR_ERR(fence);

	dma_resv_add_fence(bo->tbo.base.resv, fence, DMA_RESV_USAGE_KERNEL);
	dma_fence_put(fence);
	return 0;
}

/*
 * Create and place a BO, as amdgpu_bo_create(). Returns it with its reservation
 * lock held.
 */
static struct vttm_bo *create_and_place(struct vttm_create *c, u32 preferred)
{
	struct vttm_device *vdev = c->vdev;
	struct ttm_operation_ctx ctx = {
		.interruptible = true,
		.gfp_retry_mayfail = true,
		.allow_res_evict = true,
		.resv = c->resv,
		.bytes_moved = c->bytes_moved,
	};
	struct vttm_bo *bo;
	int ret;

	if (c->resv)
		dma_resv_assert_held(c->resv);

	if (!valid_size(vdev, c->args->size, preferred))
		return ERR_PTR(-ENOMEM);

	bo = vttm_bo_alloc(vdev, c->vm, c->args, preferred);
	if (!bo)
		return ERR_PTR(-ENOMEM);

	vttm_retry_set_ctx(&ctx, c->exec);
	vttm_owner_set_ctx(c->vm, &ctx);
	vttm_bo_placement_from_domain(bo, preferred);

	/* On error it destroys the BO. */
	ret = ttm_bo_init_reserved(&vdev->bdev, &bo->tbo, ttm_bo_type_device,
				   &bo->placement, 0, &ctx, NULL, c->resv,
				   vttm_bo_destroy);
	if (ret == -EDEADLK)
		c->bytes_moved = ctx.bytes_moved;
	if (ret)
		return ERR_PTR(ret);

	vttm_budget_report_moved(vdev, ctx.bytes_moved);

	if (bo->tbo.resource->mem_type == TTM_PL_VRAM) {
		ret = clear(bo);
		if (ret) {
			if (!c->resv)
				dma_resv_unlock(bo->tbo.base.resv);
			drm_gem_object_put(&bo->tbo.base);
			return ERR_PTR(ret);
		}
	}

	return bo;
}

/* In a preferred domain, or else in GTT. */
static struct vttm_bo *attempt(struct vttm_create *c)
{
	u32 preferred = c->args->preferred_domains;
	struct vttm_bo *bo;

	bo = create_and_place(c, preferred);
	if (!IS_ERR(bo) || PTR_ERR(bo) == -ERESTARTSYS || PTR_ERR(bo) == -EDEADLK ||
	    preferred != DRM_VTTM_DOMAIN_VRAM ||
	    !(c->args->allowed_domains & DRM_VTTM_DOMAIN_GTT))
		return bo;

	return create_and_place(c, preferred | DRM_VTTM_DOMAIN_GTT);
}

/*
 * In a loop, so that making room can back off. The new BO's own reservation lock
 * is taken with the ticket as well, but isn't one of @c->exec's.
 */
static struct vttm_bo *create_in_loop(struct vttm_create *c, struct vttm_retry *retry)
{
	struct vttm_bo *bo = NULL;
	int ret;

	drm_exec_until_all_locked(c->exec) {
		vttm_retry_attempt(c->vdev, retry, c->vm->root->label, c->bytes_moved);

		/* Even for nothing it locks what was contended. */
		ret = c->resv ? drm_exec_lock_obj(c->exec, &c->vm->root->base) :
				drm_exec_prepare_array(c->exec, NULL, 0, 0);
		drm_exec_retry_on_contention(c->exec);
		if (ret)
			return ERR_PTR(ret == -EINTR ? -ERESTARTSYS : ret);

		retry->evicting = true;
		bo = attempt(c);
		drm_exec_retry_on_contention(c->exec);
		if (IS_ERR(bo))
			return bo;
	}

	return bo;
}

/* It is complete: others may have its lock, or the VM's. */
static void publish(struct vttm_create *c, struct vttm_bo *bo)
{
	trace_vttm_bo_create(bo);
	if (c->resv)
		vttm_vm_add_bo(c->vm, bo);
	else
		dma_resv_unlock(bo->tbo.base.resv);
}

/* Without a ticket, as amdgpu. */
static struct vttm_bo *create_without_loop(struct vttm_create *c)
{
	struct vttm_bo *bo;
	int ret;

	if (c->resv) {
		ret = dma_resv_lock_interruptible(c->resv, NULL);
		if (ret)
			return ERR_PTR(ret == -EINTR ? -ERESTARTSYS : ret);
	}

	bo = attempt(c);
	if (!IS_ERR(bo))
		publish(c, bo);

	if (c->resv)
		dma_resv_unlock(c->resv);

	return bo;
}

/**
 * vttm_bo_create() - Create a BO
 * @vdev: the device
 * @vm: VM of the file that it is created for
 * @args: valid arguments
 *
 * As amdgpu_gem_create_ioctl(). If TTM can retry, no lock of others makes it fail.
 *
 * Return: the BO, or an ERR_PTR().
 */
struct vttm_bo *vttm_bo_create(struct vttm_device *vdev, struct vttm_vm *vm,
			       const struct drm_vttm_gem_create *args)
{
	bool private = args->flags & DRM_VTTM_GEM_VM_PRIVATE;
	struct vttm_create c = {
		.vdev = vdev,
		.vm = vm,
		.args = args,
		.resv = private ? vm->root->base.resv : NULL,
	};
	struct vttm_retry retry = {};
	struct drm_exec exec;
	struct vttm_bo *bo;

	drm_exec_init(&exec, DRM_EXEC_INTERRUPTIBLE_WAIT, 1);
	vttm_retry_begin(&retry, &exec);
	c.exec = retry.exec;

	if (c.exec) {
		bo = create_in_loop(&c, &retry);
		if (!IS_ERR(bo))
			publish(&c, bo);
		vttm_retry_end(vdev, &retry);
	} else {
		bo = create_without_loop(&c);
	}

	drm_exec_fini(&exec);
	return bo;
}
