// SPDX-License-Identifier: GPL-2.0 OR MIT

/**
 * DOC: Pixel formats
 *
 * Formats are described rather than programmed: where each channel is in a
 * little-endian word, and how many bits it has. Values are scaled to 16 bits,
 * rounding to the nearest, so that whatever the depth white is 0xffff, and what
 * was read from a format is written to it unchanged.
 */

#include <linux/kernel.h>
#include <linux/math.h>
#include <linux/minmax.h>
#include <linux/unaligned.h>

#include <drm/drm_framebuffer.h>

#include "vttm_format.h"

/** struct vttm_channel - Where a channel is. */
struct vttm_channel {
	/** @shift: Its lowest bit. */
	u8 shift;
	/** @bits: How many it has; 0 for none: then it is all ones. */
	u8 bits;
};

/** struct vttm_packed - A format with all of a pixel in one word. */
struct vttm_packed {
	/** @format: DRM_FORMAT_*. */
	u32 format;
	/** @bytes: Size of the word. */
	u8 bytes;
	/** @a: Alpha. */
	struct vttm_channel a;
	/** @r: Red. */
	struct vttm_channel r;
	/** @g: Green. */
	struct vttm_channel g;
	/** @b: Blue. */
	struct vttm_channel b;
};

static const struct vttm_packed packed_formats[] = {
	{ DRM_FORMAT_ARGB8888, 4, { 24, 8 }, { 16, 8 }, { 8, 8 }, { 0, 8 } },
	{ DRM_FORMAT_ABGR8888, 4, { 24, 8 }, { 0, 8 }, { 8, 8 }, { 16, 8 } },
	{ DRM_FORMAT_BGRA8888, 4, { 0, 8 }, { 8, 8 }, { 16, 8 }, { 24, 8 } },
	{ DRM_FORMAT_RGBA8888, 4, { 0, 8 }, { 24, 8 }, { 16, 8 }, { 8, 8 } },
	{ DRM_FORMAT_XRGB8888, 4, { 0, 0 }, { 16, 8 }, { 8, 8 }, { 0, 8 } },
	{ DRM_FORMAT_XBGR8888, 4, { 0, 0 }, { 0, 8 }, { 8, 8 }, { 16, 8 } },
	{ DRM_FORMAT_RGB888, 3, { 0, 0 }, { 16, 8 }, { 8, 8 }, { 0, 8 } },
	{ DRM_FORMAT_BGR888, 3, { 0, 0 }, { 0, 8 }, { 8, 8 }, { 16, 8 } },
	{ DRM_FORMAT_XRGB2101010, 4, { 0, 0 }, { 20, 10 }, { 10, 10 }, { 0, 10 } },
	{ DRM_FORMAT_XRGB16161616, 8, { 0, 0 }, { 32, 16 }, { 16, 16 }, { 0, 16 } },
	{ DRM_FORMAT_XBGR16161616, 8, { 0, 0 }, { 0, 16 }, { 16, 16 }, { 32, 16 } },
	{ DRM_FORMAT_ARGB16161616, 8, { 48, 16 }, { 32, 16 }, { 16, 16 }, { 0, 16 } },
	{ DRM_FORMAT_ABGR16161616, 8, { 48, 16 }, { 0, 16 }, { 16, 16 }, { 32, 16 } },
	{ DRM_FORMAT_RGB565, 2, { 0, 0 }, { 11, 5 }, { 5, 6 }, { 0, 5 } },
	{ DRM_FORMAT_BGR565, 2, { 0, 0 }, { 0, 5 }, { 5, 6 }, { 11, 5 } },
	{ DRM_FORMAT_R8, 1, { 0, 0 }, { 0, 8 }, { 0, 8 }, { 0, 8 } },
};

