// SPDX-License-Identifier: GPL-2.0 OR MIT

#include <linux/slab.h>

#include <drm/drm_atomic.h>
#include <drm/drm_atomic_helper.h>
#include <drm/drm_atomic_state_helper.h>
#include <drm/drm_edid.h>
#include <drm/drm_framebuffer.h>
#include <drm/drm_managed.h>
#include <drm/drm_modeset_helper_vtables.h>
#include <drm/drm_print.h>
#include <drm/drm_probe_helper.h>
#include <drm/drm_writeback.h>

#include "vttm_crtc.h"
#include "vttm_drv.h"
#include "vttm_fb.h"
#include "vttm_writeback.h"

static const struct drm_connector_funcs vttm_writeback_funcs = {
	.fill_modes = drm_helper_probe_single_connector_modes,
	.reset = drm_atomic_helper_connector_reset,
	.atomic_duplicate_state = drm_atomic_helper_connector_duplicate_state,
	.atomic_destroy_state = drm_atomic_helper_connector_destroy_state,
};

static int vttm_writeback_get_modes(struct drm_connector *connector)
{
	struct drm_device *drm = connector->dev;

	return drm_add_modes_noedid(connector, drm->mode_config.max_width,
				    drm->mode_config.max_height);
}

static int vttm_writeback_atomic_check(struct drm_connector *connector,
				       struct drm_atomic_commit *commit)
{
	struct drm_connector_state *state = drm_atomic_get_new_connector_state(commit, connector);
	struct vttm_device *vdev = to_vttm_device(connector->dev);
	struct drm_crtc_state *crtc_state;
	struct drm_framebuffer *fb;

	if (!state->crtc || !state->writeback_job || !state->writeback_job->fb)
		return 0;

	/* When a job is cleaned up takes no part in virtual time. */
	if (vdev->config.virtual_clock || vdev->config.no_contents) {
		drm_dbg_kms(&vdev->drm, "no writeback with this clock or without contents\n");
		return -EOPNOTSUPP;
	}

	fb = state->writeback_job->fb;
	crtc_state = drm_atomic_get_new_crtc_state(commit, state->crtc);
	if (fb->width != crtc_state->mode.hdisplay || fb->height != crtc_state->mode.vdisplay) {
		drm_dbg_kms(&vdev->drm, "framebuffer of %ux%u isn't as large as the mode\n",
			    fb->width, fb->height);
		return -EINVAL;
	}

	return drm_atomic_helper_check_wb_connector_state(connector, commit);
}

/* The screen writes to where it reads from. */
static int vttm_writeback_prepare_job(struct drm_writeback_connector *connector,
				      struct drm_writeback_job *job)
{
	void *vaddr[DRM_FORMAT_MAX_PLANES] = {};
	struct vttm_writeback *writeback;
	int ret;

	if (!job->fb)
		return 0;

	writeback = kzalloc_obj(*writeback);
	if (!writeback)
		return -ENOMEM;

	ret = vttm_fb_pin(job->fb, vaddr);
	if (ret)
		goto err_free;

	/* What is still to be copied there would overwrite it. */
	ret = vttm_fb_wait(job->fb, true);
	if (ret)
		goto err_unpin;

	vttm_image_init(&writeback->image, job->fb, vaddr);
	job->priv = writeback;
	return 0;

err_unpin:
	vttm_fb_unpin(job->fb);
err_free:
	kfree(writeback);
	return ret;
}

static void vttm_writeback_cleanup_job(struct drm_writeback_connector *connector,
				       struct drm_writeback_job *job)
{
	if (!job->fb)
		return;

	vttm_fb_unpin(job->fb);
	kfree(job->priv);
}

/* Before the state of the CRTC is shown: the first frame of it is written. */
static void vttm_writeback_atomic_commit(struct drm_connector *connector,
					 struct drm_atomic_commit *commit)
{
	struct drm_connector_state *state = drm_atomic_get_new_connector_state(commit, connector);
	struct drm_crtc_state *crtc_state = drm_atomic_get_new_crtc_state(commit, state->crtc);
	struct vttm_crtc *vcrtc = to_vttm_crtc(state->crtc);

	scoped_guard(spinlock_irq, &vcrtc->lock)
		to_vttm_crtc_state(crtc_state)->writeback = state->writeback_job->priv;

	drm_writeback_queue_job(&vcrtc->wb_connector, state);
}

static const struct drm_connector_helper_funcs vttm_writeback_helper_funcs = {
	.get_modes = vttm_writeback_get_modes,
	.prepare_writeback_job = vttm_writeback_prepare_job,
	.cleanup_writeback_job = vttm_writeback_cleanup_job,
	.atomic_commit = vttm_writeback_atomic_commit,
	.atomic_check = vttm_writeback_atomic_check,
};

/**
 * vttm_writeback_init() - Give a CRTC a writeback connector
 * @vdev: the device
 * @vcrtc: the CRTC
 *
 * Return: 0, or a negative error code.
 */
int vttm_writeback_init(struct vttm_device *vdev, struct vttm_crtc *vcrtc)
{
	int ret;

	ret = drmm_encoder_init(&vdev->drm, &vcrtc->wb_encoder, NULL,
				DRM_MODE_ENCODER_VIRTUAL, NULL);
	if (ret)
		return ret;
	vcrtc->wb_encoder.possible_crtcs = drm_crtc_mask(&vcrtc->base);

	drm_connector_helper_add(&vcrtc->wb_connector.base, &vttm_writeback_helper_funcs);

	return drmm_writeback_connector_init(&vdev->drm, &vcrtc->wb_connector,
					     &vttm_writeback_funcs, &vcrtc->wb_encoder,
					     vttm_writeback_formats,
					     vttm_num_writeback_formats);
}
