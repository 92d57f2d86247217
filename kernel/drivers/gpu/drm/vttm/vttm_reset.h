/* SPDX-License-Identifier: GPL-2.0 OR MIT */
#ifndef _VTTM_RESET_H_
#define _VTTM_RESET_H_

struct vttm_config;
struct vttm_device;

void vttm_drain(struct vttm_device *vdev);
int vttm_reset(struct vttm_device *vdev, const struct vttm_config *config);
int vttm_reset_check_config(struct vttm_device *vdev,
			    const struct vttm_config *config);

#endif
