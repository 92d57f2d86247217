/* SPDX-License-Identifier: GPL-2.0 OR MIT */
#ifndef _VTTM_TTM_H_
#define _VTTM_TTM_H_

struct vttm_device;

int vttm_ttm_init(struct vttm_device *vdev);
void vttm_ttm_fini(struct vttm_device *vdev);

#endif
