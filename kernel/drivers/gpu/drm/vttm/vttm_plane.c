// SPDX-License-Identifier: GPL-2.0 OR MIT

#include <linux/slab.h>

#include <drm/drm_atomic.h>
#include <drm/drm_atomic_helper.h>
#include <drm/drm_atomic_state_helper.h>
#include <drm/drm_blend.h>
#include <drm/drm_framebuffer.h>
#include <drm/drm_gem_atomic_helper.h>

#include "vttm_drv.h"
#include "vttm_fb.h"
#include "vttm_format.h"
#include "vttm_plane.h"

static struct drm_plane_state *vttm_plane_duplicate_state(struct drm_plane *plane)
{
	struct vttm_plane_state *state = kzalloc_obj(*state);

	if (!state)
		return NULL;

	__drm_atomic_helper_plane_duplicate_state(plane, &state->base);
	return &state->base;
}

static void vttm_plane_destroy_state(struct drm_plane *plane,
				     struct drm_plane_state *state)
{
	__drm_atomic_helper_plane_destroy_state(state);
	kfree(to_vttm_plane_state(state));
}

static void vttm_plane_reset(struct drm_plane *plane)
{
	struct vttm_plane_state *state = kzalloc_obj(*state);

	if (plane->state)
		vttm_plane_destroy_state(plane, plane->state);
	plane->state = NULL;

	if (state)
		__drm_atomic_helper_plane_reset(plane, &state->base);
}

static const struct drm_plane_funcs vttm_plane_funcs = {
	.update_plane = drm_atomic_helper_update_plane,
	.disable_plane = drm_atomic_helper_disable_plane,
	.reset = vttm_plane_reset,
	.atomic_duplicate_state = vttm_plane_duplicate_state,
	.atomic_destroy_state = vttm_plane_destroy_state,
};

static int vttm_plane_atomic_check(struct drm_plane *plane,
				   struct drm_atomic_commit *commit)
{
	struct drm_plane_state *state = drm_atomic_get_new_plane_state(commit, plane);
	struct drm_crtc_state *crtc_state;

	if (!state->crtc) {
		state->visible = false;
		return 0;
	}

	crtc_state = drm_atomic_get_crtc_state(commit, state->crtc);
	if (IS_ERR(crtc_state))
		return PTR_ERR(crtc_state);

	return drm_atomic_helper_check_plane_state(state, crtc_state, DRM_PLANE_NO_SCALING,
						   DRM_PLANE_NO_SCALING, true, true);
}

/* Nothing to be programmed: the CRTC composes from the state. */
static void vttm_plane_atomic_update(struct drm_plane *plane,
				     struct drm_atomic_commit *commit)
{
}

/*
 * Here rather than when it is shown, as this can fail. The copy that brings
 * the BO to video memory becomes one of the fences that the flip waits for.
 */
static int vttm_plane_prepare_fb(struct drm_plane *plane, struct drm_plane_state *state)
{
	struct vttm_device *vdev = to_vttm_device(plane->dev);
	int ret;

	if (!state->fb)
		return 0;

	ret = vttm_fb_pin(state->fb, to_vttm_plane_state(state)->vaddr);
	if (ret)
		return ret;

	/* One by one: who waits for several at a time can't advance the clock. */
	if (vdev->config.virtual_clock)
		ret = vttm_fb_wait(state->fb, false);
	if (!ret)
		ret = drm_gem_plane_helper_prepare_fb(plane, state);
	if (ret)
		vttm_fb_unpin(state->fb);

	return ret;
}

static void vttm_plane_cleanup_fb(struct drm_plane *plane, struct drm_plane_state *state)
{
	if (state->fb)
		vttm_fb_unpin(state->fb);
}

static const struct drm_plane_helper_funcs vttm_plane_helper_funcs = {
	.prepare_fb = vttm_plane_prepare_fb,
	.cleanup_fb = vttm_plane_cleanup_fb,
	.atomic_check = vttm_plane_atomic_check,
	.atomic_update = vttm_plane_atomic_update,
};

static int create_properties(struct drm_plane *plane, enum drm_plane_type type)
{
	int ret;

	ret = drm_plane_create_rotation_property(plane, DRM_MODE_ROTATE_0,
						 DRM_MODE_ROTATE_MASK |
						 DRM_MODE_REFLECT_MASK);
	if (ret)
		return ret;

	ret = drm_plane_create_blend_mode_property(plane, BIT(DRM_MODE_BLEND_PREMULTI) |
						   BIT(DRM_MODE_BLEND_COVERAGE) |
						   BIT(DRM_MODE_BLEND_PIXEL_NONE));
	if (ret)
		return ret;

	ret = drm_plane_create_color_properties(plane,
						BIT(DRM_COLOR_YCBCR_BT601) |
						BIT(DRM_COLOR_YCBCR_BT709) |
						BIT(DRM_COLOR_YCBCR_BT2020),
						BIT(DRM_COLOR_YCBCR_LIMITED_RANGE) |
						BIT(DRM_COLOR_YCBCR_FULL_RANGE),
						DRM_COLOR_YCBCR_BT601,
						DRM_COLOR_YCBCR_FULL_RANGE);
	if (ret)
		return ret;

	if (type == DRM_PLANE_TYPE_CURSOR)
		return drm_plane_create_zpos_immutable_property(plane, 2);

	return drm_plane_create_zpos_property(plane, type == DRM_PLANE_TYPE_OVERLAY, 0, 1);
}

/**
 * vttm_plane_create() - Create a plane
 * @vdev: the device
 * @type: what it is for
 *
 * Managed by the device. The caller says which CRTC it is for.
 *
 * Return: the plane, or an ERR_PTR().
 */
struct drm_plane *vttm_plane_create(struct vttm_device *vdev, enum drm_plane_type type)
{
	struct drm_plane *plane;
	int ret;

	plane = __drmm_universal_plane_alloc(&vdev->drm, sizeof(*plane), 0, 0,
					     &vttm_plane_funcs, vttm_scanout_formats,
					     vttm_num_scanout_formats, NULL, type, NULL);
	if (IS_ERR(plane))
		return plane;

	drm_plane_helper_add(plane, &vttm_plane_helper_funcs);

	ret = create_properties(plane, type);
	return ret ? ERR_PTR(ret) : plane;
}
