// SPDX-License-Identifier: MIT
/* What is shown is in video memory, in one range, and stays there. */
#include <errno.h>
#include <fcntl.h>
#include <linux/dma-heap.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

#include "igt.h"
#include "igt_vttm_kms.h"

IGT_TEST_DESCRIPTION("Scanout: where it is, what it displaces and what is refused");

#define VRAM		(8 * VTTM_MIB)
#define SIZE		VTTM_SCREEN_SIZE

static uint64_t next_tag = 1000;

/* A BO with a name of its own, so that the state tells where it is. */
static uint32_t create_tagged(int fd, uint64_t size, uint32_t domain, uint64_t *tag)
{
	struct drm_vttm_gem_create args = {
		.size = size,
		.tag = next_tag,
		.preferred_domains = domain,
		.priority = DRM_VTTM_PRIORITY_DEFAULT,
	};

	igt_assert_eq(__vttm_ioctl(fd, DRM_IOCTL_VTTM_GEM_CREATE, &args), 0);
	*tag = next_tag++;
	return args.handle;
}

static void read_state(int fd, char *state, size_t size)
{
	int file = igt_debugfs_open(fd, "vttm_state", O_RDONLY);
	size_t len = 0;
	ssize_t n;

	igt_assert_fd(file);
	while ((n = read(file, state + len, size - 1 - len)) > 0)
		len += n;
	close(file);
	state[len] = '\0';
}

/* Is a BO in video memory, in blocks that adjoin? They are listed by offset. */
static bool is_one_range(int fd, uint64_t tag)
{
	static char state[1 << 16];
	uint64_t offset, size, end = 0;
	char name[32], *pos, *line_end;
	int n;

	read_state(fd, state, sizeof(state));
	snprintf(name, sizeof(name), "\nbo %llu ", (unsigned long long)tag);
	pos = strstr(state, name);
	igt_assert_f(pos, "the state has no BO %llu\n", (unsigned long long)tag);
	line_end = strchr(pos + 1, '\n');
	pos = strstr(pos, " mem vram place ");
	if (!pos || pos > line_end)
		return false;
	for (pos += strlen(" mem vram place "); sscanf(pos, "%lu+%lu%n", &offset, &size, &n) == 2; pos += n + 1) {
		if (end && offset != end)
			return false;
		end = offset + size;
	}
	return end;
}

static void assert_shown(int fd, uint32_t handle, uint64_t tag)
{
	igt_assert_eq_u32(vttm_domain(fd, handle), DRM_VTTM_DOMAIN_VRAM);
	igt_assert_lte(1, vttm_bo_info(fd, handle).pin_count);
	igt_assert(is_one_range(fd, tag));
}

static void assert_screen(const struct vttm_display *display, uint32_t seed)
{
	static uint32_t picture[SIZE / 4];
	struct vttm_commit commit;

	vttm_commit_begin(&commit, display);
	vttm_take_picture(&commit, picture);
	igt_assert_eq(vttm_picture_first_wrong(picture, seed), -1);
}

static void test_moves_to_vram(const struct vttm_display *display)
{
	int fd = display->fd;
	uint64_t tag;
	uint32_t handle = create_tagged(fd, SIZE, DRM_VTTM_DOMAIN_GTT, &tag), fb = vttm_fb_create(fd, handle);

	vttm_draw(fd, handle, 1);
	igt_assert_eq_u32(vttm_domain(fd, handle), DRM_VTTM_DOMAIN_GTT);
	vttm_display_on(display, fb);
	assert_shown(fd, handle, tag);
	assert_screen(display, 1);
	vttm_assert_pinned(fd, SIZE);
	vttm_display_off(display);
	vttm_assert_pinned(fd, 0);
	igt_assert_eq_u32(vttm_bo_info(fd, handle).pin_count, 0);
	vttm_fb_remove(fd, fb);
	vttm_close(fd, handle);
}

/* Evicted and shown in turn: the picture of the frame that the flip brings is right. */
static void test_evicted(const struct vttm_display *display)
{
	static uint32_t picture[SIZE / 4];
	uint32_t handles[2], fbs[2];
	int fd = display->fd, i;
	uint64_t tags[2];

	for (i = 0; i < 2; i++) {
		handles[i] = create_tagged(fd, SIZE, DRM_VTTM_DOMAIN_VRAM, &tags[i]);
		vttm_draw(fd, handles[i], i);
		fbs[i] = vttm_fb_create(fd, handles[i]);
	}
	vttm_display_on(display, fbs[0]);
	for (i = 1; i < 50; i++) {
		struct vttm_commit commit;
		int next = i % 2;

		igt_assert_eq(__vttm_lab(fd, DRM_VTTM_LAB_EVICT_ALL, 0, NULL), 0);
		igt_assert_eq_u32(vttm_domain(fd, handles[next]), DRM_VTTM_DOMAIN_GTT);
		assert_shown(fd, handles[!next], tags[!next]);
		vttm_commit_begin(&commit, display);
		vttm_commit_plane(&commit, display->primary, fbs[next]);
		vttm_take_picture(&commit, picture);
		igt_assert_eq(vttm_picture_first_wrong(picture, next), -1);
		assert_shown(fd, handles[next], tags[next]);
		vttm_assert_pinned(fd, SIZE);
	}
	vttm_display_off(display);
	for (i = 0; i < 2; i++) {
		vttm_fb_remove(fd, fbs[i]);
		vttm_close(fd, handles[i]);
	}
}

