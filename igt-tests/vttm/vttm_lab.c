// SPDX-License-Identifier: MIT
/* Laboratory control: privilege, refusals, resets, evictions on demand. */
#include <errno.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "igt.h"
#include "igt_vttm.h"

IGT_TEST_DESCRIPTION("Laboratory control: who may, when, and what it refuses");

#define LAST_OP DRM_VTTM_LAB_SET_JOB_TIMEOUT

static const struct {
	const char *name;
	struct drm_vttm_lab_config config;
} bad_configs[] = {
#define GOOD .vram_size = 8 << 20, .gtt_size = 64 << 20, .vram_bandwidth = 1 << 30, .link_bandwidth = 1 << 30
	{ "all-zero", {} },
	{ "no-vram", { GOOD, .vram_size = 0 } },
	{ "vram-not-of-pages", { GOOD, .vram_size = 4097 } },
	{ "vram-without-end", { GOOD, .vram_size = ~0ull << 12 } },
	{ "no-gtt", { GOOD, .gtt_size = 0 } },
	{ "gtt-not-of-pages", { GOOD, .gtt_size = 4095 } },
	{ "gtt-without-end", { GOOD, .gtt_size = ~0ull << 12 } },
	{ "no-vram-bandwidth", { GOOD, .vram_bandwidth = 0 } },
	{ "vram-bandwidth-without-end", { GOOD, .vram_bandwidth = ~0ull } },
	{ "no-link-bandwidth", { GOOD, .link_bandwidth = 0 } },
	{ "link-bandwidth-without-end", { GOOD, .link_bandwidth = ~0ull } },
	{ "latency-without-end", { GOOD, .copy_latency_ns = ~0ull } },
	{ "budget-without-end", { GOOD, .log2_max_mbps = ~0u } },
	{ "next-flag", { GOOD, .flags = 1u << 3 } },
	{ "unknown-flag", { GOOD, .flags = 1u << 31 } },
};

static void test_privilege(int fd)
{
	igt_fork(child, 1) {
		struct drm_vttm_lab_config config = vttm_config(8 * VTTM_MIB);
		uint32_t op, handle;

		igt_assert_eq(setresgid(65534, 65534, 65534), 0);
		igt_assert_eq(setresuid(65534, 65534, 65534), 0);
		for (op = 0; op <= LAST_OP + 1; op++)
			igt_assert_eq(__vttm_lab(fd, op, 0, op ? NULL : &config), -EACCES);
		/* Everything else is for everybody. */
		handle = vttm_create(fd, VTTM_PAGE, DRM_VTTM_DOMAIN_VRAM, 0);
		vttm_wait(fd, vttm_submit(fd, &handle, 1));
		vttm_close(fd, handle);
	}
	igt_waitchildren();
}

static void test_ops(int fd)
{
	uint64_t dummy[4] = {};
	uint32_t op;

	igt_assert_eq(__vttm_lab(fd, 9999, 0, NULL), -EINVAL);
	igt_assert_eq(__vttm_lab(fd, ~0u, 0, NULL), -EINVAL);
	/* A pointer where none belongs. */
	for (op = DRM_VTTM_LAB_RESET + 1; op < DRM_VTTM_LAB_EVENTS; op++)
		igt_assert_eq(__vttm_lab(fd, op, 0, dummy), -EINVAL);
	igt_assert_eq(__vttm_lab(fd, DRM_VTTM_LAB_RESET, 0, NULL), -EFAULT);
	igt_assert_eq(__vttm_lab(fd, DRM_VTTM_LAB_RESET, 0, (void *)8), -EFAULT);
	/* Tasks that do not exist, a clock that is real. */
	igt_assert_eq(__vttm_lab(fd, DRM_VTTM_LAB_ADVANCE, ~0ull, NULL), -EINVAL);
	igt_assert_eq(__vttm_lab(fd, DRM_VTTM_LAB_TASK, 1ull << 32, NULL), -EINVAL);
	igt_assert_eq(__vttm_lab(fd, DRM_VTTM_LAB_BEGIN, 1, NULL), -EINVAL);
	igt_assert_eq(__vttm_lab(fd, DRM_VTTM_LAB_END, 0, NULL), -EINVAL);
	igt_assert_eq(__vttm_lab(fd, DRM_VTTM_LAB_STEP, 1, NULL), -ENOENT);
	igt_assert_eq(__vttm_lab(fd, DRM_VTTM_LAB_STATE, 1, NULL), -ENOENT);
	igt_assert_eq(__vttm_lab(fd, DRM_VTTM_LAB_SETTLE, 0, NULL), 0);
}

