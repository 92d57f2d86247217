/* SPDX-License-Identifier: GPL-2.0 OR MIT */
#ifndef _VTTM_FB_H_
#define _VTTM_FB_H_

struct drm_device;
struct drm_file;
struct drm_format_info;
struct drm_framebuffer;
struct drm_mode_create_dumb;
struct drm_mode_fb_cmd2;

struct drm_framebuffer *vttm_fb_create(struct drm_device *drm, struct drm_file *file,
				       const struct drm_format_info *info,
				       const struct drm_mode_fb_cmd2 *cmd);
int vttm_fb_pin(struct drm_framebuffer *fb, void **vaddr);
void vttm_fb_unpin(struct drm_framebuffer *fb);
int vttm_fb_wait(struct drm_framebuffer *fb, bool moves_only);
int vttm_dumb_create(struct drm_file *file, struct drm_device *drm,
		     struct drm_mode_create_dumb *args);

#endif
