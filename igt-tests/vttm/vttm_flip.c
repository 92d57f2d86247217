// SPDX-License-Identifier: MIT
/* What the screen shows, and when. */
#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "igt.h"
#include "igt_vttm_kms.h"

IGT_TEST_DESCRIPTION("Flips wait for what they have to, and the picture is right");

#define VRAM		(8 * VTTM_MIB)
#define SIZE		VTTM_SCREEN_SIZE
#define JOB_NS		200000000ull
#define JOB_COLOR	0x00c0ffeeu
#define RGB		VTTM_RGB

/* Where the screen shows pixel (x, y) of a picture that was reflected, then turned counterclockwise. */
static uint32_t turned(uint32_t x, uint32_t y, unsigned int rotation)
{
	const uint32_t last = VTTM_SCREEN - 1;

	if (rotation & DRM_MODE_REFLECT_X)
		x = last - x;
	if (rotation & DRM_MODE_REFLECT_Y)
		y = last - y;
	switch (rotation & DRM_MODE_ROTATE_MASK) {
	case DRM_MODE_ROTATE_90:
		return (last - x) * VTTM_SCREEN + y;
	case DRM_MODE_ROTATE_180:
		return (last - y) * VTTM_SCREEN + last - x;
	case DRM_MODE_ROTATE_270:
		return x * VTTM_SCREEN + last - y;
	default:
		return y * VTTM_SCREEN + x;
	}
}

static void test_rotation(const struct vttm_display *display)
{
	static const unsigned int rotations[] = {
		DRM_MODE_ROTATE_0, DRM_MODE_ROTATE_90, DRM_MODE_ROTATE_180, DRM_MODE_ROTATE_270,
		DRM_MODE_ROTATE_0 | DRM_MODE_REFLECT_X, DRM_MODE_ROTATE_90 | DRM_MODE_REFLECT_X,
		DRM_MODE_ROTATE_90 | DRM_MODE_REFLECT_Y, DRM_MODE_ROTATE_270 | DRM_MODE_REFLECT_Y,
	};
	static uint32_t source[SIZE / 4], picture[SIZE / 4];
	int fd = display->fd;
	uint32_t handle = vttm_create(fd, SIZE, DRM_VTTM_DOMAIN_VRAM, 0), fb = vttm_fb_create(fd, handle), x, y;
	struct vttm_commit commit;
	unsigned int i;

	vttm_draw(fd, handle, 5);
	vttm_fill(source, SIZE, 5);
	vttm_display_on(display, fb);
	for (i = 0; i < sizeof(rotations) / sizeof(rotations[0]); i++) {
		vttm_commit_begin(&commit, display);
		vttm_commit_set(&commit, display->primary, DRM_MODE_OBJECT_PLANE, "rotation", rotations[i]);
		vttm_take_picture(&commit, picture);
		for (y = 0; y < VTTM_SCREEN; y++)
			for (x = 0; x < VTTM_SCREEN; x++)
				igt_assert_eq_u32(picture[turned(x, y, rotations[i])] & RGB,
						  source[y * VTTM_SCREEN + x] & RGB);
	}
	vttm_commit_begin(&commit, display);
	vttm_commit_set(&commit, display->primary, DRM_MODE_OBJECT_PLANE, "rotation", DRM_MODE_ROTATE_0);
	vttm_commit_apply(&commit, 0);
	vttm_display_off(display);
	vttm_fb_remove(fd, fb);
	vttm_close(fd, handle);
}