/* What else needs video memory has to do without what is shown. */
static void test_stays(const struct vttm_display *display)
{
	uint32_t handles[2 * VRAM / VTTM_MIB];
	int fd = display->fd;
	unsigned int i;
	uint64_t tag;
	uint32_t shown = create_tagged(fd, SIZE, DRM_VTTM_DOMAIN_VRAM, &tag), fb = vttm_fb_create(fd, shown);

	vttm_draw(fd, shown, 2);
	vttm_display_on(display, fb);
	for (i = 0; i < 2 * VRAM / VTTM_MIB; i++) {
		handles[i] = vttm_create(fd, VTTM_MIB, DRM_VTTM_DOMAIN_VRAM, 0);
		vttm_submit(fd, &handles[i], 1);
		assert_shown(fd, shown, tag);
	}
	assert_screen(display, 2);
	igt_assert_eq(__vttm_lab(fd, DRM_VTTM_LAB_EVICT_ALL, 0, NULL), 0);
	assert_shown(fd, shown, tag);
	assert_screen(display, 2);

	/* Neither the framebuffer's name nor the handle are needed for that. */
	vttm_close(fd, shown);
	vttm_assert_pinned(fd, SIZE);
	vttm_display_off(display);
	vttm_assert_pinned(fd, 0);
	vttm_fb_remove(fd, fb);
	for (i = 0; i < 2 * VRAM / VTTM_MIB; i++)
		vttm_close(fd, handles[i]);
}

/*
 * Video memory full of pinned BOs, then with holes that are too small: -ENOMEM,
 * and what was shown is shown still. With one large enough it goes.
 */
static void test_no_room(const struct vttm_display *display)
{
	const unsigned int num = (VRAM - SIZE) / (SIZE / 2);
	uint32_t handles[num], shown, other, fbs[2];
	int fd = display->fd;
	uint64_t tags[2];
	unsigned int i;

	shown = create_tagged(fd, SIZE, DRM_VTTM_DOMAIN_VRAM, &tags[0]);
	other = create_tagged(fd, SIZE, DRM_VTTM_DOMAIN_GTT, &tags[1]);
	vttm_draw(fd, shown, 3);
	vttm_draw(fd, other, 4);
	fbs[0] = vttm_fb_create(fd, shown);
	fbs[1] = vttm_fb_create(fd, other);
	vttm_display_on(display, fbs[0]);
	for (i = 0; i < num; i++) {
		handles[i] = vttm_create(fd, SIZE / 2, DRM_VTTM_DOMAIN_VRAM, DRM_VTTM_GEM_CONTIGUOUS);
		igt_assert_eq(__vttm_pin(fd, handles[i], 0), 0);
	}
	igt_assert_eq_u64(vttm_info(fd).vram_pinned, VRAM);
	igt_assert_eq(__vttm_flip(display, fbs[1], 0), -ENOMEM);
	igt_assert_eq(__vttm_flip(display, fbs[1], DRM_MODE_ATOMIC_NONBLOCK), -ENOMEM);
	igt_assert_eq_u32(vttm_bo_info(fd, other).pin_count, 0);

	/* They lie side by side in the order of creation. */
	for (i = 0; i < num; i += 2)
		igt_assert_eq(__vttm_pin(fd, handles[i], DRM_VTTM_PIN_UNPIN), 0);
	igt_assert_eq(__vttm_flip(display, fbs[1], 0), -ENOMEM);
	igt_assert_eq_u32(vttm_bo_info(fd, other).pin_count, 0);
	assert_shown(fd, shown, tags[0]);
	igt_assert_eq(__vttm_pin(fd, handles[1], DRM_VTTM_PIN_UNPIN), 0);
	igt_assert_eq(__vttm_pin(fd, handles[3], DRM_VTTM_PIN_UNPIN), 0);
	vttm_flip(display, fbs[1]);
	assert_shown(fd, other, tags[1]);
	assert_screen(display, 4);
	vttm_display_off(display);
	for (i = 0; i < num; i++)
		vttm_close(fd, handles[i]);
	for (i = 0; i < 2; i++) {
		vttm_fb_remove(fd, fbs[i]);
		vttm_close(fd, i ? other : shown);
	}
}

