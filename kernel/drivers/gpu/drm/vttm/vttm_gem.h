/* SPDX-License-Identifier: GPL-2.0 OR MIT */
#ifndef _VTTM_GEM_H_
#define _VTTM_GEM_H_

#include <drm/ttm/ttm_bo.h>
#include <drm/ttm/ttm_placement.h>

struct dma_buf;
struct drm_device;
struct drm_file;
struct drm_vttm_gem_create;
struct vttm_device;
struct vttm_vm;

#define VTTM_MAX_PLACES		3

/**
 * struct vttm_root - Dummy GEM object that owns the reservation object of a VM
 *
 * A BO with a foreign reservation object holds a reference to the owner until
 * it is destroyed.
 */
struct vttm_root {
	/** @base: Base class; has no memory. */
	struct drm_gem_object base;
	/** @label: Label of the VM. */
	u32 label;
};

/**
 * struct vttm_bo - Buffer object
 */
struct vttm_bo {
	/** @tbo: Base class. */
	struct ttm_buffer_object tbo;
	/** @tag: Number shown in debugfs and traces. */
	u64 tag;
	/** @preferred: Domains to place the BO in. */
	u32 preferred;
	/** @allowed: Domains that a submission can work with. */
	u32 allowed;
	/** @create_flags: DRM_VTTM_GEM_* as at creation. */
	u32 create_flags;
	/** @flags: The same, and CONTIGUOUS if a pin set it. Under the resv. */
	u32 flags;
	/** @priority: Priority within the VM. */
	u32 priority;
	/** @domain: Domain that it is in, for those without the resv. */
	u32 domain;
	/** @has_pages: There is memory behind it, for those without the resv. */
	bool has_pages;
	/** @cpu_access: The CPU is going to access it. Under the resv. */
	bool cpu_access;
	/** @exported: Its dma-buf, while there is one. Under &vttm_device.bos_lock. */
	struct dma_buf *exported;
	/** @vaddr: Where the kernel has mapped it. Under the resv. */
	void *vaddr;
	/** @vmap_count: How often it was asked to. Under the resv. */
	unsigned int vmap_count;
	/** @root: Owner of a private BO's reservation object, or NULL. */
	struct vttm_root *root;
	/** @vm: VM of a private BO that has a handle. Under the resv. */
	struct vttm_vm *vm;
	/** @displaced: Is in &vttm_owner.displaced. Under &vttm_vm.evicted_lock. */
	bool displaced;
	/** @evicted_node: Link in &vttm_vm.evicted or &vttm_owner.displaced. */
	struct list_head evicted_node;
	/** @node: Link in &vttm_device.bos. */
	struct list_head node;
	/** @places: Memory of @placement. */
	struct ttm_place places[VTTM_MAX_PLACES];
	/** @placement: The current placement list. Under the resv. */
	struct ttm_placement placement;
};

static inline struct vttm_bo *to_vttm_bo(struct ttm_buffer_object *tbo)
{
	return container_of(tbo, struct vttm_bo, tbo);
}

static inline struct vttm_bo *gem_to_vttm_bo(struct drm_gem_object *obj)
{
	return container_of(obj, struct vttm_bo, tbo.base);
}

static inline struct vttm_root *gem_to_vttm_root(struct drm_gem_object *obj)
{
	return container_of(obj, struct vttm_root, base);
}

void vttm_bo_destroy(struct ttm_buffer_object *tbo);
struct vttm_bo *vttm_bo_alloc(struct vttm_device *vdev, struct vttm_vm *vm,
			      const struct drm_vttm_gem_create *args, u32 preferred);
bool vttm_bo_is_vttm_bo(struct ttm_buffer_object *tbo);
u32 vttm_bo_vm_label(struct vttm_bo *bo);
void vttm_bo_placement_from_domain(struct vttm_bo *bo, u32 domain);
struct vttm_bo *vttm_bo_create(struct vttm_device *vdev, struct vttm_vm *vm,
			       const struct drm_vttm_gem_create *args);
struct vttm_bo *vttm_bo_create_import(struct vttm_device *vdev,
				      struct dma_buf *dma_buf);
struct vttm_root *vttm_root_create(struct vttm_device *vdev);

int vttm_gem_create_handle(struct drm_file *file, struct drm_vttm_gem_create *args,
			   u32 *handle);
int vttm_gem_create_ioctl(struct drm_device *drm, void *data, struct drm_file *file);
int vttm_gem_mmap_ioctl(struct drm_device *drm, void *data, struct drm_file *file);
int vttm_gem_info_ioctl(struct drm_device *drm, void *data, struct drm_file *file);
int vttm_gem_set_priority_ioctl(struct drm_device *drm, void *data,
				struct drm_file *file);

#endif