/* Three planes over each other: the lowest shows where those above are transparent, in the order that zpos says. */
static void test_planes(const struct vttm_display *display)
{
	static const uint32_t colors[3] = { 0xff102030, 0x80400000, 0x80004000 };
	static uint32_t picture[SIZE / 4];
	const uint32_t planes[3] = { display->primary, display->overlay, display->cursor };
	uint32_t handles[3], fbs[3];
	struct vttm_commit commit;
	int fd = display->fd, i, j;

	for (i = 0; i < 3; i++) {
		uint32_t *pixels;

		handles[i] = vttm_create(fd, SIZE, DRM_VTTM_DOMAIN_VRAM, 0);
		igt_assert_eq(__vttm_fb_create(fd, handles[i], VTTM_SCREEN, VTTM_SCREEN, DRM_FORMAT_ARGB8888, &fbs[i]), 0);
		pixels = vttm_map(fd, handles[i], SIZE);
		for (j = 0; j < (int)(SIZE / 4); j++)
			pixels[j] = colors[i];
		munmap(pixels, SIZE);
	}
	vttm_display_on(display, fbs[0]);
	vttm_commit_begin(&commit, display);
	for (i = 1; i < 3; i++)
		vttm_commit_plane(&commit, planes[i], fbs[i]);
	vttm_take_picture(&commit, picture);
	/* Colours are multiplied by alpha: 0x40 + 0x10 * 127 / 255, then the half of that, and so on. */
	igt_assert_eq_u32(picture[0] & RGB, 0x24480c);
	igt_assert_eq_u64(vttm_info(fd).vram_pinned, 3 * SIZE);

	/* The overlay below the primary plane, which is opaque. */
	vttm_commit_begin(&commit, display);
	vttm_commit_set(&commit, display->primary, DRM_MODE_OBJECT_PLANE, "zpos", 1);
	vttm_commit_set(&commit, display->overlay, DRM_MODE_OBJECT_PLANE, "zpos", 0);
	vttm_take_picture(&commit, picture);
	igt_assert_eq_u32(picture[0] & RGB, 0x085018);

	vttm_commit_begin(&commit, display);
	vttm_commit_set(&commit, display->primary, DRM_MODE_OBJECT_PLANE, "zpos", 0);
	vttm_commit_set(&commit, display->overlay, DRM_MODE_OBJECT_PLANE, "zpos", 1);
	vttm_commit_apply(&commit, 0);
	vttm_display_off(display);
	for (i = 0; i < 3; i++) {
		vttm_fb_remove(fd, fbs[i]);
		vttm_close(fd, handles[i]);
	}
}

/* The three things that alpha can mean: colours were multiplied by it, are to be, or there is none. */
static void test_blend_modes(const struct vttm_display *display)
{
	static const struct {
		const char *name;
		uint64_t value;	/* DRM_MODE_BLEND_* of the kernel */
		uint32_t shown;
	} modes[] = {
		/* What is below counts 127 / 255. */
		{ "Coverage", 1, 0x281018 },
		{ "None", 2, 0x400000 },
		{ "Pre-multiplied", 0, 0x481018 },
	};
	static const uint32_t colors[2] = { 0xff102030, 0x80400000 };
	static uint32_t picture[SIZE / 4];
	uint32_t handles[2], fbs[2], *pixels;
	struct vttm_commit commit;
	int fd = display->fd, i, j;

	for (i = 0; i < 2; i++) {
		handles[i] = vttm_create(fd, SIZE, DRM_VTTM_DOMAIN_VRAM, 0);
		igt_assert_eq(__vttm_fb_create(fd, handles[i], VTTM_SCREEN, VTTM_SCREEN, DRM_FORMAT_ARGB8888, &fbs[i]), 0);
		pixels = vttm_map(fd, handles[i], SIZE);
		for (j = 0; j < (int)(SIZE / 4); j++)
			pixels[j] = colors[i];
		munmap(pixels, SIZE);
	}
	vttm_display_on(display, fbs[0]);
	for (i = 0; i < (int)(sizeof(modes) / sizeof(modes[0])); i++) {
		vttm_commit_begin(&commit, display);
		vttm_commit_plane(&commit, display->overlay, fbs[1]);
		vttm_commit_set(&commit, display->overlay, DRM_MODE_OBJECT_PLANE, "pixel blend mode", modes[i].value);
		vttm_take_picture(&commit, picture);
		igt_assert_f((picture[0] & RGB) == modes[i].shown, "%s: 0x%06x, expected 0x%06x\n", modes[i].name,
			     picture[0] & RGB, modes[i].shown);
		igt_assert_eq_u32(picture[SIZE / 4 - 1], picture[0]);
	}
	vttm_display_off(display);
	for (i = 0; i < 2; i++) {
		vttm_fb_remove(fd, fbs[i]);
		vttm_close(fd, handles[i]);
	}
}

