/* SPDX-License-Identifier: GPL-2.0 OR MIT */
#ifndef _VTTM_KMS_H_
#define _VTTM_KMS_H_

struct vttm_device;

/* Largest mode and framebuffer, in each direction. */
#define VTTM_MAX_MODE_SIZE	8192

int vttm_kms_init(struct vttm_device *vdev);
void vttm_kms_shutdown(struct vttm_device *vdev);

#endif
