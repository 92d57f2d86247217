// SPDX-License-Identifier: GPL-2.0 OR MIT

#include <linux/kernel.h>
#include <linux/minmax.h>
#include <linux/unaligned.h>

#include "vttm_format.h"

/** struct vttm_yuv - A format with luma in a plane of its own. */
struct vttm_yuv {
	/** @format: DRM_FORMAT_*. */
	u32 format;
	/** @bytes: Size of each value. */
	u8 bytes;
	/** @cr_first: Cr comes before Cb. */
	bool cr_first;
};

static const struct vttm_yuv yuv_formats[] = {
	{ DRM_FORMAT_NV12, 1, false },
	{ DRM_FORMAT_NV16, 1, false },
	{ DRM_FORMAT_NV24, 1, false },
	{ DRM_FORMAT_NV21, 1, true },
	{ DRM_FORMAT_NV61, 1, true },
	{ DRM_FORMAT_NV42, 1, true },
	{ DRM_FORMAT_YUV420, 1, false },
	{ DRM_FORMAT_YUV422, 1, false },
	{ DRM_FORMAT_YUV444, 1, false },
	{ DRM_FORMAT_YVU420, 1, true },
	{ DRM_FORMAT_YVU422, 1, true },
	{ DRM_FORMAT_YVU444, 1, true },
	{ DRM_FORMAT_P010, 2, false },
	{ DRM_FORMAT_P012, 2, false },
	{ DRM_FORMAT_P016, 2, false },
};

/**
 * struct vttm_ycbcr - Conversion to RGB
 *
 * Factors with 24 bits behind the point.
 */
struct vttm_ycbcr {
	/** @y_offset: Black, of 255. */
	s64 y_offset;
	/** @y: Luma, to all channels. */
	s64 y;
	/** @r_cr: Cr to red. */
	s64 r_cr;
	/** @g_cb: Cb to green, to be subtracted. */
	s64 g_cb;
	/** @g_cr: Cr to green, to be subtracted. */
	s64 g_cr;
	/** @b_cb: Cb to blue. */
	s64 b_cb;
};

#define VTTM_FRACTION		24

/*
 * From the weights that red and blue have in luma (ITU-R BT.601, BT.709 and
 * BT.2020), of 10000. Limited range: 219 steps of luma, 224 of chroma.
 */
#define RATIO(num, den)		((((s64)(num)) << VTTM_FRACTION) / (den))
#define YCBCR(kr, kb, offset, y_steps, c_steps) {					\
	.y_offset = (offset),								\
	.y = RATIO(255, y_steps),							\
	.r_cr = RATIO(2 * (10000 - (kr)) * 255LL, 10000LL * (c_steps)),			\
	.g_cb = RATIO(2 * (kb) * (10000 - (kb)) * 255LL,				\
		      (10000 - (kr) - (kb)) * 10000LL * (c_steps)),			\
	.g_cr = RATIO(2 * (kr) * (10000 - (kr)) * 255LL,				\
		      (10000 - (kr) - (kb)) * 10000LL * (c_steps)),			\
	.b_cb = RATIO(2 * (10000 - (kb)) * 255LL, 10000LL * (c_steps)),			\
}
#define FULL(kr, kb)		YCBCR(kr, kb, 0, 255, 255)
#define LIMITED(kr, kb)		YCBCR(kr, kb, 16, 219, 224)

static const struct vttm_ycbcr conversions[DRM_COLOR_ENCODING_MAX][DRM_COLOR_RANGE_MAX] = {
	[DRM_COLOR_YCBCR_BT601] = {
		[DRM_COLOR_YCBCR_LIMITED_RANGE] = LIMITED(2990, 1140),
		[DRM_COLOR_YCBCR_FULL_RANGE] = FULL(2990, 1140),
	},
	[DRM_COLOR_YCBCR_BT709] = {
		[DRM_COLOR_YCBCR_LIMITED_RANGE] = LIMITED(2126, 722),
		[DRM_COLOR_YCBCR_FULL_RANGE] = FULL(2126, 722),
	},
	[DRM_COLOR_YCBCR_BT2020] = {
		[DRM_COLOR_YCBCR_LIMITED_RANGE] = LIMITED(2627, 593),
		[DRM_COLOR_YCBCR_FULL_RANGE] = FULL(2627, 593),
	},
};

static const struct vttm_yuv *find_yuv(u32 format)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(yuv_formats); i++)
		if (yuv_formats[i].format == format)
			return &yuv_formats[i];

	return NULL;
}

/**
 * vttm_yuv_is_known() - Is a format one of those here?
 * @format: DRM_FORMAT_*
 *
 * Return: true if vttm_yuv_read() can read it.
 */
bool vttm_yuv_is_known(u32 format)
{
	return find_yuv(format);
}

/* Values of 8 bits are scaled to 16. */
static u16 load(const u8 *p, unsigned int bytes)
{
	return bytes == 1 ? *p * 257 : get_unaligned_le16(p);
}

static u16 to_channel(s64 value)
{
	return clamp((value + (1 << (VTTM_FRACTION - 1))) >> VTTM_FRACTION, 0, 0xffff);
}

static struct vttm_pixel convert(const struct vttm_ycbcr *conv, u16 luma, u16 cb16,
				 u16 cr16)
{
	s64 y = conv->y * (luma - conv->y_offset * 257);
	s64 cb = cb16 - 128 * 257, cr = cr16 - 128 * 257;

	return (struct vttm_pixel) {
		.a = 0xffff,
		.r = to_channel(y + conv->r_cr * cr),
		.g = to_channel(y - conv->g_cb * cb - conv->g_cr * cr),
		.b = to_channel(y + conv->b_cb * cb),
	};
}

/**
 * vttm_yuv_read() - Read pixels of a YCbCr image
 * @image: the image, of a known format
 * @walk: which pixels, all within the image
 * @out: where to
 * @count: how many
 */
void vttm_yuv_read(const struct vttm_image *image, struct vttm_walk walk,
		   struct vttm_pixel *out, unsigned int count)
{
	const struct vttm_ycbcr *conv = &conversions[image->encoding][image->range];
	const struct drm_format_info *info = image->format;
	const struct vttm_yuv *yuv = find_yuv(info->format);
	bool planar = info->num_planes == 3;

	for (; count--; walk.x += walk.dx, walk.y += walk.dy, out++) {
		size_t cx = walk.x / info->hsub, cy = walk.y / info->vsub;
		const u8 *first = image->planes[1] + cy * image->pitches[1], *second;
		u16 luma, cb, cr;

		if (planar) {
			first += cx * yuv->bytes;
			second = image->planes[2] + cy * image->pitches[2] + cx * yuv->bytes;
		} else {
			first += 2 * cx * yuv->bytes;
			second = first + yuv->bytes;
		}

		luma = load(image->planes[0] + walk.y * (size_t)image->pitches[0] +
			    walk.x * yuv->bytes, yuv->bytes);
		cb = load(first, yuv->bytes);
		cr = load(second, yuv->bytes);
		if (yuv->cr_first)
			swap(cb, cr);

		*out = convert(conv, luma, cb, cr);
	}
}