/* A job of a fifth of a second that fills a BO, or none. */
static uint64_t submit_slow(int fd, uint32_t handle, uint32_t syncobj)
{
	struct drm_vttm_submit_bo bo = { .handle = handle };
	struct drm_vttm_op op = { .type = DRM_VTTM_OP_FILL, .dst = handle, .size = SIZE, .value = JOB_COLOR };
	struct drm_vttm_sync sync = { .handle = syncobj, .flags = DRM_VTTM_SYNC_SIGNAL };
	struct drm_vttm_submit args = {
		.bos = (uintptr_t)&bo,
		.bo_count = handle ? 1 : 0,
		.bo_stride = sizeof(bo),
		.ops = (uintptr_t)&op,
		.op_count = handle ? 1 : 0,
		.op_stride = sizeof(op),
		.syncs = (uintptr_t)&sync,
		.sync_count = syncobj ? 1 : 0,
		.sync_stride = sizeof(sync),
		.compute_ns = JOB_NS,
	};

	igt_assert_eq(__vttm_ioctl(fd, DRM_IOCTL_VTTM_SUBMIT, &args), 0);
	return args.seqno;
}

static int export_fence(int fd, uint32_t syncobj)
{
	struct drm_syncobj_handle args = {
		.handle = syncobj,
		.flags = DRM_SYNCOBJ_HANDLE_TO_FD_FLAGS_EXPORT_SYNC_FILE,
		.fd = -1,
	};

	igt_assert_eq(__vttm_ioctl(fd, DRM_IOCTL_SYNCOBJ_HANDLE_TO_FD, &args), 0);
	return args.fd;
}

/* A flip to what is being drawn shows it drawn, and is itself not held up. */
static void test_implicit_fence(const struct vttm_display *display)
{
	static uint32_t picture[SIZE / 4];
	struct vttm_commit commit;
	int fd = display->fd, fence, i;
	uint32_t handles[3], fbs[3], *pixels;
	uint64_t seqno;

	for (i = 0; i < 3; i++) {
		handles[i] = vttm_create(fd, SIZE, DRM_VTTM_DOMAIN_VRAM, 0);
		fbs[i] = vttm_fb_create(fd, handles[i]);
	}
	vttm_display_on(display, fbs[0]);
	seqno = submit_slow(fd, handles[1], 0);
	vttm_commit_begin(&commit, display);
	vttm_commit_plane(&commit, display->primary, fbs[1]);
	vttm_commit_writeback(&commit, fbs[2], &fence);
	vttm_commit_apply(&commit, DRM_MODE_ATOMIC_NONBLOCK | DRM_MODE_ATOMIC_ALLOW_MODESET);
	igt_assert_eq(__vttm_wait(fd, seqno, 0), -ETIME);
	vttm_fence_wait(fence);
	igt_assert_eq(__vttm_wait(fd, seqno, 0), 0);
	pixels = vttm_map(fd, handles[2], SIZE);
	memcpy(picture, pixels, SIZE);
	munmap(pixels, SIZE);
	for (i = 0; i < (int)(SIZE / 4); i++)
		igt_assert_eq_u32(picture[i] & RGB, JOB_COLOR);
	vttm_display_off(display);
	for (i = 0; i < 3; i++) {
		vttm_fb_remove(fd, fbs[i]);
		vttm_close(fd, handles[i]);
	}
}

