/* SPDX-License-Identifier: GPL-2.0 OR MIT */
#ifndef _VTTM_PLANE_H_
#define _VTTM_PLANE_H_

#include <drm/drm_fourcc.h>
#include <drm/drm_plane.h>

struct vttm_device;

/**
 * struct vttm_plane_state - State of a plane
 */
struct vttm_plane_state {
	/** @base: Base class. */
	struct drm_plane_state base;
	/** @vaddr: Where each plane of the framebuffer's format is mapped. */
	void *vaddr[DRM_FORMAT_MAX_PLANES];
};

static inline struct vttm_plane_state *
to_vttm_plane_state(struct drm_plane_state *state)
{
	return container_of(state, struct vttm_plane_state, base);
}

struct drm_plane *vttm_plane_create(struct vttm_device *vdev, enum drm_plane_type type);

#endif
