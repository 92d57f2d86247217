/* SPDX-License-Identifier: GPL-2.0 OR MIT */
#ifndef _VTTM_WRITEBACK_H_
#define _VTTM_WRITEBACK_H_

#include "vttm_format.h"

struct vttm_crtc;
struct vttm_device;

/**
 * struct vttm_writeback - A frame that is to be written to memory
 */
struct vttm_writeback {
	/** @image: Where to. */
	struct vttm_image image;
};

int vttm_writeback_init(struct vttm_device *vdev, struct vttm_crtc *vcrtc);

#endif