/* A flip with a fence waits for it, though the job has nothing to do with the BO. */
static void test_in_fence(const struct vttm_display *display)
{
	struct drm_syncobj_create syncobj = {};
	struct vttm_commit commit;
	int fd = display->fd, fence, i, in;
	uint32_t handles[3], fbs[3];
	uint64_t seqno;

	for (i = 0; i < 3; i++) {
		handles[i] = vttm_create(fd, SIZE, DRM_VTTM_DOMAIN_VRAM, 0);
		fbs[i] = vttm_fb_create(fd, handles[i]);
	}
	vttm_display_on(display, fbs[0]);
	igt_assert_eq(__vttm_ioctl(fd, DRM_IOCTL_SYNCOBJ_CREATE, &syncobj), 0);
	seqno = submit_slow(fd, 0, syncobj.handle);
	in = export_fence(fd, syncobj.handle);
	vttm_commit_begin(&commit, display);
	vttm_commit_plane(&commit, display->primary, fbs[1]);
	vttm_commit_set(&commit, display->primary, DRM_MODE_OBJECT_PLANE, "IN_FENCE_FD", in);
	vttm_commit_writeback(&commit, fbs[2], &fence);
	vttm_commit_apply(&commit, DRM_MODE_ATOMIC_NONBLOCK | DRM_MODE_ATOMIC_ALLOW_MODESET);
	igt_assert_eq(__vttm_wait(fd, seqno, 0), -ETIME);
	vttm_fence_wait(fence);
	igt_assert_eq(__vttm_wait(fd, seqno, 0), 0);
	close(in);
	vttm_display_off(display);
	for (i = 0; i < 3; i++) {
		vttm_fb_remove(fd, fbs[i]);
		vttm_close(fd, handles[i]);
	}
	igt_assert_eq(__vttm_ioctl(fd, DRM_IOCTL_SYNCOBJ_DESTROY,
				   &(struct drm_syncobj_destroy){ .handle = syncobj.handle }), 0);
}

/* Under the virtual clock a commit is over when the ioctl is, and nothing is written back. */
static void test_virtual_clock(const struct vttm_display *display)
{
	struct drm_vttm_lab_config config = vttm_config(VRAM);
	struct vttm_commit commit;
	int fd = display->fd, i, fence, ret;
	uint32_t handles[2], fbs[2];

	config.flags = DRM_VTTM_LAB_CONFIG_VIRTUAL_CLOCK;
	ret = __vttm_reset(fd, &config);
	igt_require_f(ret != -EOPNOTSUPP, "this kernel has no virtual clock\n");
	igt_assert_eq(ret, 0);
	for (i = 0; i < 2; i++) {
		handles[i] = vttm_create(fd, SIZE, DRM_VTTM_DOMAIN_GTT, 0);
		fbs[i] = vttm_fb_create(fd, handles[i]);
	}
	vttm_display_on(display, fbs[0]);
	for (i = 1; i < 20; i++) {
		/* Virtual time passes while it waits for what it shows, and then for nothing. */
		uint64_t seqno = submit_slow(fd, handles[i % 2], 0), clock = vttm_info(fd).clock_ns;

		igt_assert_eq(__vttm_flip(display, fbs[i % 2], DRM_MODE_ATOMIC_NONBLOCK), 0);
		igt_assert_eq_u32(vttm_bo_info(fd, handles[i % 2]).pin_count, 1);
		igt_assert_eq_u32(vttm_bo_info(fd, handles[!(i % 2)]).pin_count, 0);
		igt_assert_eq(__vttm_wait(fd, seqno, 0), 0);
		igt_assert_lte_u64(clock + JOB_NS, vttm_info(fd).clock_ns);
		clock = vttm_info(fd).clock_ns;
		usleep(20000);
		igt_assert_eq_u64(vttm_info(fd).clock_ns, clock);
	}
	vttm_commit_begin(&commit, display);
	vttm_commit_writeback(&commit, fbs[0], &fence);
	igt_assert_eq(__vttm_commit_apply(&commit, DRM_MODE_ATOMIC_ALLOW_MODESET), -EOPNOTSUPP);
	vttm_display_off(display);
	for (i = 0; i < 2; i++) {
		vttm_fb_remove(fd, fbs[i]);
		vttm_close(fd, handles[i]);
	}
	config = vttm_config(VRAM);
	igt_assert_eq(__vttm_reset(fd, &config), 0);
}

