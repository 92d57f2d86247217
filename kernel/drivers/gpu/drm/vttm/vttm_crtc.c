// SPDX-License-Identifier: GPL-2.0 OR MIT

#include <linux/slab.h>

#include <drm/drm_atomic.h>
#include <drm/drm_atomic_helper.h>
#include <drm/drm_atomic_state_helper.h>
#include <drm/drm_blend.h>
#include <drm/drm_color_mgmt.h>
#include <drm/drm_managed.h>
#include <drm/drm_print.h>
#include <drm/drm_vblank.h>
#include <drm/drm_vblank_helper.h>

#include "vttm_compose.h"
#include "vttm_crtc.h"
#include "vttm_drv.h"
#include "vttm_kms.h"
#include "vttm_plane.h"

/* What a timer and a person can stand. */
#define VTTM_MIN_FRAME_NS	NSEC_PER_MSEC
#define VTTM_MAX_FRAME_NS	NSEC_PER_SEC

static struct drm_crtc_state *vttm_crtc_duplicate_state(struct drm_crtc *crtc)
{
	struct vttm_crtc_state *state = kzalloc_obj(*state);

	if (!state)
		return NULL;

	__drm_atomic_helper_crtc_duplicate_state(crtc, &state->base);
	INIT_WORK(&state->compose_work, vttm_compose_work);
	return &state->base;
}

static void vttm_crtc_destroy_state(struct drm_crtc *crtc, struct drm_crtc_state *base)
{
	struct vttm_crtc_state *state = to_vttm_crtc_state(base);

	drm_WARN_ON(crtc->dev, work_busy(&state->compose_work));
	__drm_atomic_helper_crtc_destroy_state(base);
	kfree(state);
}

static void vttm_crtc_reset(struct drm_crtc *crtc)
{
	struct vttm_crtc_state *state = kzalloc_obj(*state);

	if (crtc->state)
		vttm_crtc_destroy_state(crtc, crtc->state);
	crtc->state = NULL;

	if (state) {
		INIT_WORK(&state->compose_work, vttm_compose_work);
		__drm_atomic_helper_crtc_reset(crtc, &state->base);
	}
}

static const char * const crc_sources[] = { "auto" };

static const char * const *vttm_crtc_get_crc_sources(struct drm_crtc *crtc, size_t *count)
{
	*count = ARRAY_SIZE(crc_sources);
	return crc_sources;
}

static int vttm_crtc_verify_crc_source(struct drm_crtc *crtc, const char *source,
				       size_t *values_cnt)
{
	if (to_vttm_device(crtc->dev)->config.no_contents)
		return -EOPNOTSUPP;

	if (source && strcmp(source, crc_sources[0]))
		return -EINVAL;

	*values_cnt = 1;
	return 0;
}

/* Frames are composed at vertical blanks, so these are needed meanwhile. */
static int vttm_crtc_set_crc_source(struct drm_crtc *crtc, const char *source)
{
	struct vttm_crtc *vcrtc = to_vttm_crtc(crtc);
	bool enable = source, was_enabled;
	size_t count;
	int ret;

	ret = vttm_crtc_verify_crc_source(crtc, source, &count);
	if (ret && enable)
		return ret;

	if (enable) {
		ret = drm_crtc_vblank_get(crtc);
		if (ret)
			return ret;
	}

	scoped_guard(spinlock_irq, &vcrtc->lock) {
		was_enabled = vcrtc->crc_enabled;
		vcrtc->crc_enabled = enable;
	}

	if (was_enabled)
		drm_crtc_vblank_put(crtc);

	return 0;
}

static const struct drm_crtc_funcs vttm_crtc_funcs = {
	.set_config = drm_atomic_helper_set_config,
	.page_flip = drm_atomic_helper_page_flip,
	.reset = vttm_crtc_reset,
	.atomic_duplicate_state = vttm_crtc_duplicate_state,
	.atomic_destroy_state = vttm_crtc_destroy_state,
	DRM_CRTC_VBLANK_TIMER_FUNCS,
	.get_crc_sources = vttm_crtc_get_crc_sources,
	.set_crc_source = vttm_crtc_set_crc_source,
	.verify_crc_source = vttm_crtc_verify_crc_source,
};

/*
 * Modes that user space makes up are limited by nothing else. The timer fires
 * once a frame; rows are composed in buffers of a fixed size.
 */
