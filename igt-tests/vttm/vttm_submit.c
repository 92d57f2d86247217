// SPDX-License-Identifier: MIT
/* Submissions: lists, touches, refusals, sequence numbers. */
#include <errno.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "igt.h"
#include "igt_vttm.h"

IGT_TEST_DESCRIPTION("Submissions: arrays of every shape, refusals, sequence numbers");

/* A submission of one listed and touched BO, for a refusal to spoil. */
struct job {
	struct drm_vttm_submit args;
	struct drm_vttm_submit_bo bo;
	/* Only the first, unless the other is asked for. */
	struct drm_vttm_submit_touch touch[2];
	uint32_t listed, unlisted, own, foreign;
};

#define SPOIL(name, code) static void name(struct job *j) { code; }
SPOIL(nothing, (void)j)
SPOIL(engine, j->args.engine = 99)
SPOIL(flags, j->args.flags = 1)
SPOIL(bo_flags, j->bo.flags = 1u << 31)
SPOIL(bo_handle, j->bo.handle = VTTM_NO_HANDLE)
SPOIL(bo_handle_zero, j->bo.handle = 0)
SPOIL(bo_private, j->bo.handle = j->own)
SPOIL(bo_count, j->args.bo_count = DRM_VTTM_SUBMIT_MAX + 1)
SPOIL(bo_count_all_ones, j->args.bo_count = ~0u)
SPOIL(bo_pointer, j->args.bos = 8)
SPOIL(bo_pointer_kernel, j->args.bos = ~0ull << 12)
SPOIL(bo_pointer_end, (j->args.bos = ~0ull - 7, j->args.bo_count = 1u << 19))
SPOIL(bo_stride_zero, j->args.bo_stride = 0)
SPOIL(bo_stride_short, j->args.bo_stride = 4)
SPOIL(bo_stride_odd, j->args.bo_stride = 12)
SPOIL(bo_stride_huge, j->args.bo_stride = ~0u & ~7u)
SPOIL(touch_padding, j->touch[0].pad = 1)
SPOIL(touch_handle, j->touch[0].handle = VTTM_NO_HANDLE)
SPOIL(touch_unlisted, j->touch[0].handle = j->unlisted)
SPOIL(touch_foreign, j->touch[0].handle = j->foreign)
SPOIL(touch_count, j->args.touch_count = DRM_VTTM_SUBMIT_MAX + 1)
SPOIL(touch_pointer, j->args.touches = 8)
SPOIL(touch_stride_zero, j->args.touch_stride = 0)
SPOIL(touch_stride_short, j->args.touch_stride = sizeof(j->touch[0]) - 8)
SPOIL(touch_stride_odd, j->args.touch_stride = sizeof(j->touch[0]) + 4)
SPOIL(touch_bytes, (j->touch[0].vram_bytes = ~0ull, j->touch[1] = j->touch[0], j->args.touch_count = 2))
SPOIL(link_bytes_in_vram, j->touch[0].link_bytes = ~0ull)
SPOIL(touch_private, j->touch[0].handle = j->own)
SPOIL(compute, j->args.compute_ns = ~0ull)
SPOIL(empty, (j->args.bo_count = 0, j->args.touch_count = 0, j->args.bos = 8, j->args.touches = 8))

