// SPDX-License-Identifier: MIT
/* CPU access to BOs. */
#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "igt.h"
#include "igt_vttm.h"

IGT_TEST_DESCRIPTION("CPU mappings of BOs: who may, where to, and after evictions");

#define SIZE (64 * 1024ull)

static sigjmp_buf on_sigbus;

static void sigbus_handler(int number)
{
	siglongjmp(on_sigbus, 1);
}

static bool faults(volatile uint32_t *word)
{
	struct sigaction action = { .sa_handler = sigbus_handler }, old;
	bool faulted;

	sigaction(SIGBUS, &action, &old);
	faulted = sigsetjmp(on_sigbus, 1);
	if (!faulted)
		(void)*word;
	sigaction(SIGBUS, &old, NULL);
	return faulted;
}

static uint64_t offset_of(int fd, uint32_t handle)
{
	struct drm_vttm_gem_mmap args = { .handle = handle };

	igt_assert_eq(__vttm_ioctl(fd, DRM_IOCTL_VTTM_GEM_MMAP, &args), 0);
	igt_assert_eq_u64(args.offset % VTTM_PAGE, 0);
	return args.offset;
}

static int map_error(int fd, uint64_t offset, uint64_t size)
{
	void *ptr = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, offset);

	if (ptr == MAP_FAILED)
		return -errno;
	munmap(ptr, size);
	return 0;
}

static void test_refusals(int fd)
{
	uint32_t handle = vttm_create(fd, SIZE, DRM_VTTM_DOMAIN_VRAM, 0);
	struct drm_vttm_gem_mmap args = { .handle = handle, .pad = 1 };
	uint64_t offset = offset_of(fd, handle);
	int other = vttm_open();

	igt_assert_eq(__vttm_ioctl(fd, DRM_IOCTL_VTTM_GEM_MMAP, &args), -EINVAL);
	args = (struct drm_vttm_gem_mmap) { .handle = VTTM_NO_HANDLE };
	igt_assert_eq(__vttm_ioctl(fd, DRM_IOCTL_VTTM_GEM_MMAP, &args), -ENOENT);

	igt_assert_eq(map_error(fd, offset, SIZE), 0);
	igt_assert_eq(map_error(fd, offset, SIZE + VTTM_PAGE), -EINVAL);
	/* Offsets are the device's, the right to use them is a file's. */
	igt_assert_eq(map_error(other, offset, SIZE), -EACCES);
	vttm_close(fd, handle);
	igt_assert(map_error(fd, offset, SIZE) < 0);
	igt_assert(map_error(fd, 0, SIZE) < 0);
	close(other);
}

/* The mapping keeps the memory, whatever becomes of handle and file. */
static void test_outlives(int fd)
{
	int other = vttm_open();
	uint32_t handle = vttm_create(other, SIZE, DRM_VTTM_DOMAIN_VRAM, 0);
	uint32_t *ptr = vttm_map(other, handle, SIZE);

	vttm_fill(ptr, SIZE, 1);
	vttm_close(other, handle);
	igt_assert_eq(vttm_first_wrong(ptr, SIZE, 1), -1);
	close(other);
	igt_assert_eq(vttm_first_wrong(ptr, SIZE, 1), -1);
	igt_assert_eq(__vttm_lab(fd, DRM_VTTM_LAB_EVICT_ALL, 0, NULL), 0);
	igt_assert_eq(vttm_first_wrong(ptr, SIZE, 1), -1);
	munmap(ptr, SIZE);
}