/* A device that cannot be is refused, and the old one is still there. */
static void test_bad_config(int fd, const struct drm_vttm_lab_config *config)
{
	struct drm_vttm_get_info before = vttm_info(fd), after;

	igt_assert_eq(__vttm_reset(fd, config), -EINVAL);
	after = vttm_info(fd);
	igt_assert_eq_u64(after.vram_size, before.vram_size);
	igt_assert_eq_u64(after.gtt_size, before.gtt_size);
}

static void test_reset(int fd)
{
	struct drm_vttm_lab_config config = vttm_config(4 * VTTM_MIB), old = vttm_config(8 * VTTM_MIB);
	uint32_t handle = vttm_create(fd, VTTM_MIB, DRM_VTTM_DOMAIN_VRAM, 0);
	uint32_t *ptr = vttm_map(fd, handle, VTTM_MIB);

	vttm_fill(ptr, VTTM_MIB, 1);
	igt_assert_eq(__vttm_reset(fd, &config), -EBUSY);
	igt_assert_eq(vttm_first_wrong(ptr, VTTM_MIB, 1), -1);
	munmap(ptr, VTTM_MIB);
	vttm_close(fd, handle);

	igt_assert_eq(__vttm_reset(fd, &config), 0);
	igt_assert_eq_u64(vttm_info(fd).vram_size, 4 * VTTM_MIB);
	igt_assert_eq_u64(vttm_info(fd).evictions, 0);
	/* Nothing of the old device's memory is in the new one. */
	handle = vttm_create(fd, 4 * VTTM_MIB, DRM_VTTM_DOMAIN_VRAM, 0);
	ptr = vttm_map(fd, handle, 4 * VTTM_MIB);
	igt_assert_eq(vttm_first_nonzero(ptr, 4 * VTTM_MIB), -1);
	munmap(ptr, 4 * VTTM_MIB);
	vttm_close(fd, handle);
	igt_assert_eq(__vttm_reset(fd, &old), 0);
}

static void test_virtual_clock(int fd)
{
	struct drm_vttm_lab_config config = vttm_config(8 * VTTM_MIB), old = config;
	uint64_t seqno;
	int ret;

	config.flags = DRM_VTTM_LAB_CONFIG_VIRTUAL_CLOCK;
	ret = __vttm_reset(fd, &config);
	igt_require_f(ret != -EOPNOTSUPP, "a kernel without DMA_LAB\n");
	igt_assert_eq(ret, 0);
	igt_assert_eq_u64(vttm_info(fd).clock_ns, 0);
	igt_assert_eq(__vttm_lab(fd, DRM_VTTM_LAB_ADVANCE, 1000, NULL), 0);
	igt_assert_eq(__vttm_lab(fd, DRM_VTTM_LAB_ADVANCE, 999, NULL), -EINVAL);
	igt_assert_eq_u64(vttm_info(fd).clock_ns, 1000);

	/* A job of a microsecond ends when time has come that far, or somebody waits. */
	seqno = vttm_submit(fd, NULL, 0);
	igt_assert_eq(__vttm_wait(fd, seqno, 0), -ETIME);
	igt_assert_eq(__vttm_lab(fd, DRM_VTTM_LAB_ADVANCE, 1999, NULL), 0);
	igt_assert_eq(__vttm_wait(fd, seqno, 0), -ETIME);
	igt_assert_eq(__vttm_lab(fd, DRM_VTTM_LAB_ADVANCE, 2000, NULL), 0);
	igt_assert_eq(__vttm_wait(fd, seqno, 0), 0);
	seqno = vttm_submit(fd, NULL, 0);
	vttm_wait(fd, seqno);
	igt_assert_eq_u64(vttm_info(fd).clock_ns, 3000);
	igt_assert_eq(__vttm_reset(fd, &old), 0);
}