static enum drm_mode_status vttm_crtc_mode_valid(struct drm_crtc *crtc,
						 const struct drm_display_mode *mode)
{
	u64 frame_ns;

	if (mode->hdisplay > VTTM_MAX_MODE_SIZE)
		return MODE_BAD_HVALUE;
	if (mode->vdisplay > VTTM_MAX_MODE_SIZE)
		return MODE_BAD_VVALUE;
	if (mode->clock <= 0)
		return MODE_CLOCK_LOW;

	frame_ns = div_u64((u64)mode->htotal * mode->vtotal * NSEC_PER_MSEC, mode->clock);
	if (mode->flags & DRM_MODE_FLAG_INTERLACE)
		frame_ns /= 2;

	if (frame_ns < VTTM_MIN_FRAME_NS)
		return MODE_CLOCK_HIGH;
	if (frame_ns > VTTM_MAX_FRAME_NS)
		return MODE_CLOCK_LOW;

	return MODE_OK;
}

/* Keep the planes by their position. */
static void add_plane(struct vttm_crtc_state *state, struct vttm_plane_state *plane)
{
	unsigned int i = state->num_planes++;

	for (; i && state->planes[i - 1]->base.normalized_zpos >
		    plane->base.normalized_zpos; i--)
		state->planes[i] = state->planes[i - 1];
	state->planes[i] = plane;
}

static int vttm_crtc_atomic_check(struct drm_crtc *crtc, struct drm_atomic_commit *commit)
{
	struct drm_crtc_state *base = drm_atomic_get_new_crtc_state(commit, crtc);
	struct vttm_crtc_state *state = to_vttm_crtc_state(base);
	struct drm_plane_state *plane_state;
	struct drm_plane *plane;
	int ret;

	if (base->color_mgmt_changed && base->gamma_lut &&
	    drm_color_lut_size(base->gamma_lut) != VTTM_LUT_SIZE)
		return -EINVAL;

	/* The state of the CRTC is to have those of all its planes. */
	ret = drm_atomic_add_affected_planes(commit, crtc);
	if (ret)
		return ret;

	state->num_planes = 0;
	drm_for_each_plane_mask(plane, crtc->dev, base->plane_mask) {
		plane_state = drm_atomic_get_new_plane_state(commit, plane);
		if (drm_WARN_ON(crtc->dev, !plane_state ||
				state->num_planes == VTTM_PLANES_PER_CRTC))
			return -EINVAL;
		if (plane_state->visible)
			add_plane(state, to_vttm_plane_state(plane_state));
	}

	return 0;
}

static void vttm_crtc_atomic_disable(struct drm_crtc *crtc,
				     struct drm_atomic_commit *commit)
{
	struct vttm_crtc *vcrtc = to_vttm_crtc(crtc);

	/* The timer can run once more. */
	scoped_guard(spinlock_irq, &vcrtc->lock)
		vcrtc->shown = NULL;

	drm_crtc_vblank_off(crtc);
}

/* From the next vertical blank on all of the new state is shown. */
static void vttm_crtc_atomic_flush(struct drm_crtc *crtc,
				   struct drm_atomic_commit *commit)
{
	struct drm_crtc_state *state = drm_atomic_get_new_crtc_state(commit, crtc);
	struct vttm_crtc *vcrtc = to_vttm_crtc(crtc);
	struct drm_pending_vblank_event *event = state->event;

	guard(spinlock_irq)(&vcrtc->lock);

	if (event) {
		guard(spinlock)(&crtc->dev->event_lock);
		state->event = NULL;
		if (drm_crtc_vblank_get(crtc))
			drm_crtc_send_vblank_event(crtc, event);
		else
			drm_crtc_arm_vblank_event(crtc, event);
	}

	vcrtc->shown = state->active ? to_vttm_crtc_state(state) : NULL;
}

static void queue_compose(struct vttm_crtc *vcrtc)
{
	struct vttm_crtc_state *state = vcrtc->shown;
	u64 frame;

	lockdep_assert_held(&vcrtc->lock);

	if (!state || (!vcrtc->crc_enabled && !state->writeback))
		return;

	frame = drm_crtc_vblank_count(&vcrtc->base);
	if (!state->compose_pending)
		state->first_frame = frame;
	state->last_frame = frame;
	state->compose_pending = true;

	/* With the lock held: after a flip nothing composes the old state. */
	queue_work(vcrtc->compose_wq, &state->compose_work);
}