/* Memory of others cannot be in video memory, so it is no framebuffer. */
static void test_import(const struct vttm_display *display)
{
	struct dma_heap_allocation_data heap = { .len = SIZE, .fd_flags = O_RDWR | O_CLOEXEC };
	struct drm_prime_handle prime = {};
	int fd = display->fd, heap_fd = open("/dev/dma_heap/system", O_RDWR | O_CLOEXEC);
	uint32_t fb;

	igt_require_f(heap_fd >= 0, "no dma-buf heap\n");
	igt_assert_eq(__vttm_ioctl(heap_fd, DMA_HEAP_IOCTL_ALLOC, &heap), 0);
	prime.fd = heap.fd;
	igt_assert_eq(__vttm_ioctl(fd, DRM_IOCTL_PRIME_FD_TO_HANDLE, &prime), 0);
	igt_assert_eq(__vttm_fb_create(fd, prime.handle, VTTM_SCREEN, VTTM_SCREEN, DRM_FORMAT_XRGB8888, &fb), -EINVAL);
	vttm_close(fd, prime.handle);
	close(heap.fd);
	close(heap_fd);
}

/* A framebuffer keeps a device from being reset, also if nobody has a handle of the BO; and so do dumb buffers. */
static void test_reset(const struct vttm_display *display)
{
	struct drm_vttm_lab_config config = vttm_config(VRAM);
	struct drm_mode_create_dumb dumb = { .width = VTTM_SCREEN, .height = VTTM_SCREEN, .bpp = 32 };
	struct timespec before, after;
	int fd = display->fd;
	uint32_t fb;

	igt_assert_eq(__vttm_ioctl(fd, DRM_IOCTL_MODE_CREATE_DUMB, &dumb), 0);
	igt_assert_eq_u64(dumb.size, SIZE);
	igt_assert_eq_u32(vttm_domain(fd, dumb.handle), DRM_VTTM_DOMAIN_VRAM);
	igt_assert_eq(__vttm_reset(fd, &config), -EBUSY);
	fb = vttm_fb_create(fd, dumb.handle);
	vttm_close(fd, dumb.handle);
	clock_gettime(CLOCK_MONOTONIC, &before);
	igt_assert_eq(__vttm_reset(fd, &config), -EBUSY);
	clock_gettime(CLOCK_MONOTONIC, &after);
	igt_assert_lt(after.tv_sec - before.tv_sec, 5);
	vttm_fb_remove(fd, fb);
	vttm_assert_idle();
	igt_assert_eq(__vttm_reset(fd, &config), 0);
}

/* A device without contents shows nothing, in the right place. */
static void test_no_contents(const struct vttm_display *display)
{
	struct drm_vttm_lab_config config = vttm_config(VRAM);
	int fd = display->fd, crc;
	uint64_t tag;
	uint32_t handle, fb;

	config.flags = DRM_VTTM_LAB_CONFIG_NO_CONTENTS;
	igt_assert_eq(__vttm_reset(fd, &config), 0);
	handle = create_tagged(fd, SIZE, DRM_VTTM_DOMAIN_GTT, &tag);
	fb = vttm_fb_create(fd, handle);
	vttm_display_on(display, fb);
	assert_shown(fd, handle, tag);
	crc = igt_debugfs_open(fd, "crtc-0/crc/data", O_RDONLY);
	igt_assert_lt(crc, 0);
	vttm_display_off(display);
	vttm_assert_pinned(fd, 0);
	vttm_fb_remove(fd, fb);
	vttm_close(fd, handle);
	config = vttm_config(VRAM);
	igt_assert_eq(__vttm_reset(fd, &config), 0);
}

/* Whoever goes away shows nothing any more. */
static void test_file_closed(int other)
{
	struct vttm_display second;
	uint32_t handle, fb;

	vttm_display_open(&second);
	handle = vttm_create(second.fd, SIZE, DRM_VTTM_DOMAIN_GTT, 0);
	fb = vttm_fb_create(second.fd, handle);
	vttm_display_on(&second, fb);
	igt_assert_eq(__vttm_flip(&second, fb, DRM_MODE_ATOMIC_NONBLOCK), 0);
	vttm_display_close(&second);
	vttm_assert_pinned(other, 0);
	vttm_assert_idle();
}

int igt_main()
{
	struct vttm_display display = { .fd = -1 };
	int fd = -1;

	igt_fixture() {
		fd = vttm_open_small(VRAM);
		vttm_one_cpu_on_um();
	}

	igt_describe("Closing the file takes its picture off the screen");
	igt_subtest("file-closed")
		test_file_closed(fd);

	igt_fixture()
		vttm_display_open(&display);

	igt_describe("A framebuffer in GTT moves to video memory");
	igt_subtest("moves-to-vram")
		test_moves_to_vram(&display);
	igt_describe("A flip brings back what was evicted, contents and all");
	igt_subtest("evicted")
		test_evicted(&display);
	igt_describe("What is shown stays under pressure");
	igt_subtest("stays")
		test_stays(&display);
	igt_describe("-ENOMEM if there is no range that is large enough");
	igt_subtest("no-room")
		test_no_room(&display);
	igt_describe("Imported memory is refused");
	igt_subtest("import")
		test_import(&display);
	igt_describe("Framebuffers keep the device as it is");
	igt_subtest("reset")
		test_reset(&display);
	igt_describe("A device without contents puts them where they would be shown");
	igt_subtest("no-contents")
		test_no_contents(&display);

	igt_fixture() {
		vttm_display_close(&display);
		close(fd);
		vttm_assert_idle();
	}
}
