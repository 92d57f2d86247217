// SPDX-License-Identifier: GPL-2.0 OR MIT

#include <linux/dma-buf.h>
#include <linux/dma-resv.h>
#include <linux/slab.h>

#include <drm/drm_prime.h>

#include "vttm_drv.h"
#include "vttm_gem.h"
#include "vttm_mmap.h"
#include "vttm_pin.h"
#include "vttm_prime.h"
#include "vttm_priority.h"
#include "vttm_trace.h"
#include "vttm_vm.h"

static void vttm_bo_destroy(struct ttm_buffer_object *tbo)
{
	struct vttm_device *vdev = bdev_to_vttm_device(tbo->bdev);
	struct vttm_bo *bo = to_vttm_bo(tbo);
	bool last;

	scoped_guard(spinlock, &vdev->bos_lock) {
		list_del(&bo->node);
		last = !--vdev->num_bos;
	}

	if (drm_gem_is_imported(&tbo->base))
		drm_prime_gem_destroy(&tbo->base, NULL);
	drm_gem_object_release(&tbo->base);
	if (bo->root)
		drm_gem_object_put(&bo->root->base);
	kfree(bo);

	if (last)
		wake_up_all(&vdev->idle_wq);
}

/**
 * vttm_bo_is_vttm_bo() - Is it one of our BOs, not one of TTM's ghosts?
 * @tbo: any TTM BO of our device
 *
 * Return: true if it is safe to use to_vttm_bo().
 */
bool vttm_bo_is_vttm_bo(struct ttm_buffer_object *tbo)
{
	return tbo->destroy == vttm_bo_destroy;
}

/**
 * vttm_bo_vm_label() - Label of the VM that a BO is private to
 * @bo: the BO
 *
 * Return: the label, or %VTTM_LABEL_NONE.
 */
u32 vttm_bo_vm_label(struct vttm_bo *bo)
{
	return bo->root ? READ_ONCE(bo->root->label) : VTTM_LABEL_NONE;
}

/**
 * vttm_bo_placement_from_domain() - Set a BO's placement list
 * @bo: the BO, with its reservation lock held unless it is new
 * @domain: mask of domains
 *
 * As amdgpu_bo_placement_from_domain().
 */
void vttm_bo_placement_from_domain(struct vttm_bo *bo, u32 domain)
{
	struct ttm_place *places = bo->places;
	unsigned int c = 0;

	if (domain & DRM_VTTM_DOMAIN_VRAM)
		places[c++] = (struct ttm_place) {
			.mem_type = TTM_PL_VRAM,
			.flags = bo->cpu_access ? 0 : TTM_PL_FLAG_TOPDOWN,
		};

	if (domain & DRM_VTTM_DOMAIN_GTT) {
		places[c] = (struct ttm_place) { .mem_type = TTM_PL_TT };
		/* As an alternative to VRAM it is only a fallback. */
		if (bo->tbo.resource && (domain & bo->preferred & DRM_VTTM_DOMAIN_VRAM))
			places[c].flags |= TTM_PL_FLAG_FALLBACK;
		c++;
	}

	if ((domain & DRM_VTTM_DOMAIN_SYSTEM) || !c)
		places[c++] = (struct ttm_place) { .mem_type = TTM_PL_SYSTEM };

	bo->placement.num_placement = c;
	bo->placement.placement = places;
}

static void vttm_gem_free(struct drm_gem_object *obj)
{
	ttm_bo_fini(&gem_to_vttm_bo(obj)->tbo);
}

static int vttm_gem_open(struct drm_gem_object *obj, struct drm_file *file)
{
	struct vttm_bo *bo = gem_to_vttm_bo(obj);
	struct vttm_vm *vm = file->driver_priv;

	if (bo->root && bo->root != vm->root)
		return -EPERM;

	return vttm_vm_open_bo(vm, bo);
}

static void vttm_gem_close(struct drm_gem_object *obj, struct drm_file *file)
{
	vttm_vm_close_bo(file->driver_priv, gem_to_vttm_bo(obj));
}

