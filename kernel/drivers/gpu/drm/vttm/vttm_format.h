/* SPDX-License-Identifier: GPL-2.0 OR MIT */
#ifndef _VTTM_FORMAT_H_
#define _VTTM_FORMAT_H_

#include <linux/types.h>

#include <drm/drm_color_mgmt.h>
#include <drm/drm_fourcc.h>

struct drm_framebuffer;

/**
 * struct vttm_pixel - A pixel while planes are composed
 *
 * Without padding, as checksums are made of it.
 */
struct vttm_pixel {
	/** @a: Alpha; 0xffff is opaque. */
	u16 a;
	/** @r: Red. */
	u16 r;
	/** @g: Green. */
	u16 g;
	/** @b: Blue. */
	u16 b;
};

/**
 * struct vttm_image - Pixels in memory
 */
struct vttm_image {
	/** @format: How they are laid out. */
	const struct drm_format_info *format;
	/** @planes: Where each plane of the format starts. */
	u8 *planes[DRM_FORMAT_MAX_PLANES];
	/** @pitches: Bytes from a row to the next. */
	u32 pitches[DRM_FORMAT_MAX_PLANES];
	/** @encoding: What YCbCr values mean. */
	enum drm_color_encoding encoding;
	/** @range: Which values they can have. */
	enum drm_color_range range;
};

/**
 * struct vttm_walk - Which pixels to read
 */
struct vttm_walk {
	/** @x: Column of the first one. */
	int x;
	/** @y: Row of the first one. */
	int y;
	/** @dx: Columns to the next one. */
	int dx;
	/** @dy: Rows to the next one. */
	int dy;
};

extern const u32 vttm_scanout_formats[];
extern const unsigned int vttm_num_scanout_formats;
extern const u32 vttm_writeback_formats[];
extern const unsigned int vttm_num_writeback_formats;

void vttm_image_init(struct vttm_image *image, const struct drm_framebuffer *fb,
		     void * const *vaddr);
void vttm_format_read(const struct vttm_image *image, struct vttm_walk walk,
		      struct vttm_pixel *out, unsigned int count);
void vttm_format_write_row(const struct vttm_image *image, unsigned int y,
			   const struct vttm_pixel *in, unsigned int count);

/* YCbCr */
bool vttm_yuv_is_known(u32 format);
void vttm_yuv_read(const struct vttm_image *image, struct vttm_walk walk,
		   struct vttm_pixel *out, unsigned int count);

#endif
