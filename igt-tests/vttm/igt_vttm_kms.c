// SPDX-License-Identifier: MIT
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "igt.h"
#include "igt_vttm_kms.h"

#define FENCE_TIMEOUT_MS 10000

/* A mode with a frame of 10 ms. */
static const struct drm_mode_modeinfo screen_mode = {
	.clock = 280 * 280 / 10,
	.hdisplay = VTTM_SCREEN,
	.hsync_start = 260,
	.hsync_end = 270,
	.htotal = 280,
	.vdisplay = VTTM_SCREEN,
	.vsync_start = 260,
	.vsync_end = 270,
	.vtotal = 280,
	.vrefresh = 100,
	.name = "vttm",
};

static void set_cap(int fd, uint64_t capability)
{
	struct drm_set_client_cap args = { .capability = capability, .value = 1 };

	igt_assert_eq(__vttm_ioctl(fd, DRM_IOCTL_SET_CLIENT_CAP, &args), 0);
}

/* The id of a property, or 0; its present value as well, if that is wanted. */
static uint32_t find_property(int fd, uint32_t object, uint32_t type, const char *name, uint64_t *value)
{
	uint32_t ids[64], i;
	uint64_t values[64];
	struct drm_mode_obj_get_properties args = {
		.props_ptr = (uintptr_t)ids,
		.prop_values_ptr = (uintptr_t)values,
		.count_props = 64,
		.obj_id = object,
		.obj_type = type,
	};

	igt_assert_eq(__vttm_ioctl(fd, DRM_IOCTL_MODE_OBJ_GETPROPERTIES, &args), 0);
	igt_assert_lte(args.count_props, 64);
	for (i = 0; i < args.count_props; i++) {
		struct drm_mode_get_property property = { .prop_id = ids[i] };

		igt_assert_eq(__vttm_ioctl(fd, DRM_IOCTL_MODE_GETPROPERTY, &property), 0);
		if (strcmp(property.name, name))
			continue;
		if (value)
			*value = values[i];
		return ids[i];
	}
	return 0;
}

/* What kind of plane each is says a property; only those of our CRTC, which is the first. */
static void find_planes(struct vttm_display *display)
{
	uint32_t ids[32], i;
	struct drm_mode_get_plane_res res = { .plane_id_ptr = (uintptr_t)ids, .count_planes = 32 };

	igt_assert_eq(__vttm_ioctl(display->fd, DRM_IOCTL_MODE_GETPLANERESOURCES, &res), 0);
	for (i = 0; i < res.count_planes; i++) {
		struct drm_mode_get_plane plane = { .plane_id = ids[i] };
		uint64_t kind;

		igt_assert_eq(__vttm_ioctl(display->fd, DRM_IOCTL_MODE_GETPLANE, &plane), 0);
		if (!(plane.possible_crtcs & 1))
			continue;
		igt_assert(find_property(display->fd, ids[i], DRM_MODE_OBJECT_PLANE, "type", &kind));
		/* As in the kernel: overlay 0, primary 1, cursor 2. */
		*(kind == 1 ? &display->primary : kind == 2 ? &display->cursor : &display->overlay) = ids[i];
	}
	igt_assert(display->primary && display->overlay && display->cursor);
}

static void find_connectors(struct vttm_display *display)
{
	uint32_t crtcs[4], connectors[16], i;
	struct drm_mode_card_res res = {
		.crtc_id_ptr = (uintptr_t)crtcs,
		.connector_id_ptr = (uintptr_t)connectors,
		.count_crtcs = 4,
		.count_connectors = 16,
	};

	igt_assert_eq(__vttm_ioctl(display->fd, DRM_IOCTL_MODE_GETRESOURCES, &res), 0);
	igt_assert_lte(1, res.count_crtcs);
	display->crtc = crtcs[0];
	for (i = 0; i < res.count_connectors; i++) {
		struct drm_mode_get_connector connector = { .connector_id = connectors[i] };

		igt_assert_eq(__vttm_ioctl(display->fd, DRM_IOCTL_MODE_GETCONNECTOR, &connector), 0);
		if (connector.connector_type == DRM_MODE_CONNECTOR_WRITEBACK && !display->writeback)
			display->writeback = connectors[i];
		if (connector.connector_type == DRM_MODE_CONNECTOR_VIRTUAL && !display->connector)
			display->connector = connectors[i];
	}
	igt_assert(display->connector && display->writeback);
}

