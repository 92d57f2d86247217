// SPDX-License-Identifier: GPL-2.0 OR MIT

/**
 * DOC: Composing
 *
 * Nobody sees the screen. A frame is composed only if somebody wants its
 * checksum or wants it written to memory: row by row, planes from bottom to
 * top, through the gamma table, all with 16 bits a channel. It reads video
 * memory through the mappings that planes have while they are shown.
 */

#include <linux/crc32.h>
#include <linux/dma-fence.h>
#include <linux/math.h>
#include <linux/sched.h>

#include <drm/drm_blend.h>
#include <drm/drm_crtc.h>
#include <drm/drm_debugfs_crc.h>
#include <drm/drm_framebuffer.h>
#include <drm/drm_rect.h>
#include <drm/drm_writeback.h>

#include "vttm_compose.h"
#include "vttm_crtc.h"
#include "vttm_plane.h"
#include "vttm_writeback.h"

/**
 * struct vttm_layer - A plane, ready to be read
 */
struct vttm_layer {
	/** @image: What it shows. */
	struct vttm_image image;
	/** @src: Part of the image. */
	struct drm_rect src;
	/** @dst: Where on the screen; as large, but for the rotation. */
	struct drm_rect dst;
	/** @rotation: DRM_MODE_ROTATE_* and DRM_MODE_REFLECT_*. */
	unsigned int rotation;
	/** @blend_mode: DRM_MODE_BLEND_*, what alpha means. */
	unsigned int blend_mode;
};

static void init_layer(struct vttm_layer *layer, struct vttm_plane_state *plane)
{
	const struct drm_plane_state *state = &plane->base;

	vttm_image_init(&layer->image, state->fb, plane->vaddr);
	layer->image.encoding = state->color_encoding;
	layer->image.range = state->color_range;
	drm_rect_fp_to_int(&layer->src, &state->src);
	layer->dst = state->dst;
	layer->rotation = state->rotation;
	layer->blend_mode = state->pixel_blend_mode;
}

/*
 * Source of the leftmost pixel of a row of the screen, and where those to its
 * right are. Shown is the source reflected, then turned counterclockwise.
 */
static struct vttm_walk walk_row(const struct vttm_layer *layer, int row)
{
	int right = drm_rect_width(&layer->src) - 1, bottom = drm_rect_height(&layer->src) - 1;
	struct vttm_walk walk;

	switch (layer->rotation & DRM_MODE_ROTATE_MASK) {
	case DRM_MODE_ROTATE_90:
		walk = (struct vttm_walk) { right - row, 0, 0, 1 };
		break;
	case DRM_MODE_ROTATE_180:
		walk = (struct vttm_walk) { right, bottom - row, -1, 0 };
		break;
	case DRM_MODE_ROTATE_270:
		walk = (struct vttm_walk) { row, bottom, 0, -1 };
		break;
	default:
		walk = (struct vttm_walk) { 0, row, 1, 0 };
		break;
	}

	if (layer->rotation & DRM_MODE_REFLECT_X) {
		walk.x = right - walk.x;
		walk.dx = -walk.dx;
	}
	if (layer->rotation & DRM_MODE_REFLECT_Y) {
		walk.y = bottom - walk.y;
		walk.dy = -walk.dy;
	}

	walk.x += layer->src.x1;
	walk.y += layer->src.y1;
	return walk;
}

/* What DRM_MODE_BLEND_PREMULTI would have to be given, to show the same. */
static void premultiply(struct vttm_pixel *pixel, unsigned int count, unsigned int blend_mode)
{
	if (blend_mode == DRM_MODE_BLEND_PREMULTI)
		return;

	for (; count--; pixel++) {
		if (blend_mode == DRM_MODE_BLEND_PIXEL_NONE)
			pixel->a = 0xffff;

		pixel->r = DIV_ROUND_CLOSEST((u32)pixel->r * pixel->a, 0xffff);
		pixel->g = DIV_ROUND_CLOSEST((u32)pixel->g * pixel->a, 0xffff);
		pixel->b = DIV_ROUND_CLOSEST((u32)pixel->b * pixel->a, 0xffff);
	}
}

/* Colours have been multiplied by alpha. */
static u16 blend_channel(u16 src, u16 dst, u16 alpha)
{
	return min(src + DIV_ROUND_CLOSEST((u32)dst * (0xffff - alpha), 0xffff), 0xffff);
}

static void blend(struct vttm_pixel *dst, const struct vttm_pixel *src, unsigned int count)
{
	for (; count--; dst++, src++) {
		dst->r = blend_channel(src->r, dst->r, src->a);
		dst->g = blend_channel(src->g, dst->g, src->a);
		dst->b = blend_channel(src->b, dst->b, src->a);
	}
}