static const struct drm_gem_object_funcs vttm_gem_funcs = {
	.free = vttm_gem_free,
	.open = vttm_gem_open,
	.close = vttm_gem_close,
	.export = vttm_prime_export,
	.mmap = vttm_gem_mmap,
	.vmap = vttm_gem_vmap,
	.vunmap = vttm_gem_vunmap,
	.vm_ops = &vttm_gem_vm_ops,
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

static struct vttm_bo *alloc_bo(struct vttm_device *vdev, struct vttm_vm *vm,
				const struct drm_vttm_gem_create *args, u32 preferred)
{
	struct vttm_bo *bo = kzalloc_obj(*bo);

	if (!bo)
		return NULL;

	drm_gem_private_object_init(&vdev->drm, &bo->tbo.base, args->size);
	bo->tbo.base.funcs = &vttm_gem_funcs;
	bo->tbo.priority = 1;
	bo->tag = args->tag;
	bo->preferred = preferred;
	bo->allowed = args->allowed_domains;
	bo->create_flags = args->flags;
	bo->flags = args->flags;
	bo->priority = args->priority;
	vttm_priority_init_bo(bo);
	INIT_LIST_HEAD(&bo->evicted_node);

	if (vm)
		vttm_owner_add_bo(vm, bo);
	if (args->flags & DRM_VTTM_GEM_VM_PRIVATE) {
		drm_gem_object_get(&vm->root->base);
		bo->root = vm->root;
	}

	scoped_guard(spinlock, &vdev->bos_lock) {
		list_add_tail(&bo->node, &vdev->bos);
		vdev->num_bos++;
	}

	return bo;
}

/* Create and place a BO, as amdgpu_bo_create(). */
static struct vttm_bo *create_and_place(struct vttm_device *vdev, struct vttm_vm *vm,
					const struct drm_vttm_gem_create *args,
					u32 preferred, struct dma_resv *resv)
{
	struct ttm_operation_ctx ctx = {
		.interruptible = true,
		.gfp_retry_mayfail = true,
		.allow_res_evict = true,
		.resv = resv,
	};
	struct vttm_bo *bo;
	int ret;

	if (!valid_size(vdev, args->size, preferred))
		return ERR_PTR(-ENOMEM);

	bo = alloc_bo(vdev, vm, args, preferred);
	if (!bo)
		return ERR_PTR(-ENOMEM);

	vttm_owner_set_ctx(vm, &ctx);
	vttm_bo_placement_from_domain(bo, preferred);

	/* On error it destroys the BO. */
	ret = ttm_bo_init_reserved(&vdev->bdev, &bo->tbo, ttm_bo_type_device,
				   &bo->placement, 0, &ctx, NULL, resv,
				   vttm_bo_destroy);
	if (ret)
		return ERR_PTR(ret);

	vttm_budget_report_moved(vdev, ctx.bytes_moved);

	if (bo->tbo.resource->mem_type == TTM_PL_VRAM) {
		ret = clear(bo);
		if (ret) {
			if (!resv)
				dma_resv_unlock(bo->tbo.base.resv);
			drm_gem_object_put(&bo->tbo.base);
			return ERR_PTR(ret);
		}
	}

	return bo;
}

/**
 * vttm_bo_create() - Create a BO
 * @vdev: the device
 * @vm: VM of the file that it is created for
 * @args: valid arguments
 *
 * As amdgpu_gem_create_ioctl().
 *
 * Return: the BO, or an ERR_PTR().
 */
struct vttm_bo *vttm_bo_create(struct vttm_device *vdev, struct vttm_vm *vm,
			       const struct drm_vttm_gem_create *args)
{
	u32 preferred = args->preferred_domains;
	struct dma_resv *resv = NULL;
	struct vttm_bo *bo;
	int ret;

	if (args->flags & DRM_VTTM_GEM_VM_PRIVATE) {
		resv = vm->root->base.resv;
		ret = dma_resv_lock_interruptible(resv, NULL);
		if (ret)
			return ERR_PTR(ret == -EINTR ? -ERESTARTSYS : ret);
	}

	bo = create_and_place(vdev, vm, args, preferred, resv);
	if (IS_ERR(bo) && PTR_ERR(bo) != -ERESTARTSYS &&
	    preferred == DRM_VTTM_DOMAIN_VRAM &&
	    (args->allowed_domains & DRM_VTTM_DOMAIN_GTT)) {
		preferred |= DRM_VTTM_DOMAIN_GTT;
		bo = create_and_place(vdev, vm, args, preferred, resv);
	}

	if (!IS_ERR(bo)) {
		trace_vttm_bo_create(bo);
		if (resv)
			vttm_vm_add_bo(vm, bo);
	}

	if (resv)
		dma_resv_unlock(resv);
	else if (!IS_ERR(bo))
		dma_resv_unlock(bo->tbo.base.resv);

	return bo;
}

/**
 * vttm_bo_create_import() - Create the BO that a foreign dma-buf becomes
 * @vdev: the device
 * @dma_buf: the dma-buf
 *
 * It shares the reservation object, and has no attachment yet.
 *
 * Return: the BO, or an ERR_PTR().
 */
struct vttm_bo *vttm_bo_create_import(struct vttm_device *vdev,
				      struct dma_buf *dma_buf)
{
	const struct drm_vttm_gem_create args = {
		.size = dma_buf->size,
		.allowed_domains = DRM_VTTM_DOMAIN_GTT,
		.priority = DRM_VTTM_PRIORITY_DEFAULT,
	};
	struct ttm_operation_ctx ctx = {};
	struct vttm_bo *bo;
	int ret;

	if (!dma_buf->size || !IS_ALIGNED(dma_buf->size, PAGE_SIZE))
		return ERR_PTR(-EINVAL);

	bo = alloc_bo(vdev, NULL, &args, DRM_VTTM_DOMAIN_GTT);
	if (!bo)
		return ERR_PTR(-ENOMEM);

	vttm_bo_placement_from_domain(bo, DRM_VTTM_DOMAIN_SYSTEM);

	/* On error it destroys the BO. */
	dma_resv_lock(dma_buf->resv, NULL);
	ret = ttm_bo_init_reserved(&vdev->bdev, &bo->tbo, ttm_bo_type_sg,
				   &bo->placement, 0, &ctx, NULL, dma_buf->resv,
				   vttm_bo_destroy);
	dma_resv_unlock(dma_buf->resv);

	return ret ? ERR_PTR(ret) : bo;
}

static void vttm_root_free(struct drm_gem_object *obj)
{
	drm_gem_object_release(obj);
	kfree(gem_to_vttm_root(obj));
}

static const struct drm_gem_object_funcs vttm_root_funcs = {
	.free = vttm_root_free,
};

/**
 * vttm_root_create() - Create the dummy object of a VM
 * @vdev: the device
 *
 * Return: the object, or NULL.
 */
struct vttm_root *vttm_root_create(struct vttm_device *vdev)
{
	struct vttm_root *root = kzalloc_obj(*root);

	if (!root)
		return NULL;

	drm_gem_private_object_init(&vdev->drm, &root->base, PAGE_SIZE);
	root->base.funcs = &vttm_root_funcs;
	root->label = VTTM_LABEL_NONE;
	return root;
}