void vttm_display_open(struct vttm_display *display)
{
	struct drm_mode_create_blob blob = { .data = (uintptr_t)&screen_mode, .length = sizeof(screen_mode) };
	struct drm_mode_card_res res = {};

	memset(display, 0, sizeof(*display));
	display->fd = vttm_open_primary();
	igt_require_f(!__vttm_ioctl(display->fd, DRM_IOCTL_MODE_GETRESOURCES, &res), "the device has no display\n");
	set_cap(display->fd, DRM_CLIENT_CAP_ATOMIC);
	set_cap(display->fd, DRM_CLIENT_CAP_WRITEBACK_CONNECTORS);
	find_connectors(display);
	find_planes(display);
	igt_assert_eq(__vttm_ioctl(display->fd, DRM_IOCTL_MODE_CREATEPROPBLOB, &blob), 0);
	display->mode_blob = blob.blob_id;
}

void vttm_display_close(struct vttm_display *display)
{
	close(display->fd);
	display->fd = -1;
}

int __vttm_fb_create(int fd, uint32_t handle, uint32_t width, uint32_t height, uint32_t format, uint32_t *fb)
{
	struct drm_mode_fb_cmd2 args = {
		.width = width,
		.height = height,
		.pixel_format = format,
		.handles = { handle },
		.pitches = { width * 4 },
	};
	int ret = __vttm_ioctl(fd, DRM_IOCTL_MODE_ADDFB2, &args);

	*fb = args.fb_id;
	return ret;
}

uint32_t vttm_fb_create(int fd, uint32_t handle)
{
	uint32_t fb;

	igt_assert_eq(__vttm_fb_create(fd, handle, VTTM_SCREEN, VTTM_SCREEN, DRM_FORMAT_XRGB8888, &fb), 0);
	return fb;
}

void vttm_fb_remove(int fd, uint32_t fb)
{
	igt_assert_eq(__vttm_ioctl(fd, DRM_IOCTL_MODE_RMFB, &fb), 0);
}

void vttm_commit_begin(struct vttm_commit *commit, const struct vttm_display *display)
{
	memset(commit, 0, sizeof(*commit));
	commit->display = display;
}

void vttm_commit_set(struct vttm_commit *commit, uint32_t object, uint32_t type, const char *name, uint64_t value)
{
	uint32_t property = find_property(commit->display->fd, object, type, name, NULL);

	igt_assert_f(property, "there is no property %s\n", name);
	igt_assert_lt(commit->count, 64);
	commit->objects[commit->count] = object;
	commit->properties[commit->count] = property;
	commit->values[commit->count++] = value;
}

void vttm_commit_plane(struct vttm_commit *commit, uint32_t plane, uint32_t fb)
{
	static const char *const sizes[] = { "SRC_W", "SRC_H", "CRTC_W", "CRTC_H" };
	static const char *const origins[] = { "SRC_X", "SRC_Y", "CRTC_X", "CRTC_Y" };
	int i;

	vttm_commit_set(commit, plane, DRM_MODE_OBJECT_PLANE, "FB_ID", fb);
	vttm_commit_set(commit, plane, DRM_MODE_OBJECT_PLANE, "CRTC_ID", fb ? commit->display->crtc : 0);
	for (i = 0; i < 4; i++) {
		vttm_commit_set(commit, plane, DRM_MODE_OBJECT_PLANE, origins[i], 0);
		vttm_commit_set(commit, plane, DRM_MODE_OBJECT_PLANE, sizes[i], fb ? VTTM_SCREEN << (i < 2 ? 16 : 0) : 0);
	}
}

void vttm_commit_writeback(struct vttm_commit *commit, uint32_t fb, int *fence)
{
	uint32_t connector = commit->display->writeback;

	*fence = -1;
	vttm_commit_set(commit, connector, DRM_MODE_OBJECT_CONNECTOR, "CRTC_ID", commit->display->crtc);
	vttm_commit_set(commit, connector, DRM_MODE_OBJECT_CONNECTOR, "WRITEBACK_FB_ID", fb);
	vttm_commit_set(commit, connector, DRM_MODE_OBJECT_CONNECTOR, "WRITEBACK_OUT_FENCE_PTR", (uintptr_t)fence);
}

/* The ioctl takes one object after the other, so what belongs to one must be together: one a property will do. */
int __vttm_commit_apply(struct vttm_commit *commit, uint32_t flags)
{
	uint32_t counts[64], i;
	struct drm_mode_atomic args = {
		.flags = flags,
		.count_objs = commit->count,
		.objs_ptr = (uintptr_t)commit->objects,
		.count_props_ptr = (uintptr_t)counts,
		.props_ptr = (uintptr_t)commit->properties,
		.prop_values_ptr = (uintptr_t)commit->values,
	};

	for (i = 0; i < commit->count; i++)
		counts[i] = 1;
	return __vttm_ioctl(commit->display->fd, DRM_IOCTL_MODE_ATOMIC, &args);
}

void vttm_commit_apply(struct vttm_commit *commit, uint32_t flags)
{
	igt_assert_eq(__vttm_commit_apply(commit, flags), 0);
}

