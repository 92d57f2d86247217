// SPDX-License-Identifier: GPL-2.0 OR MIT

#include <linux/dma-resv.h>
#include <linux/mm.h>
#include <linux/sizes.h>

#include <drm/drm_gem.h>

#include "vttm_drv.h"
#include "vttm_gem.h"
#include "vttm_priority.h"
#include "vttm_vm.h"

/*
 * A BO that is larger than memory makes sense if there are no contents, but it
 * has an array of its pages.
 */
static u64 max_bo_size(void)
{
	return min(16 * ((u64)totalram_pages() << PAGE_SHIFT), 256ULL * SZ_1G);
}

static int check_create_args(struct drm_vttm_gem_create *args)
{
	if (args->pad || (args->flags & ~DRM_VTTM_GEM_FLAGS_MASK) ||
	    args->priority > DRM_VTTM_PRIORITY_MAX ||
	    !args->size || !IS_ALIGNED(args->size, PAGE_SIZE))
		return -EINVAL;

	if (!args->preferred_domains ||
	    ((args->preferred_domains | args->allowed_domains) & ~DRM_VTTM_DOMAIN_MASK))
		return -EINVAL;

	if (!args->allowed_domains) {
		args->allowed_domains = args->preferred_domains;
		if (args->allowed_domains == DRM_VTTM_DOMAIN_VRAM)
			args->allowed_domains |= DRM_VTTM_DOMAIN_GTT;
	}

	if (args->preferred_domains & ~args->allowed_domains)
		return -EINVAL;

	return args->size <= max_bo_size() ? 0 : -ENOMEM;
}

static int create_handle(struct vttm_device *vdev, struct drm_file *file,
			 const struct drm_vttm_gem_create *args, u32 *handle)
{
	struct vttm_vm *vm = file->driver_priv;
	struct vttm_bo *bo;
	int ret;

	guard(rwsem_read)(&vdev->reset_lock);

	bo = vttm_bo_create(vdev, vm, args);
	if (IS_ERR(bo))
		return PTR_ERR(bo);

	ret = drm_gem_handle_create(file, &bo->tbo.base, handle);
	if (ret)
		vttm_vm_remove_bo(vm, bo);
	drm_gem_object_put(&bo->tbo.base);

	return ret;
}

/**
 * vttm_gem_create_handle() - Create a BO for a file
 * @file: the file
 * @args: what it is to be like; allowed domains are filled in
 * @handle: returns its handle
 *
 * Return: 0, -EINVAL for invalid arguments, -ENOMEM if there is no room, or
 * -ERESTARTSYS.
 */
int vttm_gem_create_handle(struct drm_file *file, struct drm_vttm_gem_create *args,
			   u32 *handle)
{
	struct vttm_device *vdev = to_vttm_device(file->minor->dev);
	int ret;

	ret = check_create_args(args);
	if (ret)
		return ret;

	ret = create_handle(vdev, file, args, handle);
	vttm_clock_end_op(vdev);
	return ret;
}

/**
 * vttm_gem_create_ioctl() - Create a BO
 * @drm: DRM device
 * @data: struct drm_vttm_gem_create
 * @file: DRM file
 *
 * Return: as vttm_gem_create_handle().
 */
int vttm_gem_create_ioctl(struct drm_device *drm, void *data, struct drm_file *file)
{
	struct drm_vttm_gem_create args = *(struct drm_vttm_gem_create *)data;
	struct drm_vttm_gem_create *out = data;

	return vttm_gem_create_handle(file, &args, &out->handle);
}

/**
 * vttm_gem_mmap_ioctl() - Get the offset to map a BO
 * @drm: DRM device
 * @data: struct drm_vttm_gem_mmap
 * @file: DRM file
 *
 * Return: 0, -EINVAL, -ENOENT, or -EOPNOTSUPP if the device has no contents.
 */
int vttm_gem_mmap_ioctl(struct drm_device *drm, void *data, struct drm_file *file)
{
	struct drm_vttm_gem_mmap *args = data;
	struct drm_gem_object *obj;

	if (args->pad)
		return -EINVAL;

	if (to_vttm_device(drm)->config.no_contents)
		return -EOPNOTSUPP;

	obj = drm_gem_object_lookup(file, args->handle);
	if (!obj)
		return -ENOENT;

	args->offset = drm_vma_node_offset_addr(&obj->vma_node);
	drm_gem_object_put(obj);
	return 0;
}

/**
 * vttm_gem_info_ioctl() - Query a BO
 * @drm: DRM device
 * @data: struct drm_vttm_gem_info
 * @file: DRM file
 *
 * Takes no lock, so that it can be used between the steps of a task.
 *
 * Return: 0, -EINVAL or -ENOENT.
 */
int vttm_gem_info_ioctl(struct drm_device *drm, void *data, struct drm_file *file)
{
	struct drm_vttm_gem_info *args = data;
	struct drm_gem_object *obj;
	struct vttm_bo *bo;

	if (args->pad)
		return -EINVAL;

	obj = drm_gem_object_lookup(file, args->handle);
	if (!obj)
		return -ENOENT;
	bo = gem_to_vttm_bo(obj);

	args->size = obj->size;
	args->tag = bo->tag;
	args->flags = bo->create_flags;
	args->priority = READ_ONCE(bo->priority);
	args->pin_count = READ_ONCE(bo->tbo.pin_count);
	args->domain = READ_ONCE(bo->domain);
	drm_gem_object_put(obj);
	return 0;
}

/**
 * vttm_gem_set_priority_ioctl() - Set the priority of a BO within its VM
 * @drm: DRM device
 * @data: struct drm_vttm_gem_set_priority
 * @file: DRM file
 *
 * Return: 0, -ENOENT, -EINVAL for a BO that isn't private to this VM, or
 * -ERESTARTSYS.
 */
int vttm_gem_set_priority_ioctl(struct drm_device *drm, void *data,
				struct drm_file *file)
{
	struct drm_vttm_gem_set_priority *args = data;
	struct vttm_vm *vm = file->driver_priv;
	struct drm_gem_object *obj;
	int ret = 0;

	if (args->priority > DRM_VTTM_PRIORITY_MAX)
		return -EINVAL;

	obj = drm_gem_object_lookup(file, args->handle);
	if (!obj)
		return -ENOENT;

	if (gem_to_vttm_bo(obj)->root == vm->root)
		ret = vttm_priority_set(vm, gem_to_vttm_bo(obj), args->priority);
	else
		ret = -EINVAL;

	drm_gem_object_put(obj);
	return ret;
}