static const struct {
	const char *name;
	void (*spoil)(struct job *job);
	int error;
} refusals[] = {
	{ "nothing-wrong", nothing, 0 },
	{ "empty-lists-have-no-pointer", empty, 0 },
	{ "touch-private", touch_private, 0 },
	{ "link-bytes-of-bo-in-vram", link_bytes_in_vram, 0 },
	{ "engine", engine, -EINVAL },
	{ "flags", flags, -EINVAL },
	{ "bo-flags", bo_flags, -EINVAL },
	{ "bo-handle", bo_handle, -ENOENT },
	{ "bo-handle-zero", bo_handle_zero, -ENOENT },
	{ "bo-private", bo_private, -EINVAL },
	{ "bo-count", bo_count, -EINVAL },
	{ "bo-count-all-ones", bo_count_all_ones, -EINVAL },
	{ "bo-pointer", bo_pointer, -EFAULT },
	{ "bo-pointer-kernel", bo_pointer_kernel, -EFAULT },
	{ "bo-pointer-wraps", bo_pointer_end, -EFAULT },
	{ "bo-stride-zero", bo_stride_zero, -EINVAL },
	{ "bo-stride-short", bo_stride_short, -EINVAL },
	{ "bo-stride-odd", bo_stride_odd, -EINVAL },
	{ "bo-stride-huge", bo_stride_huge, -E2BIG },
	{ "touch-padding", touch_padding, -EINVAL },
	{ "touch-handle", touch_handle, -ENOENT },
	{ "touch-unlisted", touch_unlisted, -EINVAL },
	{ "touch-foreign", touch_foreign, -ENOENT },
	{ "touch-count", touch_count, -EINVAL },
	{ "touch-pointer", touch_pointer, -EFAULT },
	{ "touch-stride-zero", touch_stride_zero, -EINVAL },
	{ "touch-stride-short", touch_stride_short, -EINVAL },
	{ "touch-stride-odd", touch_stride_odd, -EINVAL },
	{ "touch-bytes-overflow", touch_bytes, -EINVAL },
	{ "compute-of-ages", compute, -EINVAL },
};

static void test_refusal(int fd, void (*spoil)(struct job *), int error)
{
	struct job job = {
		.args = {
			.bo_count = 1,
			.bo_stride = sizeof(job.bo),
			.touch_count = 1,
			.touch_stride = sizeof(job.touch[0]),
			.compute_ns = 1000,
		},
		.listed = vttm_create(fd, VTTM_PAGE, DRM_VTTM_DOMAIN_VRAM, 0),
		.unlisted = vttm_create(fd, VTTM_PAGE, DRM_VTTM_DOMAIN_VRAM, 0),
		.own = vttm_create(fd, VTTM_PAGE, DRM_VTTM_DOMAIN_VRAM, DRM_VTTM_GEM_VM_PRIVATE),
	};
	uint64_t before = vttm_submit(fd, NULL, 0), after;
	int other = vttm_open(), i;

	/* A handle that only the other file has. */
	for (i = 0; i < 64; i++)
		job.foreign = vttm_create(other, VTTM_PAGE, DRM_VTTM_DOMAIN_GTT, 0);
	job.args.bos = (uintptr_t)&job.bo;
	job.args.touches = (uintptr_t)job.touch;
	job.bo.handle = job.listed;
	job.touch[0] = (struct drm_vttm_submit_touch) { .handle = job.listed, .vram_bytes = 4096, .link_bytes = 4096 };
	vttm_wait(fd, vttm_submit(fd, &job.listed, 1));
	before++;

	spoil(&job);
	igt_assert_eq(__vttm_ioctl(fd, DRM_IOCTL_VTTM_SUBMIT, &job.args), error);
	igt_assert_eq_u64(job.args.seqno, error ? 0 : before + 1);

	/* What is refused has no number, and the file goes on. */
	after = vttm_submit(fd, &job.listed, 1);
	igt_assert_eq_u64(after, before + 1 + !error);
	vttm_wait(fd, after);
	vttm_close(fd, job.listed);
	vttm_close(fd, job.unlisted);
	vttm_close(fd, job.own);
	close(other);
}

/* Elements may be larger than the kernel knows if the rest is zero. */
static void test_stride(int fd, uint32_t stride)
{
	uint32_t handle = vttm_create(fd, VTTM_PAGE, DRM_VTTM_DOMAIN_VRAM, 0);
	uint8_t *bos = calloc(3, stride), *touches = calloc(3, stride);
	struct drm_vttm_submit args = {
		.bos = (uintptr_t)bos, .bo_count = 3, .bo_stride = stride,
		.touches = (uintptr_t)touches, .touch_count = 3, .touch_stride = stride,
	};
	int i;

	for (i = 0; i < 3; i++) {
		((struct drm_vttm_submit_bo *)(bos + i * stride))->handle = handle;
		((struct drm_vttm_submit_touch *)(touches + i * stride))->handle = handle;
	}
	igt_assert_eq(__vttm_ioctl(fd, DRM_IOCTL_VTTM_SUBMIT, &args), 0);
	if (stride > sizeof(struct drm_vttm_submit_touch)) {
		bos[3 * stride - 1] = 1;
		igt_assert_eq(__vttm_ioctl(fd, DRM_IOCTL_VTTM_SUBMIT, &args), -E2BIG);
		bos[3 * stride - 1] = 0;
		touches[2 * stride - 1] = 1;
		igt_assert_eq(__vttm_ioctl(fd, DRM_IOCTL_VTTM_SUBMIT, &args), -E2BIG);
	}
	vttm_close(fd, handle);
	free(touches);
	free(bos);
}