static void test_follows_evictions(int fd)
{
	uint32_t handle = vttm_create(fd, SIZE, DRM_VTTM_DOMAIN_VRAM, 0);
	uint32_t *ptr = vttm_map(fd, handle, SIZE);
	int i;

	for (i = 0; i < 20; i++) {
		vttm_fill(ptr, SIZE, i);
		igt_assert_eq(__vttm_lab(fd, DRM_VTTM_LAB_EVICT_ALL, 0, NULL), 0);
		igt_assert_eq_u32(vttm_domain(fd, handle), DRM_VTTM_DOMAIN_GTT);
		igt_assert_eq(vttm_first_wrong(ptr, SIZE, i), -1);
		vttm_fill(ptr, SIZE, i + 1000);
		vttm_wait(fd, vttm_submit(fd, &handle, 1));
		igt_assert_eq_u32(vttm_domain(fd, handle), DRM_VTTM_DOMAIN_VRAM);
		igt_assert_eq(vttm_first_wrong(ptr, SIZE, i + 1000), -1);
	}
	munmap(ptr, SIZE);
	vttm_close(fd, handle);
}

/* Memory that was never written to, in a part of the BO that was never touched. */
static void test_sparse(int fd)
{
	const uint64_t size = 4 * VTTM_MIB;
	uint32_t handle = vttm_create(fd, size, DRM_VTTM_DOMAIN_VRAM, 0);
	uint32_t *ptr = vttm_map(fd, handle, size);

	ptr[size / 8] = 1;
	igt_assert_eq(__vttm_lab(fd, DRM_VTTM_LAB_EVICT_ALL, 0, NULL), 0);
	igt_assert_eq_u32(ptr[size / 8], 1);
	ptr[size / 8] = 0;
	igt_assert_eq(vttm_first_nonzero(ptr, size), -1);
	munmap(ptr, size);
	vttm_close(fd, handle);
}

static void test_no_contents(int fd)
{
	struct drm_vttm_lab_config config = vttm_config(8 * VTTM_MIB), old = config;
	struct drm_vttm_gem_mmap args = {};

	config.flags = DRM_VTTM_LAB_CONFIG_NO_CONTENTS;
	igt_assert_eq(__vttm_reset(fd, &config), 0);
	args.handle = vttm_create(fd, SIZE, DRM_VTTM_DOMAIN_VRAM, 0);
	igt_assert_eq(__vttm_ioctl(fd, DRM_IOCTL_VTTM_GEM_MMAP, &args), -EOPNOTSUPP);
	vttm_close(fd, args.handle);
	igt_assert_eq(__vttm_reset(fd, &old), 0);
}

/* A file of the device is no window to the BO of somebody who may have it mapped at the same place. */
static void test_children(int fd)
{
	uint32_t handle = vttm_create(fd, SIZE, DRM_VTTM_DOMAIN_GTT, 0);
	uint32_t *ptr = vttm_map(fd, handle, SIZE);

	vttm_fill(ptr, SIZE, 5);
	igt_fork(child, 2) {
		igt_assert_eq(vttm_first_wrong(ptr, SIZE, 5), -1);
		igt_assert_eq(munmap(ptr, SIZE / 2), 0);
		igt_assert(!faults(ptr + SIZE / 8));
		igt_assert(!faults(ptr + SIZE / 4 - 1));
	}
	igt_waitchildren();
	igt_assert_eq(vttm_first_wrong(ptr, SIZE, 5), -1);
	munmap(ptr, SIZE);
	vttm_close(fd, handle);
}

int igt_main()
{
	int fd = -1;

	igt_fixture()
		fd = vttm_open_small(8 * VTTM_MIB);

	igt_describe("Offsets that are not the caller's, sizes that are too large");
	igt_subtest("refusals")
		test_refusals(fd);
	igt_describe("Mappings outlive handle and file");
	igt_subtest("outlives")
		test_outlives(fd);
	igt_describe("Mappings follow the BO from domain to domain");
	igt_subtest("follows-evictions")
		test_follows_evictions(fd);
	igt_describe("What was never written reads zero after a move, too");
	igt_subtest("sparse")
		test_sparse(fd);
	igt_describe("Mappings are inherited, and unmapped in part");
	igt_subtest("children")
		test_children(fd);
	igt_describe("A device without contents has nothing to map");
	igt_subtest("no-contents")
		test_no_contents(fd);

	igt_fixture() {
		close(fd);
		vttm_assert_idle();
	}
}
