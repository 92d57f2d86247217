/* SPDX-License-Identifier: GPL-2.0 OR MIT */
#ifndef _VTTM_TRANSFER_H_
#define _VTTM_TRANSFER_H_

struct ttm_resource;
struct vttm_bo;
struct vttm_device;
struct vttm_transfer;

int vttm_transfer_create(struct vttm_device *vdev, struct vttm_bo *bo,
			 struct ttm_resource *from, struct ttm_resource *to,
			 struct vttm_transfer **out);
void vttm_transfer_run(struct vttm_device *vdev, struct vttm_transfer *transfer);
void vttm_transfer_free(struct vttm_transfer *transfer);

#endif