/* Modes that are too large, too quick or too slow, on a screen that is on and stays so. */
static void test_modes(const struct vttm_display *display)
{
	static const struct drm_mode_modeinfo refused[] = {
		{ .clock = 500000, .hdisplay = 8200, .hsync_start = 8210, .hsync_end = 8220, .htotal = 8230,
		  .vdisplay = 256, .vsync_start = 260, .vsync_end = 270, .vtotal = 280 },
		{ .clock = 500000, .hdisplay = 256, .hsync_start = 260, .hsync_end = 270, .htotal = 280,
		  .vdisplay = 8200, .vsync_start = 8210, .vsync_end = 8220, .vtotal = 8230 },
		{ .clock = 100000, .hdisplay = 256, .hsync_start = 260, .hsync_end = 270, .htotal = 280,
		  .vdisplay = 256, .vsync_start = 260, .vsync_end = 270, .vtotal = 280 },
		{ .clock = 1, .hdisplay = 256, .hsync_start = 260, .hsync_end = 270, .htotal = 280,
		  .vdisplay = 256, .vsync_start = 260, .vsync_end = 270, .vtotal = 280 },
	};
	int fd = display->fd;
	uint32_t handle = vttm_create(fd, SIZE, DRM_VTTM_DOMAIN_VRAM, 0), fb = vttm_fb_create(fd, handle);
	struct vttm_commit commit;
	unsigned int i;

	vttm_display_on(display, fb);
	for (i = 0; i < sizeof(refused) / sizeof(refused[0]); i++) {
		struct drm_mode_create_blob blob = { .data = (uintptr_t)&refused[i], .length = sizeof(refused[i]) };

		igt_assert_eq(__vttm_ioctl(fd, DRM_IOCTL_MODE_CREATEPROPBLOB, &blob), 0);
		vttm_commit_begin(&commit, display);
		vttm_commit_set(&commit, display->crtc, DRM_MODE_OBJECT_CRTC, "MODE_ID", blob.blob_id);
		vttm_commit_plane(&commit, display->primary, 0);
		igt_assert_eq(__vttm_commit_apply(&commit, DRM_MODE_ATOMIC_ALLOW_MODESET), -EINVAL);
	}
	vttm_flip(display, fb);
	vttm_display_off(display);
	vttm_fb_remove(fd, fb);
	vttm_close(fd, handle);
}

int igt_main()
{
	struct vttm_display display = { .fd = -1 };
	int fd = -1;

	igt_fixture() {
		fd = vttm_open_small(VRAM);
		vttm_one_cpu_on_um();
		vttm_display_open(&display);
	}

	igt_describe("A flip waits for the jobs that draw");
	igt_subtest("implicit-fence")
		test_implicit_fence(&display);
	igt_describe("A flip waits for the fence that it is given");
	igt_subtest("in-fence")
		test_in_fence(&display);
	igt_describe("Pictures turned and reflected");
	igt_subtest("rotation")
		test_rotation(&display);
	igt_describe("Planes over each other");
	igt_subtest("planes")
		test_planes(&display);
	igt_describe("What alpha means");
	igt_subtest("blend-modes")
		test_blend_modes(&display);
	igt_describe("Modes that nothing could show");
	igt_subtest("modes")
		test_modes(&display);
	igt_describe("Nothing happens behind the virtual clock's back");
	igt_subtest("virtual-clock")
		test_virtual_clock(&display);

	igt_fixture() {
		vttm_display_close(&display);
		close(fd);
		vttm_assert_idle();
	}
}