static bool vttm_crtc_handle_vblank_timeout(struct drm_crtc *crtc)
{
	struct vttm_crtc *vcrtc = to_vttm_crtc(crtc);

	/* A new state and its event belong to the same vertical blank. */
	guard(spinlock_irqsave)(&vcrtc->lock);
	drm_crtc_handle_vblank(crtc);
	queue_compose(vcrtc);

	return true;
}

static const struct drm_crtc_helper_funcs vttm_crtc_helper_funcs = {
	.mode_valid = vttm_crtc_mode_valid,
	.atomic_check = vttm_crtc_atomic_check,
	.atomic_flush = vttm_crtc_atomic_flush,
	.atomic_enable = drm_crtc_vblank_atomic_enable,
	.atomic_disable = vttm_crtc_atomic_disable,
	.handle_vblank_timeout = vttm_crtc_handle_vblank_timeout,
};

static int create_planes(struct vttm_device *vdev, struct drm_plane **planes)
{
	static const enum drm_plane_type types[VTTM_PLANES_PER_CRTC] = {
		DRM_PLANE_TYPE_PRIMARY, DRM_PLANE_TYPE_OVERLAY, DRM_PLANE_TYPE_CURSOR,
	};
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(types); i++) {
		planes[i] = vttm_plane_create(vdev, types[i]);
		if (IS_ERR(planes[i]))
			return PTR_ERR(planes[i]);
	}

	return 0;
}

static void free_rows(struct drm_device *drm, void *res)
{
	struct vttm_crtc *vcrtc = res;

	kvfree(vcrtc->line);
	kvfree(vcrtc->stage);
}

static int alloc_rows(struct vttm_device *vdev, struct vttm_crtc *vcrtc)
{
	vcrtc->line = kvmalloc_objs(*vcrtc->line, VTTM_MAX_MODE_SIZE);
	vcrtc->stage = kvmalloc_objs(*vcrtc->stage, VTTM_MAX_MODE_SIZE);

	if (!vcrtc->line || !vcrtc->stage) {
		free_rows(&vdev->drm, vcrtc);
		return -ENOMEM;
	}

	return drmm_add_action_or_reset(&vdev->drm, free_rows, vcrtc);
}

static int init_crtc(struct vttm_device *vdev, struct vttm_crtc *vcrtc)
{
	struct drm_crtc *crtc = &vcrtc->base;
	int ret;

	spin_lock_init(&vcrtc->lock);
	drm_crtc_helper_add(crtc, &vttm_crtc_helper_funcs);

	ret = drm_mode_crtc_set_gamma_size(crtc, VTTM_LUT_SIZE);
	if (ret)
		return ret;
	drm_crtc_enable_color_mgmt(crtc, 0, false, VTTM_LUT_SIZE);
	drm_crtc_attach_background_color_property(crtc);

	ret = alloc_rows(vdev, vcrtc);
	if (ret)
		return ret;

	vcrtc->compose_wq = drmm_alloc_ordered_workqueue(&vdev->drm, "vttm_compose", 0);
	return PTR_ERR_OR_ZERO(vcrtc->compose_wq);
}

/**
 * vttm_crtc_create() - Create a CRTC with its planes
 * @vdev: the device
 *
 * Managed by the device. Has neither encoder nor connectors yet.
 *
 * Return: the CRTC, or an ERR_PTR().
 */
struct vttm_crtc *vttm_crtc_create(struct vttm_device *vdev)
{
	struct drm_plane *planes[VTTM_PLANES_PER_CRTC];
	struct vttm_crtc *vcrtc;
	unsigned int i;
	int ret;

	ret = create_planes(vdev, planes);
	if (ret)
		return ERR_PTR(ret);

	vcrtc = drmm_crtc_alloc_with_planes(&vdev->drm, struct vttm_crtc, base, planes[0],
					    planes[VTTM_PLANES_PER_CRTC - 1],
					    &vttm_crtc_funcs, NULL);
	if (IS_ERR(vcrtc))
		return vcrtc;

	for (i = 0; i < VTTM_PLANES_PER_CRTC; i++)
		planes[i]->possible_crtcs = drm_crtc_mask(&vcrtc->base);

	ret = init_crtc(vdev, vcrtc);
	return ret ? ERR_PTR(ret) : vcrtc;
}
