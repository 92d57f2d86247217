// SPDX-License-Identifier: MIT
/* Pins for scanout. */
#include <errno.h>
#include <sys/mman.h>
#include <unistd.h>

#include "igt.h"
#include "igt_vttm.h"

IGT_TEST_DESCRIPTION("Pins: counting, refusals, what they displace, and when they end");

static void test_counting(int fd)
{
	uint32_t handle = vttm_create(fd, VTTM_MIB, DRM_VTTM_DOMAIN_GTT, 0);
	int i;

	igt_assert_eq(__vttm_pin(fd, handle, DRM_VTTM_PIN_UNPIN), -EINVAL);
	for (i = 1; i <= 5; i++) {
		igt_assert_eq(__vttm_pin(fd, handle, 0), 0);
		igt_assert_eq_u32(vttm_bo_info(fd, handle).pin_count, i);
		igt_assert_eq_u32(vttm_domain(fd, handle), DRM_VTTM_DOMAIN_VRAM);
		/* Once, however often it is pinned. */
		igt_assert_eq_u64(vttm_info(fd).vram_pinned, VTTM_MIB);
	}
	for (i = 4; i >= 0; i--) {
		igt_assert_eq(__vttm_pin(fd, handle, DRM_VTTM_PIN_UNPIN), 0);
		igt_assert_eq_u32(vttm_bo_info(fd, handle).pin_count, i);
		igt_assert_eq_u64(vttm_info(fd).vram_pinned, i ? VTTM_MIB : 0);
	}
	igt_assert_eq(__vttm_pin(fd, handle, DRM_VTTM_PIN_UNPIN), -EINVAL);
	vttm_close(fd, handle);
}

static void test_refusals(int fd)
{
	uint32_t handle = vttm_create(fd, VTTM_PAGE, DRM_VTTM_DOMAIN_VRAM, 0);
	int other = vttm_open();

	igt_assert_eq(__vttm_pin(fd, handle, 2), -EINVAL);
	igt_assert_eq(__vttm_pin(fd, handle, ~0u), -EINVAL);
	igt_assert_eq(__vttm_pin(fd, VTTM_NO_HANDLE, 0), -ENOENT);
	igt_assert_eq(__vttm_pin(fd, VTTM_NO_HANDLE, DRM_VTTM_PIN_UNPIN), -ENOENT);
	igt_assert_eq(__vttm_pin(other, handle, 0), -ENOENT);
	igt_assert_eq_u32(vttm_bo_info(fd, handle).pin_count, 0);
	vttm_close(fd, handle);
	close(other);
}

/* What is pinned stays where it is; what else needs VRAM has to do without. */
static void test_stays(int fd)
{
	const uint64_t vram = vttm_info(fd).vram_size, size = VTTM_MIB;
	uint32_t pinned = vttm_create(fd, size, DRM_VTTM_DOMAIN_VRAM, DRM_VTTM_GEM_CONTIGUOUS), handles[32];
	uint32_t *ptr = vttm_map(fd, pinned, size);
	uint64_t i;

	vttm_fill(ptr, size, 3);
	igt_assert_eq(__vttm_pin(fd, pinned, 0), 0);
	for (i = 0; i < 2 * vram / size; i++) {
		handles[i] = vttm_create(fd, size, DRM_VTTM_DOMAIN_VRAM, 0);
		vttm_submit(fd, &handles[i], 1);
		igt_assert_eq_u32(vttm_domain(fd, pinned), DRM_VTTM_DOMAIN_VRAM);
	}
	igt_assert_eq(__vttm_lab(fd, DRM_VTTM_LAB_EVICT_ALL, 0, NULL), 0);
	igt_assert_eq_u32(vttm_domain(fd, pinned), DRM_VTTM_DOMAIN_VRAM);
	igt_assert_eq_u64(vttm_info(fd).vram_usage, size);
	igt_assert_eq(vttm_first_wrong(ptr, size, 3), -1);
	igt_assert_eq(__vttm_pin(fd, pinned, DRM_VTTM_PIN_UNPIN), 0);
	igt_assert_eq(__vttm_lab(fd, DRM_VTTM_LAB_EVICT_ALL, 0, NULL), 0);
	igt_assert_eq_u32(vttm_domain(fd, pinned), DRM_VTTM_DOMAIN_GTT);
	igt_assert_eq(vttm_first_wrong(ptr, size, 3), -1);
	munmap(ptr, size);
	vttm_close(fd, pinned);
	for (i = 0; i < 2 * vram / size; i++)
		vttm_close(fd, handles[i]);
}

static void test_full(int fd)
{
	const uint64_t size = vttm_info(fd).vram_size / 4;
	uint32_t handles[5];
	int i;

	for (i = 0; i < 5; i++)
		handles[i] = vttm_create(fd, size, DRM_VTTM_DOMAIN_VRAM, 0);
	for (i = 0; i < 4; i++)
		igt_assert_eq(__vttm_pin(fd, handles[i], 0), 0);
	igt_assert_eq(__vttm_pin(fd, handles[4], 0), -ENOMEM);
	igt_assert_eq_u32(vttm_bo_info(fd, handles[4]).pin_count, 0);
	igt_assert_eq_u64(vttm_info(fd).vram_pinned, 4 * size);
	/* Submissions go on from GTT. */
	vttm_wait(fd, vttm_submit(fd, handles, 5));
	igt_assert_eq(__vttm_pin(fd, handles[2], DRM_VTTM_PIN_UNPIN), 0);
	igt_assert_eq(__vttm_pin(fd, handles[4], 0), 0);
	for (i = 0; i < 5; i++)
		vttm_close(fd, handles[i]);
	igt_assert_eq_u64(vttm_info(fd).vram_pinned, 0);
}

/* Pins belong to the handle of a file and end with it. */
static void test_ends(int fd)
{
	int other = vttm_open(), i;
	uint32_t handle = vttm_create(other, VTTM_MIB, DRM_VTTM_DOMAIN_VRAM, 0);

	igt_assert_eq(__vttm_pin(other, handle, 0), 0);
	igt_assert_eq(__vttm_pin(other, handle, 0), 0);
	igt_assert_eq_u64(vttm_info(fd).vram_pinned, VTTM_MIB);
	vttm_close(other, handle);
	igt_assert_eq_u64(vttm_info(fd).vram_pinned, 0);

	for (i = 0; i < 4; i++)
		igt_assert_eq(__vttm_pin(other, vttm_create(other, VTTM_MIB, DRM_VTTM_DOMAIN_VRAM, 0), 0), 0);
	igt_assert_eq_u64(vttm_info(fd).vram_pinned, 4 * VTTM_MIB);
	close(other);
	igt_assert_eq_u64(vttm_info(fd).vram_pinned, 0);
}

int igt_main()
{
	int fd = -1;

	igt_fixture()
		fd = vttm_open_small(8 * VTTM_MIB);

	igt_describe("Pins are counted, their memory once");
	igt_subtest("counting")
		test_counting(fd);
	igt_describe("Flags and handles that are refused");
	igt_subtest("refusals")
		test_refusals(fd);
	igt_describe("Pinned BOs keep place and contents under pressure");
	igt_subtest("stays")
		test_stays(fd);
	igt_describe("-ENOMEM when all of VRAM is pinned");
	igt_subtest("full")
		test_full(fd);
	igt_describe("Pins end with handle and file");
	igt_subtest("ends")
		test_ends(fd);

	igt_fixture() {
		close(fd);
		vttm_assert_idle();
	}
}
