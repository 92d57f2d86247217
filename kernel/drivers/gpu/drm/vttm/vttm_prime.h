/* SPDX-License-Identifier: GPL-2.0 OR MIT */
#ifndef _VTTM_PRIME_H_
#define _VTTM_PRIME_H_

struct dma_buf;
struct drm_device;
struct drm_gem_object;
struct ttm_tt;
struct vttm_bo;

struct dma_buf *vttm_prime_export(struct drm_gem_object *obj, int flags);
struct drm_gem_object *vttm_prime_import(struct drm_device *drm,
					 struct dma_buf *dma_buf);
void vttm_prime_moving(struct vttm_bo *bo);
int vttm_prime_map_import(struct vttm_bo *bo, struct ttm_tt *tt);
void vttm_prime_unmap_import(struct vttm_bo *bo, struct ttm_tt *tt);

#endif
