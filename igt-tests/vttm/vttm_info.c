// SPDX-License-Identifier: MIT
/*
 * Queries, labels, and what holds for every ioctl: the size of its argument,
 * files of another kind, pointers to nowhere.
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "igt.h"
#include "igt_vttm.h"

IGT_TEST_DESCRIPTION("Queries of a vttm device, and arguments that no ioctl accepts");

static const struct {
	const char *name;
	unsigned long request;
} calls[] = {
	{ "get-info", DRM_IOCTL_VTTM_GET_INFO },
	{ "gem-create", DRM_IOCTL_VTTM_GEM_CREATE },
	{ "gem-mmap", DRM_IOCTL_VTTM_GEM_MMAP },
	{ "gem-info", DRM_IOCTL_VTTM_GEM_INFO },
	{ "gem-set-priority", DRM_IOCTL_VTTM_GEM_SET_PRIORITY },
	{ "submit", DRM_IOCTL_VTTM_SUBMIT },
	{ "wait", DRM_IOCTL_VTTM_WAIT },
	{ "pin", DRM_IOCTL_VTTM_PIN },
	{ "vm-set-label", DRM_IOCTL_VTTM_VM_SET_LABEL },
	{ "lab", DRM_IOCTL_VTTM_LAB },
	{ "vm-get-state", DRM_IOCTL_VTTM_VM_GET_STATE },
};

static void test_info(int fd)
{
	struct drm_vttm_get_info before = vttm_info(fd), after;
	uint32_t vram, gtt;

	igt_assert_eq_u64(before.vram_size % VTTM_PAGE, 0);
	igt_assert_lte_u64(1, before.vram_size);
	igt_assert_lte_u64(1, before.gtt_size);
	igt_assert_eq_u64(before.vram_usage, 0);
	igt_assert_eq_u64(before.gtt_usage, 0);

	vram = vttm_create(fd, VTTM_MIB, DRM_VTTM_DOMAIN_VRAM, 0);
	gtt = vttm_create(fd, 2 * VTTM_MIB, DRM_VTTM_DOMAIN_GTT, 0);
	vttm_wait(fd, vttm_submit(fd, (uint32_t[]){ vram, gtt }, 2));
	after = vttm_info(fd);
	igt_assert_eq_u64(after.vram_usage, VTTM_MIB);
	igt_assert_eq_u64(after.gtt_usage, 2 * VTTM_MIB);
	igt_assert_eq_u64(after.vram_size, before.vram_size);
	igt_assert_lte_u64(before.clock_ns + 1, after.clock_ns);
	vttm_close(fd, vram);
	vttm_close(fd, gtt);
}

static void test_info_padding(int fd)
{
	struct drm_vttm_get_info info = { .pad = 1 };

	igt_assert_eq(__vttm_ioctl(fd, DRM_IOCTL_VTTM_GET_INFO, &info), -EINVAL);
	/* All the rest is output only. */
	memset(&info, 0xff, sizeof(info));
	info.pad = 0;
	igt_assert_eq(__vttm_ioctl(fd, DRM_IOCTL_VTTM_GET_INFO, &info), 0);
	igt_assert_eq_u64(info.vram_size, vttm_info(fd).vram_size);
}

static void test_label(int fd)
{
	struct drm_vttm_vm_set_label label = { .label = 7 };

	igt_assert_eq(__vttm_ioctl(fd, DRM_IOCTL_VTTM_VM_SET_LABEL, &label), 0);
	label.pad = 1;
	igt_assert_eq(__vttm_ioctl(fd, DRM_IOCTL_VTTM_VM_SET_LABEL, &label), -EINVAL);
	/* Means "no label" in the state. */
	label = (struct drm_vttm_vm_set_label) { .label = ~0u };
	igt_assert_eq(__vttm_ioctl(fd, DRM_IOCTL_VTTM_VM_SET_LABEL, &label), -EINVAL);
}