static void test_long_list(int fd, bool distinct)
{
	const uint32_t count = distinct ? 2000 : 100000;
	uint32_t *handles = calloc(count, sizeof(*handles)), i;

	for (i = 0; i < count; i++)
		handles[i] = distinct || !i ? vttm_create(fd, VTTM_PAGE, DRM_VTTM_DOMAIN_VRAM, 0) : handles[0];
	vttm_wait(fd, vttm_submit(fd, handles, count));
	/* The last one is wrong, after all that work. */
	handles[count - 1] = VTTM_NO_HANDLE;
	igt_assert_eq(__vttm_submit(fd, handles, count, &(uint64_t){ 0 }), -ENOENT);
	free(handles);
}

static void test_seqno(int fd)
{
	int other = vttm_open();
	uint64_t first = vttm_submit(fd, NULL, 0), i;

	for (i = 1; i <= 100; i++) {
		igt_assert_eq_u64(vttm_submit(fd, NULL, 0), first + i);
		igt_assert_eq_u64(vttm_submit(other, NULL, 0), i);
	}
	vttm_wait(fd, first + 100);
	/* All before it, too. */
	for (i = 0; i <= 100; i++)
		igt_assert_eq(__vttm_wait(fd, first + i, 0), 0);
	close(other);
}

/* Never more than there is, whatever is asked for. */
static void test_does_not_fit(int fd)
{
	const uint64_t size = vttm_info(fd).vram_size;
	struct drm_vttm_gem_create args = {
		.size = size / 2 + VTTM_MIB,
		.preferred_domains = DRM_VTTM_DOMAIN_VRAM,
		.allowed_domains = DRM_VTTM_DOMAIN_VRAM,
	};
	uint32_t handles[2];
	uint64_t seqno;
	int i;

	for (i = 0; i < 2; i++) {
		args.handle = 0;
		igt_assert_eq(__vttm_ioctl(fd, DRM_IOCTL_VTTM_GEM_CREATE, &args), 0);
		handles[i] = args.handle;
	}
	for (i = 0; i < 3; i++) {
		igt_assert_eq(__vttm_submit(fd, handles, 2, &seqno), -ENOMEM);
		vttm_wait(fd, vttm_submit(fd, &handles[i % 2], 1));
		igt_assert_eq_u32(vttm_domain(fd, handles[i % 2]), DRM_VTTM_DOMAIN_VRAM);
	}
	vttm_close(fd, handles[0]);
	vttm_close(fd, handles[1]);
}

int igt_main()
{
	static const uint32_t strides[] = { 24, 32, 40, 256, 4096 };
	int fd = -1;
	unsigned int i;

	igt_fixture()
		fd = vttm_open_small(8 * VTTM_MIB);

	for (i = 0; i < sizeof(refusals) / sizeof(refusals[0]); i++) {
		igt_describe("One thing wrong: the documented error, no sequence number, nothing left of it");
		igt_subtest_f("%s-%s", refusals[i].error ? "refuse" : "accept", refusals[i].name)
			test_refusal(fd, refusals[i].spoil, refusals[i].error);
	}
	for (i = 0; i < sizeof(strides) / sizeof(strides[0]); i++) {
		igt_describe("Elements that are larger than the kernel's");
		igt_subtest_f("stride-%u", strides[i])
			test_stride(fd, strides[i]);
	}
	igt_describe("2,000 BOs in one list");
	igt_subtest("long-list")
		test_long_list(fd, true);
	igt_describe("One BO 100,000 times in one list");
	igt_subtest("long-list-of-duplicates")
		test_long_list(fd, false);
	igt_describe("Sequence numbers are a file's, without gaps and in order");
	igt_subtest("seqno")
		test_seqno(fd);
	igt_describe("-ENOMEM for two BOs of which each fits alone");
	igt_subtest("does-not-fit")
		test_does_not_fit(fd);

	igt_fixture() {
		close(fd);
		vttm_assert_idle();
	}
}
