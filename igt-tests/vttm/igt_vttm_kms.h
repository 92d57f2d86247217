/* SPDX-License-Identifier: MIT */
/*
 * The display of a vttm device, through the ioctls of KMS. Functions that begin
 * with __ return 0 or a negative errno, the others assert.
 */
#ifndef IGT_VTTM_KMS_H
#define IGT_VTTM_KMS_H

#include <drm.h>
#include <drm_fourcc.h>
#include <drm_mode.h>
#include <stdbool.h>
#include <stdint.h>

#include "igt_vttm.h"

/* The mode that tests set: square, so that turned pictures fit, at 100 Hz. */
#define VTTM_SCREEN		256u
#define VTTM_SCREEN_SIZE	(VTTM_SCREEN * VTTM_SCREEN * 4ull)
/* The bits of a pixel that are seen. */
#define VTTM_RGB		0xffffffu

/* The first CRTC with what belongs to it. */
struct vttm_display {
	int fd;
	uint32_t crtc, connector, writeback;
	uint32_t primary, overlay, cursor;
	uint32_t mode_blob;
};

/* What a commit sets; at most 64 properties. */
struct vttm_commit {
	const struct vttm_display *display;
	uint32_t objects[64], properties[64];
	uint64_t values[64];
	unsigned int count;
};

/* Primary node of the first vttm device, as master; skips if it has no display. Close it. */
void vttm_display_open(struct vttm_display *display);
void vttm_display_close(struct vttm_display *display);

/* Framebuffer of XRGB8888 (or another format of 4 bytes a pixel) on a BO. */
int __vttm_fb_create(int fd, uint32_t handle, uint32_t width, uint32_t height, uint32_t format, uint32_t *fb);
uint32_t vttm_fb_create(int fd, uint32_t handle);
void vttm_fb_remove(int fd, uint32_t fb);

/* The commit of nothing yet; then one property at a time, by name. */
void vttm_commit_begin(struct vttm_commit *commit, const struct vttm_display *display);
void vttm_commit_set(struct vttm_commit *commit, uint32_t object, uint32_t type, const char *name, uint64_t value);
/* Shows a whole framebuffer on the whole screen, or nothing with 0. */
void vttm_commit_plane(struct vttm_commit *commit, uint32_t plane, uint32_t fb);
/* Has the next frame written to a framebuffer; *fence is a sync_file afterwards. */
void vttm_commit_writeback(struct vttm_commit *commit, uint32_t fb, int *fence);
int __vttm_commit_apply(struct vttm_commit *commit, uint32_t flags);
void vttm_commit_apply(struct vttm_commit *commit, uint32_t flags);

/* Turns the screen on, with a framebuffer on the primary plane; and off. */
int __vttm_display_on(const struct vttm_display *display, uint32_t fb);
void vttm_display_on(const struct vttm_display *display, uint32_t fb);
void vttm_display_off(const struct vttm_display *display);
/* Shows another one: returns when it is shown, or at once with DRM_MODE_ATOMIC_NONBLOCK. */
int __vttm_flip(const struct vttm_display *display, uint32_t fb, uint32_t flags);
void vttm_flip(const struct vttm_display *display, uint32_t fb);

/* Draws a picture that depends on a seed on a BO as large as the screen. */
void vttm_draw(int fd, uint32_t handle, uint32_t seed);
/* Takes a picture of the screen, VTTM_SCREEN_SIZE bytes, in the frame that shows what a commit changes. */
void vttm_take_picture(struct vttm_commit *commit, uint32_t *picture);
/* Index of the first pixel that is not as drawn with a seed, or -1. */
int64_t vttm_picture_first_wrong(const uint32_t *picture, uint32_t seed);
/* Asserts that so much is pinned, after a while: workers let go of what was shown. */
void vttm_assert_pinned(int fd, uint64_t bytes);

/* Waits for a sync_file, at most ten seconds, and closes it. */
void vttm_fence_wait(int fence);

#endif