static void test_evict_all(int fd)
{
	uint32_t handles[6];
	int i;

	for (i = 0; i < 6; i++)
		handles[i] = vttm_create(fd, VTTM_MIB, DRM_VTTM_DOMAIN_VRAM, i % 2 ? DRM_VTTM_GEM_VM_PRIVATE : 0);
	igt_assert_eq_u64(vttm_info(fd).vram_usage, 6 * VTTM_MIB);
	igt_assert_eq(__vttm_lab(fd, DRM_VTTM_LAB_EVICT_ALL, 0, NULL), 0);
	igt_assert_eq_u64(vttm_info(fd).vram_usage, 0);
	igt_assert_eq_u64(vttm_info(fd).gtt_usage, 6 * VTTM_MIB);
	for (i = 0; i < 6; i++)
		vttm_close(fd, handles[i]);
}

static void test_swapout(int fd)
{
	const uint64_t size = VTTM_MIB;
	uint32_t handle = vttm_create(fd, size, DRM_VTTM_DOMAIN_GTT, 0);
	uint32_t *ptr = vttm_map(fd, handle, size);
	int i;

	for (i = 0; i < 5; i++) {
		vttm_fill(ptr, size, i);
		igt_assert_eq(__vttm_lab(fd, DRM_VTTM_LAB_SWAPOUT, 0, NULL), 0);
		igt_assert_eq(vttm_first_wrong(ptr, size, i), -1);
	}
	munmap(ptr, size);
	vttm_close(fd, handle);
}

static void test_events(int fd)
{
	static struct drm_vttm_event events[512];
	struct drm_vttm_lab args = { .op = DRM_VTTM_LAB_EVENTS, .value = 512, .ptr = (uintptr_t)events };
	struct drm_vttm_gem_create create = { .size = VTTM_MIB, .tag = 77, .preferred_domains = DRM_VTTM_DOMAIN_VRAM };
	bool moved = false;
	uint64_t i;

	igt_assert_eq(__vttm_ioctl(fd, DRM_IOCTL_VTTM_GEM_CREATE, &create), 0);
	igt_assert_eq(__vttm_lab(fd, DRM_VTTM_LAB_EVICT_ALL, 0, NULL), 0);
	vttm_close(fd, create.handle);
	do {
		args.value = 512;
		igt_assert_eq(__vttm_ioctl(fd, DRM_IOCTL_VTTM_LAB, &args), 0);
		igt_assert_lte_u64(args.value, 512);
		for (i = 0; i < args.value; i++)
			moved |= events[i].type == DRM_VTTM_EVENT_MOVE && events[i].tag == 77 && events[i].evict &&
				 events[i].bytes == VTTM_MIB && events[i].to == DRM_VTTM_DOMAIN_GTT;
	} while (args.value);
	igt_assert(moved);

	create.handle = 0;
	igt_assert_eq(__vttm_ioctl(fd, DRM_IOCTL_VTTM_GEM_CREATE, &create), 0);
	vttm_close(fd, create.handle);
	args.value = ~0ull;
	args.ptr = 8;
	igt_assert_eq(__vttm_ioctl(fd, DRM_IOCTL_VTTM_LAB, &args), -EFAULT);
}

int igt_main()
{
	int fd = -1;
	unsigned int i;

	igt_fixture()
		fd = vttm_open_small(8 * VTTM_MIB);

	igt_describe("Control is for CAP_SYS_ADMIN alone");
	igt_subtest("privilege")
		test_privilege(fd);
	igt_describe("Operations that do not exist or make no sense now");
	igt_subtest("ops")
		test_ops(fd);
	for (i = 0; i < sizeof(bad_configs) / sizeof(bad_configs[0]); i++) {
		igt_describe("A device that cannot be");
		igt_subtest_f("reset-%s", bad_configs[i].name)
			test_bad_config(fd, &bad_configs[i].config);
	}
	igt_describe("-EBUSY while a BO exists, then another device without old contents");
	igt_subtest("reset")
		test_reset(fd);
	igt_describe("Time moves when it is told to, or waited for");
	igt_subtest("virtual-clock")
		test_virtual_clock(fd);
	igt_describe("All of VRAM goes to GTT");
	igt_subtest("evict-all")
		test_evict_all(fd);
	igt_describe("Contents come back from swap");
	igt_subtest("swapout")
		test_swapout(fd);
	igt_describe("The event log tells of an eviction");
	igt_subtest("events")
		test_events(fd);

	igt_fixture() {
		close(fd);
		vttm_assert_idle();
	}
}
