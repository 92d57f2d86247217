/* SPDX-License-Identifier: GPL-2.0 OR MIT */
#ifndef _VTTM_PM_H_
#define _VTTM_PM_H_

#include <linux/pm.h>

struct vttm_device;

extern const struct dev_pm_ops vttm_pm_ops;

int vttm_evict_all(struct vttm_device *vdev);

#endif
