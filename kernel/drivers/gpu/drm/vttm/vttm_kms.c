// SPDX-License-Identifier: GPL-2.0 OR MIT

/**
 * DOC: Display
 *
 * As vkms: CRTCs whose vertical blanks are timers, and monitors that nobody
 * sees. What they show is in video memory, in one range, and pinned there, as
 * with a real display engine: that is what memory management has to work
 * around.
 *
 * Vertical blanks happen in real time whatever the clock of the device is.
 * Under the virtual clock commits that would return at once wait as others do:
 * so that BOs are pinned and unpinned within the ioctl, not by a worker when it
 * pleases.
 */

#include <drm/drm_atomic.h>
#include <drm/drm_atomic_helper.h>
#include <drm/drm_atomic_state_helper.h>
#include <drm/drm_drv.h>
#include <drm/drm_edid.h>
#include <drm/drm_managed.h>
#include <drm/drm_mode_config.h>
#include <drm/drm_modeset_helper_vtables.h>
#include <drm/drm_print.h>
#include <drm/drm_probe_helper.h>
#include <drm/drm_vblank.h>

#include "vttm_crtc.h"
#include "vttm_drv.h"
#include "vttm_fb.h"
#include "vttm_kms.h"
#include "vttm_writeback.h"

#define VTTM_MIN_MODE_SIZE	10
#define VTTM_MAX_CURSOR_SIZE	512
#define VTTM_PREFERRED_WIDTH	1024
#define VTTM_PREFERRED_HEIGHT	768

static int vttm_atomic_commit(struct drm_device *drm, struct drm_atomic_commit *commit,
			      bool nonblock)
{
	struct vttm_device *vdev = to_vttm_device(drm);
	int ret;

	ret = drm_atomic_helper_commit(drm, commit,
				       nonblock && !vdev->config.virtual_clock);
	vttm_clock_end_op(vdev);
	return ret;
}

static const struct drm_mode_config_funcs vttm_mode_config_funcs = {
	.fb_create = vttm_fb_create,
	.atomic_check = drm_atomic_helper_check,
	.atomic_commit = vttm_atomic_commit,
};

/* CRTCs come before planes: the events of those are then sent at a vertical blank. */
static void vttm_atomic_commit_tail(struct drm_atomic_commit *commit)
{
	struct drm_device *drm = commit->dev;
	struct drm_crtc_state *old_state;
	struct drm_crtc *crtc;
	unsigned int i;

	drm_atomic_helper_commit_modeset_disables(drm, commit);
	drm_atomic_helper_commit_modeset_enables(drm, commit);
	drm_atomic_helper_commit_planes(drm, commit, 0);
	drm_atomic_helper_commit_hw_done(commit);
	drm_atomic_helper_wait_for_flip_done(drm, commit);

	/* A frame that was shown may still be being composed. */
	for_each_old_crtc_in_state(commit, crtc, old_state, i)
		flush_work(&to_vttm_crtc_state(old_state)->compose_work);

	drm_atomic_helper_cleanup_planes(drm, commit);
}

static const struct drm_mode_config_helper_funcs vttm_mode_config_helper_funcs = {
	.atomic_commit_tail = vttm_atomic_commit_tail,
};

static int vttm_connector_get_modes(struct drm_connector *connector)
{
	int count;

	count = drm_add_modes_noedid(connector, VTTM_MAX_MODE_SIZE, VTTM_MAX_MODE_SIZE);
	drm_set_preferred_mode(connector, VTTM_PREFERRED_WIDTH, VTTM_PREFERRED_HEIGHT);
	return count;
}

static const struct drm_connector_funcs vttm_connector_funcs = {
	.fill_modes = drm_helper_probe_single_connector_modes,
	.reset = drm_atomic_helper_connector_reset,
	.atomic_duplicate_state = drm_atomic_helper_connector_duplicate_state,
	.atomic_destroy_state = drm_atomic_helper_connector_destroy_state,
};

static const struct drm_connector_helper_funcs vttm_connector_helper_funcs = {
	.get_modes = vttm_connector_get_modes,
};

/* Each CRTC has a monitor; frames can be shown and written at the same time. */
static int init_output(struct vttm_device *vdev, struct vttm_crtc *vcrtc)
{
	int ret;

	ret = vttm_writeback_init(vdev, vcrtc);
	if (ret)
		return ret;

	ret = drmm_encoder_init(&vdev->drm, &vcrtc->encoder, NULL,
				DRM_MODE_ENCODER_VIRTUAL, NULL);
	if (ret)
		return ret;

	vcrtc->encoder.possible_crtcs = drm_crtc_mask(&vcrtc->base);
	vcrtc->encoder.possible_clones = drm_encoder_mask(&vcrtc->encoder) |
					 drm_encoder_mask(&vcrtc->wb_encoder);
	vcrtc->wb_encoder.possible_clones = vcrtc->encoder.possible_clones;

	ret = drmm_connector_init(&vdev->drm, &vcrtc->connector, &vttm_connector_funcs,
				  DRM_MODE_CONNECTOR_VIRTUAL, NULL);
	if (ret)
		return ret;

	drm_connector_helper_add(&vcrtc->connector, &vttm_connector_helper_funcs);
	return drm_connector_attach_encoder(&vcrtc->connector, &vcrtc->encoder);
}

static int init_mode_config(struct vttm_device *vdev)
{
	struct drm_mode_config *config = &vdev->drm.mode_config;
	int ret;

	ret = drmm_mode_config_init(&vdev->drm);
	if (ret)
		return ret;

	config->funcs = &vttm_mode_config_funcs;
	config->helper_private = &vttm_mode_config_helper_funcs;
	config->min_width = VTTM_MIN_MODE_SIZE;
	config->min_height = VTTM_MIN_MODE_SIZE;
	config->max_width = VTTM_MAX_MODE_SIZE;
	config->max_height = VTTM_MAX_MODE_SIZE;
	config->cursor_width = VTTM_MAX_CURSOR_SIZE;
	config->cursor_height = VTTM_MAX_CURSOR_SIZE;
	config->normalize_zpos = true;
	return 0;
}

/**
 * vttm_kms_init() - Create the display
 * @vdev: the device, not registered yet
 *
 * Without CRTCs the device has no display, as one for computing only.
 *
 * Return: 0, or a negative error code.
 */
int vttm_kms_init(struct vttm_device *vdev)
{
	struct vttm_crtc *vcrtc;
	unsigned int i;
	int ret;

	if (!vdev->config.num_crtcs) {
		vdev->drm.driver_features &= ~(DRIVER_MODESET | DRIVER_ATOMIC);
		return 0;
	}

	ret = init_mode_config(vdev);
	if (ret)
		return ret;

	ret = drm_vblank_init(&vdev->drm, vdev->config.num_crtcs);
	if (ret)
		return ret;

	for (i = 0; i < vdev->config.num_crtcs; i++) {
		vcrtc = vttm_crtc_create(vdev);
		if (IS_ERR(vcrtc))
			return PTR_ERR(vcrtc);

		ret = init_output(vdev, vcrtc);
		if (ret)
			return ret;
	}

	drm_mode_config_reset(&vdev->drm);
	return 0;
}

/**
 * vttm_kms_shutdown() - Show nothing any more
 * @vdev: the device, unplugged
 */
void vttm_kms_shutdown(struct vttm_device *vdev)
{
	if (drm_core_check_feature(&vdev->drm, DRIVER_MODESET))
		drm_atomic_helper_shutdown(&vdev->drm);
}
