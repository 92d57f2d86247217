// SPDX-License-Identifier: GPL-2.0 OR MIT

#include <linux/dma-resv.h>

#include <drm/drm_exec.h>

#include "vttm_drv.h"
#include "vttm_gem.h"
#include "vttm_pin.h"
#include "vttm_retry.h"
#include "vttm_vm.h"

/* Pin a BO, where it is. */
static void pin_placed(struct vttm_bo *bo)
{
	struct vttm_device *vdev = to_vttm_device(bo->tbo.base.dev);

	ttm_bo_pin(&bo->tbo);
	if (bo->tbo.pin_count == 1 && bo->tbo.resource->mem_type == TTM_PL_VRAM)
		atomic64_add(bo->tbo.base.size, &vdev->vram_pinned);
}

/**
 * vttm_bo_pin_in() - Pin a BO for the CPU or for another device
 * @bo: the BO, with its reservation lock held
 * @domain: mask of domains
 *
 * Return: 0, -EBUSY if it is pinned elsewhere, or what validation returns.
 */
int vttm_bo_pin_in(struct vttm_bo *bo, u32 domain)
{
	struct ttm_operation_ctx ctx = {};
	int ret;

	dma_resv_assert_held(bo->tbo.base.resv);

	if (bo->tbo.pin_count) {
		if (!(vttm_mem_type_to_domain(bo->tbo.resource->mem_type) & domain))
			return -EBUSY;

		ttm_bo_pin(&bo->tbo);
		return 0;
	}

	ret = dma_resv_reserve_fences(bo->tbo.base.resv, TTM_NUM_MOVE_FENCES);
	if (ret)
		return ret;

	vttm_bo_placement_from_domain(bo, domain);
	ret = ttm_bo_validate(&bo->tbo, &bo->placement, &ctx);
	if (ret)
		return ret;

	pin_placed(bo);
	return 0;
}

static int pin_for_scanout(struct vttm_bo *bo, struct ttm_operation_ctx *ctx)
{
	int ret;

	/* Its memory is somebody else's. */
	if (drm_gem_is_imported(&bo->tbo.base))
		return -EINVAL;

	ret = dma_resv_reserve_fences(bo->tbo.base.resv, TTM_NUM_MOVE_FENCES);
	if (ret)
		return ret;

	bo->flags |= DRM_VTTM_GEM_CONTIGUOUS;

	if (bo->tbo.pin_count) {
		struct ttm_resource *res = bo->tbo.resource;

		if (res->mem_type != TTM_PL_VRAM ||
		    !(res->placement & TTM_PL_FLAG_CONTIGUOUS))
			return -EINVAL;

		ttm_bo_pin(&bo->tbo);
		return 0;
	}

	bo->cpu_access = true;
	vttm_bo_placement_from_domain(bo, DRM_VTTM_DOMAIN_VRAM);
	bo->places[0].flags |= TTM_PL_FLAG_CONTIGUOUS;

	ret = ttm_bo_validate(&bo->tbo, &bo->placement, ctx);
	if (ret)
		return ret;

	pin_placed(bo);
	return 0;
}

/**
 * vttm_bo_unpin() - Take back one pin
 * @bo: the BO, with its reservation lock held
 */
void vttm_bo_unpin(struct vttm_bo *bo)
{
	struct vttm_device *vdev = to_vttm_device(bo->tbo.base.dev);

	ttm_bo_unpin(&bo->tbo);
	if (!bo->tbo.pin_count && bo->tbo.resource->mem_type == TTM_PL_VRAM)
		atomic64_sub(bo->tbo.base.size, &vdev->vram_pinned);
}

/* Count a pin as one of this file, unless it has lost its handle. */
static int count_pin(struct vttm_vm *vm, struct vttm_bo *bo)
{
	struct vttm_vm_bo *vm_bo;
	int ret = 0;

	xa_lock(&vm->bos);
	vm_bo = xa_load(&vm->bos, (unsigned long)bo);
	if (!vm_bo)
		ret = -ENOENT;
	else if (vm_bo->pins == U32_MAX)
		ret = -EBUSY;
	else
		vm_bo->pins++;
	xa_unlock(&vm->bos);

	return ret;
}

static int uncount_pin(struct vttm_vm *vm, struct vttm_bo *bo)
{
	struct vttm_vm_bo *vm_bo;
	int ret = 0;

	xa_lock(&vm->bos);
	vm_bo = xa_load(&vm->bos, (unsigned long)bo);
	if (vm_bo && vm_bo->pins)
		vm_bo->pins--;
	else
		ret = -EINVAL;
	xa_unlock(&vm->bos);

	return ret;
}

