/* SPDX-License-Identifier: GPL-2.0 OR MIT */
#ifndef _VTTM_DEBUGFS_H_
#define _VTTM_DEBUGFS_H_

struct vttm_device;

void vttm_debugfs_init(struct vttm_device *vdev);

#endif