/** vttm_scanout_formats - Formats that planes can show. */
const u32 vttm_scanout_formats[] = {
	DRM_FORMAT_ARGB8888,
	DRM_FORMAT_ABGR8888,
	DRM_FORMAT_BGRA8888,
	DRM_FORMAT_RGBA8888,
	DRM_FORMAT_XRGB8888,
	DRM_FORMAT_XBGR8888,
	DRM_FORMAT_RGB888,
	DRM_FORMAT_BGR888,
	DRM_FORMAT_XRGB2101010,
	DRM_FORMAT_XRGB16161616,
	DRM_FORMAT_XBGR16161616,
	DRM_FORMAT_ARGB16161616,
	DRM_FORMAT_ABGR16161616,
	DRM_FORMAT_RGB565,
	DRM_FORMAT_BGR565,
	DRM_FORMAT_NV12,
	DRM_FORMAT_NV16,
	DRM_FORMAT_NV24,
	DRM_FORMAT_NV21,
	DRM_FORMAT_NV61,
	DRM_FORMAT_NV42,
	DRM_FORMAT_YUV420,
	DRM_FORMAT_YUV422,
	DRM_FORMAT_YUV444,
	DRM_FORMAT_YVU420,
	DRM_FORMAT_YVU422,
	DRM_FORMAT_YVU444,
	DRM_FORMAT_P010,
	DRM_FORMAT_P012,
	DRM_FORMAT_P016,
	DRM_FORMAT_R1,
	DRM_FORMAT_R2,
	DRM_FORMAT_R4,
	DRM_FORMAT_R8,
};

/** vttm_num_scanout_formats - How many these are. */
const unsigned int vttm_num_scanout_formats = ARRAY_SIZE(vttm_scanout_formats);

/** vttm_writeback_formats - Formats that writeback can write, all of them packed. */
const u32 vttm_writeback_formats[] = {
	DRM_FORMAT_ARGB8888,
	DRM_FORMAT_XRGB8888,
	DRM_FORMAT_ABGR8888,
	DRM_FORMAT_XRGB2101010,
	DRM_FORMAT_XRGB16161616,
	DRM_FORMAT_ARGB16161616,
	DRM_FORMAT_RGB565,
};

/** vttm_num_writeback_formats - How many these are. */
const unsigned int vttm_num_writeback_formats = ARRAY_SIZE(vttm_writeback_formats);

/**
 * vttm_image_init() - Describe a framebuffer that is mapped
 * @image: the description
 * @fb: the framebuffer
 * @vaddr: where each plane of the format starts
 */
void vttm_image_init(struct vttm_image *image, const struct drm_framebuffer *fb,
		     void * const *vaddr)
{
	unsigned int i;

	*image = (struct vttm_image) { .format = fb->format };
	for (i = 0; i < fb->format->num_planes; i++) {
		image->planes[i] = vaddr[i];
		image->pitches[i] = fb->pitches[i];
	}
}

static const struct vttm_packed *find_packed(u32 format)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(packed_formats); i++)
		if (packed_formats[i].format == format)
			return &packed_formats[i];

	return NULL;
}

static u64 load(const u8 *p, unsigned int bytes)
{
	switch (bytes) {
	case 1:
		return *p;
	case 2:
		return get_unaligned_le16(p);
	case 3:
		return get_unaligned_le24(p);
	case 4:
		return get_unaligned_le32(p);
	default:
		return get_unaligned_le64(p);
	}
}

static void store(u8 *p, unsigned int bytes, u64 word)
{
	switch (bytes) {
	case 1:
		*p = word;
		break;
	case 2:
		put_unaligned_le16(word, p);
		break;
	case 3:
		put_unaligned_le24(word, p);
		break;
	case 4:
		put_unaligned_le32(word, p);
		break;
	default:
		put_unaligned_le64(word, p);
		break;
	}
}

static u32 max_value(struct vttm_channel channel)
{
	return (1u << channel.bits) - 1;
}