static int pin(struct vttm_vm *vm, struct vttm_bo *bo, struct ttm_operation_ctx *ctx)
{
	int ret;

	ret = pin_for_scanout(bo, ctx);
	if (ret || !vm)
		return ret;

	ret = count_pin(vm, bo);
	if (ret)
		vttm_bo_unpin(bo);

	return ret;
}

/* Locked alone, but in a loop, so that making room can back off. */
static int pin_in_loop(struct vttm_vm *vm, struct vttm_bo *bo, struct drm_exec *exec,
		       struct vttm_retry *retry)
{
	struct vttm_device *vdev = to_vttm_device(bo->tbo.base.dev);
	struct ttm_operation_ctx ctx = {};
	int ret = 0;

	vttm_retry_set_ctx(&ctx, retry->exec);
	vttm_owner_set_pin_ctx(vm, bo, &ctx);

	drm_exec_until_all_locked(exec) {
		vttm_retry_attempt(vdev, retry, vttm_bo_vm_label(bo), ctx.bytes_moved);

		ret = drm_exec_lock_obj(exec, &bo->tbo.base);
		drm_exec_retry_on_contention(exec);
		if (ret)
			break;

		retry->evicting = true;
		ret = pin(vm, bo, &ctx);
		drm_exec_retry_on_contention(exec);
		if (ret)
			break;
	}

	vttm_retry_end(vdev, retry);
	return ret;
}

/**
 * vttm_bo_lock_and_pin() - Pin a BO for scanout
 * @vm: VM of the file that the pin counts as one of, or NULL
 * @bo: the BO; the caller holds no reservation lock
 *
 * As amdgpu's prepare_fb and amdgpu_bo_pin(): in video memory, in one range, and
 * not interruptible. If TTM can retry, no lock of others makes it fail.
 *
 * Return: 0, -EINVAL if it is pinned elsewhere or imported, -ENOENT if the file
 * has no handle, or what validation returns.
 */
int vttm_bo_lock_and_pin(struct vttm_vm *vm, struct vttm_bo *bo)
{
	struct ttm_operation_ctx ctx = {};
	struct vttm_retry retry = {};
	struct drm_exec exec;
	int ret;

	drm_exec_init(&exec, 0, 1);
	vttm_retry_begin(&retry, &exec);

	if (retry.exec) {
		ret = pin_in_loop(vm, bo, &exec, &retry);
	} else {
		/* Without a ticket, as amdgpu. */
		vttm_owner_set_pin_ctx(vm, bo, &ctx);
		dma_resv_lock(bo->tbo.base.resv, NULL);
		ret = pin(vm, bo, &ctx);
		dma_resv_unlock(bo->tbo.base.resv);
	}

	drm_exec_fini(&exec);
	return ret;
}

static int unpin(struct vttm_vm *vm, struct vttm_bo *bo)
{
	int ret;

	dma_resv_lock(bo->tbo.base.resv, NULL);
	ret = uncount_pin(vm, bo);
	if (!ret)
		vttm_bo_unpin(bo);
	dma_resv_unlock(bo->tbo.base.resv);

	return ret;
}

/**
 * vttm_pin_ioctl() - Pin a BO for scanout, or unpin it
 * @drm: DRM device
 * @data: struct drm_vttm_pin
 * @file: DRM file
 *
 * Return: 0, -EINVAL, -ENOENT, or -ENOMEM if there is no room.
 */
int vttm_pin_ioctl(struct drm_device *drm, void *data, struct drm_file *file)
{
	struct vttm_device *vdev = to_vttm_device(drm);
	struct drm_vttm_pin *args = data;
	struct vttm_vm *vm = file->driver_priv;
	struct drm_gem_object *obj;
	struct vttm_bo *bo;
	int ret;

	if (args->flags & ~DRM_VTTM_PIN_UNPIN)
		return -EINVAL;

	obj = drm_gem_object_lookup(file, args->handle);
	if (!obj)
		return -ENOENT;
	bo = gem_to_vttm_bo(obj);

	ret = args->flags & DRM_VTTM_PIN_UNPIN ? unpin(vm, bo) :
						  vttm_bo_lock_and_pin(vm, bo);

	drm_gem_object_put(obj);
	vttm_clock_end_op(vdev);
	return ret;
}