/* DRM extends a short argument with zeros and ignores the tail of a long one. */
static void test_argument_size(int fd)
{
	struct { struct drm_vttm_get_info info; uint64_t tail; } longer = { .tail = ~0ull };
	const unsigned int nr = DRM_COMMAND_BASE + DRM_VTTM_GET_INFO;
	struct drm_vttm_get_info info;
	uint64_t create = VTTM_PAGE;

	memset(&info, 0x5a, sizeof(info));
	info.vram_size = 0;
	igt_assert_eq(__vttm_ioctl(fd, DRM_IOWR(nr, uint64_t), &info), 0);
	igt_assert_eq_u64(info.vram_size, vttm_info(fd).vram_size);
	igt_assert_eq_u64(info.vram_usage, 0x5a5a5a5a5a5a5a5aull);

	igt_assert_eq(__vttm_ioctl(fd, DRM_IOWR(nr, typeof(longer)), &longer), 0);
	igt_assert_eq_u64(longer.info.vram_size, info.vram_size);
	igt_assert_eq_u64(longer.tail, ~0ull);

	/* A size alone asks for no domain. */
	igt_assert_eq(__vttm_ioctl(fd, DRM_IOWR(DRM_COMMAND_BASE + DRM_VTTM_GEM_CREATE, uint64_t), &create), -EINVAL);
	/* No data at all. */
	igt_assert_eq(__vttm_ioctl(fd, DRM_IO(DRM_COMMAND_BASE + DRM_VTTM_GEM_CREATE), NULL), -EINVAL);
	igt_assert_eq(__vttm_ioctl(fd, DRM_IOWR(DRM_COMMAND_END - 1, uint64_t), &create), -EINVAL);
}

static void test_bad_pointer(int fd, unsigned long request)
{
	void *hole = mmap(NULL, 2 * VTTM_PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	igt_assert(hole != MAP_FAILED);
	igt_assert_eq(munmap(hole + VTTM_PAGE, VTTM_PAGE), 0);
	igt_assert_eq(__vttm_ioctl(fd, request, NULL), -EFAULT);
	igt_assert_eq(__vttm_ioctl(fd, request, (void *)8), -EFAULT);
	/* Begins in memory and ends outside. */
	igt_assert_eq(__vttm_ioctl(fd, request, hole + VTTM_PAGE - 4), -EFAULT);
	munmap(hole, VTTM_PAGE);
}

static void test_wrong_file(unsigned long request)
{
	uint64_t args[32] = {};
	int null = open("/dev/null", O_RDWR);

	igt_assert_fd(null);
	igt_assert_eq(__vttm_ioctl(null, request, args), -ENOTTY);
	close(null);
	igt_assert_eq(__vttm_ioctl(null, request, args), -EBADF);
}

int igt_main()
{
	int fd = -1;
	unsigned int i;

	igt_fixture()
		fd = vttm_open_small(8 * VTTM_MIB);

	igt_describe("Sizes and usage are those of the device");
	igt_subtest("info")
		test_info(fd);
	igt_describe("Padding must be zero, output is not read");
	igt_subtest("info-padding")
		test_info_padding(fd);
	igt_describe("Labels, and what is none");
	igt_subtest("label")
		test_label(fd);
	igt_describe("Arguments shorter and longer than the kernel's");
	igt_subtest("argument-size")
		test_argument_size(fd);

	for (i = 0; i < sizeof(calls) / sizeof(calls[0]); i++) {
		igt_describe("-EFAULT for memory that is not there, even in part");
		igt_subtest_f("bad-pointer-%s", calls[i].name)
			test_bad_pointer(fd, calls[i].request);
		igt_describe("Files that are closed or no DRM files");
		igt_subtest_f("wrong-file-%s", calls[i].name)
			test_wrong_file(calls[i].request);
	}

	igt_fixture() {
		close(fd);
		vttm_assert_idle();
	}
}
