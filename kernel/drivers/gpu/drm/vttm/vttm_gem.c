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
#include "vttm_vm.h"

/**
 * vttm_bo_destroy() - Free a BO that nobody refers to
 * @tbo: TTM's part of it
 */
void vttm_bo_destroy(struct ttm_buffer_object *tbo)
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

/**
 * vttm_bo_alloc() - Allocate a BO, for TTM to initialize
 * @vdev: the device
 * @vm: VM of the file that it is created for, or NULL
 * @args: valid arguments
 * @preferred: mask of domains that it prefers
 *
 * From then on it is vttm_bo_destroy() that frees it.
 *
 * Return: the BO, or NULL.
 */
struct vttm_bo *vttm_bo_alloc(struct vttm_device *vdev, struct vttm_vm *vm,
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

	bo = vttm_bo_alloc(vdev, NULL, &args, DRM_VTTM_DOMAIN_GTT);
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