/* Factor to 16 bits, with 16 more behind the point. */
static u64 scale_of(struct vttm_channel channel)
{
	return channel.bits ? DIV_ROUND_CLOSEST_ULL(0xffffULL << 16, max_value(channel)) : 0;
}

static u16 extract(u64 word, struct vttm_channel channel, u64 scale)
{
	if (!channel.bits)
		return 0xffff;

	return (((word >> channel.shift) & max_value(channel)) * scale + 0x8000) >> 16;
}

static void read_packed(const struct vttm_image *image, struct vttm_walk walk,
			const struct vttm_packed *packed, struct vttm_pixel *out,
			unsigned int count)
{
	const struct vttm_packed f = *packed;
	const u64 a = scale_of(f.a), r = scale_of(f.r), g = scale_of(f.g), b = scale_of(f.b);
	ssize_t pitch = image->pitches[0], step = walk.dy * pitch + walk.dx * f.bytes;
	const u8 *p = image->planes[0] + walk.y * pitch + walk.x * f.bytes;

	for (; count--; p += step, out++) {
		u64 word = load(p, f.bytes);

		out->a = extract(word, f.a, a);
		out->r = extract(word, f.r, r);
		out->g = extract(word, f.g, g);
		out->b = extract(word, f.b, b);
	}
}

/* Several grey pixels in a byte, the leftmost in the highest bits. */
static void read_grey(const struct vttm_image *image, struct vttm_walk walk,
		      struct vttm_pixel *out, unsigned int count)
{
	unsigned int bits = drm_format_info_bpp(image->format, 0), per_byte = 8 / bits;
	u32 max = (1u << bits) - 1;

	for (; count--; walk.x += walk.dx, walk.y += walk.dy, out++) {
		ssize_t offset = walk.y * (ssize_t)image->pitches[0] + walk.x / per_byte;
		unsigned int shift = 8 - bits - walk.x % per_byte * bits;
		u16 grey = (image->planes[0][offset] >> shift & max) * (0xffff / max);

		*out = (struct vttm_pixel) { 0xffff, grey, grey, grey };
	}
}

/**
 * vttm_format_read() - Read pixels of an image
 * @image: the image, of one of vttm_scanout_formats
 * @walk: which pixels, all within the image
 * @out: where to
 * @count: how many
 */
void vttm_format_read(const struct vttm_image *image, struct vttm_walk walk,
		      struct vttm_pixel *out, unsigned int count)
{
	const struct vttm_packed *packed = find_packed(image->format->format);

	if (packed)
		read_packed(image, walk, packed, out, count);
	else if (vttm_yuv_is_known(image->format->format))
		vttm_yuv_read(image, walk, out, count);
	else
		read_grey(image, walk, out, count);
}

static u64 insert(u16 value, struct vttm_channel channel)
{
	u64 max = max_value(channel);

	return DIV_ROUND_CLOSEST(value * max, 0xffff) << channel.shift;
}

/**
 * vttm_format_write_row() - Write pixels to an image
 * @image: the image, of one of vttm_writeback_formats
 * @y: row to write to, from its first pixel on
 * @in: the pixels
 * @count: how many, at most as many as a row has
 *
 * Bits that the format has no use for are set.
 */
void vttm_format_write_row(const struct vttm_image *image, unsigned int y,
			   const struct vttm_pixel *in, unsigned int count)
{
	const struct vttm_packed *f = find_packed(image->format->format);
	u8 *p = image->planes[0] + y * (size_t)image->pitches[0];
	u64 unused;

	if (WARN_ON_ONCE(!f))
		return;

	unused = ~(insert(0xffff, f->a) | insert(0xffff, f->r) |
		   insert(0xffff, f->g) | insert(0xffff, f->b));

	for (; count--; p += f->bytes, in++)
		store(p, f->bytes, unused | insert(in->a, f->a) | insert(in->r, f->r) |
				   insert(in->g, f->g) | insert(in->b, f->b));
}
