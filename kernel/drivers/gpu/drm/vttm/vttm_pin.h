/* SPDX-License-Identifier: GPL-2.0 OR MIT */
#ifndef _VTTM_PIN_H_
#define _VTTM_PIN_H_

#include <linux/types.h>

struct drm_device;
struct drm_file;
struct vttm_bo;
struct vttm_vm;

int vttm_bo_lock_and_pin(struct vttm_vm *vm, struct vttm_bo *bo);
int vttm_bo_pin_in(struct vttm_bo *bo, u32 domain);
void vttm_bo_unpin(struct vttm_bo *bo);
int vttm_pin_ioctl(struct drm_device *drm, void *data, struct drm_file *file);

#endif
