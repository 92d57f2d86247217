/* SPDX-License-Identifier: GPL-2.0 OR MIT */
#ifndef _VTTM_PIN_H_
#define _VTTM_PIN_H_

struct drm_device;
struct drm_file;
struct vttm_bo;

int vttm_bo_pin(struct vttm_bo *bo);
void vttm_bo_unpin(struct vttm_bo *bo);
int vttm_pin_ioctl(struct drm_device *drm, void *data, struct drm_file *file);

#endif
