/* SPDX-License-Identifier: GPL-2.0 OR MIT */
#ifndef _VTTM_EXEC_H_
#define _VTTM_EXEC_H_

struct drm_device;
struct drm_file;

int vttm_submit_ioctl(struct drm_device *drm, void *data, struct drm_file *file);

#endif