int __vttm_display_on(const struct vttm_display *display, uint32_t fb)
{
	struct vttm_commit commit;

	vttm_commit_begin(&commit, display);
	vttm_commit_set(&commit, display->crtc, DRM_MODE_OBJECT_CRTC, "MODE_ID", display->mode_blob);
	vttm_commit_set(&commit, display->crtc, DRM_MODE_OBJECT_CRTC, "ACTIVE", 1);
	vttm_commit_set(&commit, display->connector, DRM_MODE_OBJECT_CONNECTOR, "CRTC_ID", display->crtc);
	vttm_commit_plane(&commit, display->primary, fb);
	return __vttm_commit_apply(&commit, DRM_MODE_ATOMIC_ALLOW_MODESET);
}

void vttm_display_on(const struct vttm_display *display, uint32_t fb)
{
	igt_assert_eq(__vttm_display_on(display, fb), 0);
}

void vttm_display_off(const struct vttm_display *display)
{
	struct vttm_commit commit;

	vttm_commit_begin(&commit, display);
	vttm_commit_set(&commit, display->crtc, DRM_MODE_OBJECT_CRTC, "MODE_ID", 0);
	vttm_commit_set(&commit, display->crtc, DRM_MODE_OBJECT_CRTC, "ACTIVE", 0);
	vttm_commit_set(&commit, display->connector, DRM_MODE_OBJECT_CONNECTOR, "CRTC_ID", 0);
	vttm_commit_set(&commit, display->writeback, DRM_MODE_OBJECT_CONNECTOR, "CRTC_ID", 0);
	vttm_commit_plane(&commit, display->primary, 0);
	vttm_commit_plane(&commit, display->overlay, 0);
	vttm_commit_plane(&commit, display->cursor, 0);
	vttm_commit_apply(&commit, DRM_MODE_ATOMIC_ALLOW_MODESET);
}

int __vttm_flip(const struct vttm_display *display, uint32_t fb, uint32_t flags)
{
	struct vttm_commit commit;

	vttm_commit_begin(&commit, display);
	vttm_commit_plane(&commit, display->primary, fb);
	return __vttm_commit_apply(&commit, flags);
}

void vttm_flip(const struct vttm_display *display, uint32_t fb)
{
	igt_assert_eq(__vttm_flip(display, fb, 0), 0);
}

void vttm_fence_wait(int fence)
{
	struct pollfd poll_fd = { .fd = fence, .events = POLLIN };

	igt_assert_fd(fence);
	igt_assert_eq(poll(&poll_fd, 1, FENCE_TIMEOUT_MS), 1);
	close(fence);
}

/* A picture that depends on a seed; what the screen doesn't show is zero. */
void vttm_draw(int fd, uint32_t handle, uint32_t seed)
{
	uint32_t *pixels = vttm_map(fd, handle, VTTM_SCREEN_SIZE);
	uint64_t i;

	vttm_fill(pixels, VTTM_SCREEN_SIZE, seed);
	for (i = 0; i < VTTM_SCREEN_SIZE / 4; i++)
		pixels[i] &= VTTM_RGB;
	munmap(pixels, VTTM_SCREEN_SIZE);
}

/* A picture of the screen, taken with what a commit changes. */
void vttm_take_picture(struct vttm_commit *commit, uint32_t *picture)
{
	int fd = commit->display->fd, fence;
	uint32_t handle = vttm_create(fd, VTTM_SCREEN_SIZE, DRM_VTTM_DOMAIN_VRAM, 0), fb = vttm_fb_create(fd, handle);
	uint32_t *pixels;

	vttm_commit_writeback(commit, fb, &fence);
	vttm_commit_apply(commit, DRM_MODE_ATOMIC_ALLOW_MODESET);
	vttm_fence_wait(fence);
	pixels = vttm_map(fd, handle, VTTM_SCREEN_SIZE);
	memcpy(picture, pixels, VTTM_SCREEN_SIZE);
	munmap(pixels, VTTM_SCREEN_SIZE);
	vttm_fb_remove(fd, fb);
	vttm_close(fd, handle);
}

int64_t vttm_picture_first_wrong(const uint32_t *picture, uint32_t seed)
{
	static uint32_t expected[VTTM_SCREEN_SIZE / 4];
	uint64_t i;

	vttm_fill(expected, VTTM_SCREEN_SIZE, seed);
	for (i = 0; i < VTTM_SCREEN_SIZE / 4; i++)
		if ((picture[i] ^ expected[i]) & VTTM_RGB)
			return i;
	return -1;
}

/* Until workers have let go of what was shown before: it may take a frame. */
void vttm_assert_pinned(int fd, uint64_t bytes)
{
	int tries;

	for (tries = 0; tries < 500 && vttm_info(fd).vram_pinned != bytes; tries++)
		usleep(2000);
	igt_assert_eq_u64(vttm_info(fd).vram_pinned, bytes);
}