static void add_layer(struct vttm_crtc *vcrtc, const struct vttm_layer *layer, int y)
{
	unsigned int count = drm_rect_width(&layer->dst);
	struct vttm_pixel *dst = vcrtc->line + layer->dst.x1;
	struct vttm_walk walk;

	if (y < layer->dst.y1 || y >= layer->dst.y2)
		return;

	walk = walk_row(layer, y - layer->dst.y1);
	if (!layer->image.format->has_alpha) {
		vttm_format_read(&layer->image, walk, dst, count);
	} else {
		vttm_format_read(&layer->image, walk, vcrtc->stage, count);
		premultiply(vcrtc->stage, count, layer->blend_mode);
		blend(dst, vcrtc->stage, count);
	}
}

/* Between entries of the table values are interpolated. */
static u16 look_up(const u16 *table, unsigned int num, u16 value)
{
	const unsigned int stride = sizeof(struct drm_color_lut) / sizeof(u16);
	u32 pos = value * (num - 1), index = pos / 0xffff, rest = pos % 0xffff;
	s64 from = table[index * stride];

	if (!rest)
		return from;

	return from + DIV_ROUND_CLOSEST((table[(index + 1) * stride] - from) * rest, 0xffff);
}

static void apply_gamma(struct vttm_pixel *line, unsigned int count,
			const struct drm_property_blob *blob)
{
	const struct drm_color_lut *lut = blob->data;
	unsigned int num = drm_color_lut_size(blob);

	for (; count--; line++) {
		line->r = look_up(&lut->red, num, line->r);
		line->g = look_up(&lut->green, num, line->g);
		line->b = look_up(&lut->blue, num, line->b);
	}
}

static void fill(struct vttm_pixel *line, unsigned int count, u64 color)
{
	const struct vttm_pixel background = {
		.a = 0xffff,
		.r = DRM_ARGB64_GETR(color),
		.g = DRM_ARGB64_GETG(color),
		.b = DRM_ARGB64_GETB(color),
	};

	while (count--)
		*line++ = background;
}

/* Return: checksum of the frame. */
static u32 compose(struct vttm_crtc *vcrtc, struct vttm_crtc_state *state,
		   struct vttm_writeback *writeback)
{
	const struct drm_display_mode *mode = &state->base.mode;
	struct vttm_layer layers[VTTM_PLANES_PER_CRTC];
	unsigned int i, width = mode->hdisplay, y;
	u32 crc = 0;

	for (i = 0; i < state->num_planes; i++)
		init_layer(&layers[i], state->planes[i]);

	for (y = 0; y < mode->vdisplay; y++) {
		fill(vcrtc->line, width, state->base.background_color);
		for (i = 0; i < state->num_planes; i++)
			add_layer(vcrtc, &layers[i], y);
		if (state->base.gamma_lut)
			apply_gamma(vcrtc->line, width, state->base.gamma_lut);

		crc = crc32_le(crc, (const u8 *)vcrtc->line, width * sizeof(*vcrtc->line));
		if (writeback)
			vttm_format_write_row(&writeback->image, y, vcrtc->line, width);
		cond_resched();
	}

	return crc;
}

/**
 * vttm_compose_work() - Compose the frame that a vertical blank has shown
 * @work: &vttm_crtc_state.compose_work
 *
 * If it is late it stands for all frames since: they look alike.
 */
void vttm_compose_work(struct work_struct *work)
{
	struct vttm_crtc_state *state = container_of(work, struct vttm_crtc_state,
						     compose_work);
	struct vttm_crtc *vcrtc = to_vttm_crtc(state->base.crtc);
	struct vttm_writeback *writeback;
	u64 frame, last;
	bool with_crc;
	u32 crc;

	scoped_guard(spinlock_irq, &vcrtc->lock) {
		frame = state->first_frame;
		last = state->last_frame;
		state->compose_pending = false;
		writeback = state->writeback;
		state->writeback = NULL;
		with_crc = vcrtc->crc_enabled;
	}

	/* Somebody waits for the fence of a writeback: allocate nothing here. */
	if (writeback) {
		bool cookie = dma_fence_begin_signalling();

		crc = compose(vcrtc, state, writeback);
		drm_writeback_signal_completion(&vcrtc->wb_connector, 0);
		dma_fence_end_signalling(cookie);
	} else if (with_crc) {
		crc = compose(vcrtc, state, NULL);
	}

	for (; with_crc && frame <= last; frame++)
		drm_crtc_add_crc_entry(&vcrtc->base, true, frame, &crc);
}
