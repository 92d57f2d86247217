/* SPDX-License-Identifier: GPL-2.0 OR MIT */
#ifndef _VTTM_CRTC_H_
#define _VTTM_CRTC_H_

#include <linux/spinlock.h>
#include <linux/workqueue.h>

#include <drm/drm_connector.h>
#include <drm/drm_crtc.h>
#include <drm/drm_encoder.h>
#include <drm/drm_writeback.h>

#include "vttm_format.h"

struct vttm_device;
struct vttm_plane_state;
struct vttm_writeback;

/* Primary, overlay and cursor. */
#define VTTM_PLANES_PER_CRTC	3

/* Entries of the gamma table. */
#define VTTM_LUT_SIZE		256

/**
 * struct vttm_crtc_state - State of a CRTC
 *
 * All that a frame is composed of. It lives until the frame is composed: a
 * commit waits for @compose_work of the state that it replaces.
 */
struct vttm_crtc_state {
	/** @base: Base class. */
	struct drm_crtc_state base;
	/** @planes: Visible planes, from bottom to top. */
	struct vttm_plane_state *planes[VTTM_PLANES_PER_CRTC];
	/** @num_planes: Length of @planes. */
	unsigned int num_planes;
	/** @compose_work: Composes a frame. */
	struct work_struct compose_work;
	/** @compose_pending: It is to run. Under &vttm_crtc.lock. */
	bool compose_pending;
	/** @first_frame: First frame that it is for. Under &vttm_crtc.lock. */
	u64 first_frame;
	/** @last_frame: Last frame that it is for. Under &vttm_crtc.lock. */
	u64 last_frame;
	/** @writeback: Where to write the next frame to. Under &vttm_crtc.lock. */
	struct vttm_writeback *writeback;
};

/**
 * struct vttm_crtc - A CRTC with its encoder and connectors
 *
 * @lock is taken before &drm_device.event_lock, with interrupts off.
 */
struct vttm_crtc {
	/** @base: Base class. */
	struct drm_crtc base;
	/** @encoder: Encoder of @connector. */
	struct drm_encoder encoder;
	/** @connector: The monitor. */
	struct drm_connector connector;
	/** @wb_encoder: Encoder of @wb_connector. */
	struct drm_encoder wb_encoder;
	/** @wb_connector: Writes frames to memory. */
	struct drm_writeback_connector wb_connector;
	/** @lock: Protects what follows, and what is composed. */
	spinlock_t lock;
	/** @shown: State that vertical blanks show; NULL while inactive. */
	struct vttm_crtc_state *shown;
	/** @crc_enabled: Checksums of frames are wanted. */
	bool crc_enabled;
	/** @compose_wq: Composes one frame after another. */
	struct workqueue_struct *compose_wq;
	/** @line: Row being composed. Used by @compose_wq only. */
	struct vttm_pixel *line;
	/** @stage: Row of a plane. Used by @compose_wq only. */
	struct vttm_pixel *stage;
};

static inline struct vttm_crtc *to_vttm_crtc(struct drm_crtc *crtc)
{
	return container_of(crtc, struct vttm_crtc, base);
}

static inline struct vttm_crtc_state *to_vttm_crtc_state(struct drm_crtc_state *state)
{
	return container_of(state, struct vttm_crtc_state, base);
}

struct vttm_crtc *vttm_crtc_create(struct vttm_device *vdev);

#endif
