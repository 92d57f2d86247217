/* SPDX-License-Identifier: GPL-2.0 OR MIT */
#ifndef _VTTM_MMAP_H_
#define _VTTM_MMAP_H_

#include <linux/mm_types.h>

struct drm_gem_object;
struct iosys_map;
struct ttm_buffer_object;
struct ttm_device;
struct ttm_resource;
struct vttm_bo;

extern const struct vm_operations_struct vttm_gem_vm_ops;

int vttm_gem_mmap(struct drm_gem_object *obj, struct vm_area_struct *vma);
int vttm_gem_vmap(struct drm_gem_object *obj, struct iosys_map *map);
void vttm_gem_vunmap(struct drm_gem_object *obj, struct iosys_map *map);
int vttm_bo_map(struct vttm_bo *bo, void **vaddr);
void vttm_bo_unmap(struct vttm_bo *bo);
int vttm_io_mem_reserve(struct ttm_device *bdev, struct ttm_resource *res);
unsigned long vttm_io_mem_pfn(struct ttm_buffer_object *tbo,
			      unsigned long page_offset);
int vttm_access_memory(struct ttm_buffer_object *tbo, unsigned long offset, void *buf,
		       int len, int write);

#endif
