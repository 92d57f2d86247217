// SPDX-License-Identifier: MIT
/* Creation of BOs, their priority, and their end. */
#include <errno.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "igt.h"
#include "igt_vttm.h"

IGT_TEST_DESCRIPTION("Creation of BOs: domains, flags, refusals, fresh memory");

#define VRAM	DRM_VTTM_DOMAIN_VRAM
#define GTT	DRM_VTTM_DOMAIN_GTT
#define SYSTEM	DRM_VTTM_DOMAIN_SYSTEM

/* What is wrong with the arguments, and the error for it. */
static const struct {
	const char *name;
	struct drm_vttm_gem_create args;
	int error;
} refusals[] = {
	{ "size-zero", { .size = 0, .preferred_domains = VRAM }, -EINVAL },
	{ "size-not-of-pages", { .size = 4097, .preferred_domains = VRAM }, -EINVAL },
	{ "size-all-ones", { .size = ~0ull, .preferred_domains = VRAM }, -EINVAL },
	{ "size-wraps", { .size = ~0ull << 12, .preferred_domains = GTT }, -ENOMEM },
	{ "size-of-half-the-world", { .size = 1ull << 63, .preferred_domains = VRAM }, -ENOMEM },
	{ "size-of-a-petabyte", { .size = 1ull << 50, .preferred_domains = SYSTEM }, -ENOMEM },
	{ "no-domain", { .size = 4096 }, -EINVAL },
	{ "no-domain-but-allowed", { .size = 4096, .allowed_domains = GTT }, -EINVAL },
	{ "unknown-domain", { .size = 4096, .preferred_domains = 8 }, -EINVAL },
	{ "unknown-allowed-domain", { .size = 4096, .preferred_domains = VRAM, .allowed_domains = VRAM | 1u << 31 }, -EINVAL },
	{ "allowed-not-superset", { .size = 4096, .preferred_domains = VRAM | GTT, .allowed_domains = VRAM }, -EINVAL },
	{ "unknown-flag", { .size = 4096, .preferred_domains = VRAM, .flags = DRM_VTTM_GEM_FLAGS_MASK + 1 }, -EINVAL },
	{ "last-flag", { .size = 4096, .preferred_domains = VRAM, .flags = 1u << 31 }, -EINVAL },
	{ "priority", { .size = 4096, .preferred_domains = VRAM, .priority = DRM_VTTM_PRIORITY_MAX + 1 }, -EINVAL },
	{ "priority-all-ones", { .size = 4096, .preferred_domains = VRAM, .priority = ~0u }, -EINVAL },
	{ "padding", { .size = 4096, .preferred_domains = VRAM, .pad = 1 }, -EINVAL },
};

static void test_refusal(int fd, const struct drm_vttm_gem_create *refused, int error)
{
	struct drm_vttm_gem_create args = *refused;
	uint64_t vram = vttm_info(fd).vram_usage, gtt = vttm_info(fd).gtt_usage;

	igt_assert_eq(__vttm_ioctl(fd, DRM_IOCTL_VTTM_GEM_CREATE, &args), error);
	igt_assert_eq_u32(args.handle, 0);
	igt_assert_eq_u64(vttm_info(fd).vram_usage, vram);
	igt_assert_eq_u64(vttm_info(fd).gtt_usage, gtt);
}

static void test_combinations(int fd)
{
	uint32_t preferred, allowed, flags;

	for (preferred = 1; preferred <= DRM_VTTM_DOMAIN_MASK; preferred++)
		for (allowed = 0; allowed <= DRM_VTTM_DOMAIN_MASK; allowed++)
			for (flags = 0; flags <= DRM_VTTM_GEM_FLAGS_MASK; flags++) {
				struct drm_vttm_gem_create args = {
					.size = 3 * VTTM_PAGE,
					.tag = 0x123456789abcdefull,
					.preferred_domains = preferred,
					.allowed_domains = allowed,
					.flags = flags,
					.priority = flags,
				};
				bool valid = !allowed || !(preferred & ~allowed);
				struct drm_vttm_gem_info info;

				igt_assert_eq(__vttm_ioctl(fd, DRM_IOCTL_VTTM_GEM_CREATE, &args), valid ? 0 : -EINVAL);
				if (!valid)
					continue;
				info = vttm_bo_info(fd, args.handle);
				igt_assert_eq_u64(info.size, args.size);
				igt_assert_eq_u64(info.tag, args.tag);
				igt_assert_eq_u32(info.flags, flags);
				igt_assert_eq_u32(info.priority, flags);
				igt_assert_eq_u32(info.pin_count, 0);
				igt_assert_eq_u32(info.domain & ~preferred & ~(allowed ? allowed : preferred | GTT), 0);
				vttm_close(fd, args.handle);
			}
}

/* Memory that another client has filled, in each domain and on its way between them. */
static void test_fresh_memory(int fd, uint32_t domain, bool evict)
{
	const uint64_t size = 2 * VTTM_MIB;
	int i, round;

	for (round = 0; round < 3; round++) {
		int other = vttm_open();
		uint32_t handles[8];

		for (i = 0; i < 8; i++) {
			uint32_t *ptr;

			handles[i] = vttm_create(other, size, domain, 0);
			ptr = vttm_map(other, handles[i], size);
			igt_assert_f(vttm_first_nonzero(ptr, size) < 0, "round %d, BO %d: somebody else's memory\n", round, i);
			vttm_fill(ptr, size, i);
			munmap(ptr, size);
		}
		if (evict)
			igt_assert_eq(__vttm_lab(fd, DRM_VTTM_LAB_EVICT_ALL, 0, NULL), 0);
		vttm_submit(other, handles, 3);
		for (i = 0; i < 8; i++) {
			uint32_t *ptr = vttm_map(other, handles[i], size);

			igt_assert_eq(vttm_first_wrong(ptr, size, i), -1);
			munmap(ptr, size);
		}
		/* Ends with all its BOs at once, some with work in flight. */
		close(other);
	}
}

static void test_priority(int fd)
{
	uint32_t shared = vttm_create(fd, VTTM_PAGE, VRAM, 0);
	uint32_t own = vttm_create(fd, VTTM_PAGE, VRAM, DRM_VTTM_GEM_VM_PRIVATE);
	struct drm_vttm_gem_set_priority args = { .handle = own };
	int other = vttm_open();

	for (args.priority = 0; args.priority <= DRM_VTTM_PRIORITY_MAX; args.priority++) {
		igt_assert_eq(__vttm_ioctl(fd, DRM_IOCTL_VTTM_GEM_SET_PRIORITY, &args), 0);
		igt_assert_eq_u32(vttm_bo_info(fd, own).priority, args.priority);
	}
	igt_assert_eq(__vttm_ioctl(fd, DRM_IOCTL_VTTM_GEM_SET_PRIORITY, &args), -EINVAL);
	args.priority = 1;
	igt_assert_eq(__vttm_ioctl(other, DRM_IOCTL_VTTM_GEM_SET_PRIORITY, &args), -ENOENT);
	args.handle = shared;
	igt_assert_eq(__vttm_ioctl(fd, DRM_IOCTL_VTTM_GEM_SET_PRIORITY, &args), -EINVAL);
	args.handle = VTTM_NO_HANDLE;
	igt_assert_eq(__vttm_ioctl(fd, DRM_IOCTL_VTTM_GEM_SET_PRIORITY, &args), -ENOENT);
	vttm_close(fd, shared);
	vttm_close(fd, own);
	close(other);
}

static void test_handles(int fd)
{
	struct drm_vttm_gem_info info = { .handle = VTTM_NO_HANDLE };
	uint32_t handle = vttm_create(fd, VTTM_PAGE, VRAM, 0);
	int other = vttm_open();

	igt_assert_eq(__vttm_ioctl(fd, DRM_IOCTL_VTTM_GEM_INFO, &info), -ENOENT);
	info.handle = 0;
	igt_assert_eq(__vttm_ioctl(fd, DRM_IOCTL_VTTM_GEM_INFO, &info), -ENOENT);
	info.handle = handle;
	igt_assert_eq(__vttm_ioctl(other, DRM_IOCTL_VTTM_GEM_INFO, &info), -ENOENT);
	info.pad = 1;
	igt_assert_eq(__vttm_ioctl(fd, DRM_IOCTL_VTTM_GEM_INFO, &info), -EINVAL);
	vttm_close(fd, handle);
	igt_assert_eq(__vttm_close(fd, handle), -EINVAL);
	info = (struct drm_vttm_gem_info) { .handle = handle };
	igt_assert_eq(__vttm_ioctl(fd, DRM_IOCTL_VTTM_GEM_INFO, &info), -ENOENT);
	close(other);
}

int igt_main()
{
	int fd = -1;
	unsigned int i;

	igt_fixture()
		fd = vttm_open_small(8 * VTTM_MIB);

	for (i = 0; i < sizeof(refusals) / sizeof(refusals[0]); i++) {
		igt_describe("Refused with the error that is documented, and nothing is left of it");
		igt_subtest_f("refuse-%s", refusals[i].name)
			test_refusal(fd, &refusals[i].args, refusals[i].error);
	}
	igt_describe("All combinations of domains and flags");
	igt_subtest("combinations")
		test_combinations(fd);
	igt_describe("Memory of one client is never visible to another");
	igt_subtest("fresh-memory-vram")
		test_fresh_memory(fd, VRAM, false);
	igt_subtest("fresh-memory-gtt")
		test_fresh_memory(fd, GTT, false);
	igt_subtest("fresh-memory-evicted")
		test_fresh_memory(fd, VRAM, true);
	igt_describe("Priorities of private BOs, and of others");
	igt_subtest("priority")
		test_priority(fd);
	igt_describe("Handles that are closed, never were, or are another file's");
	igt_subtest("handles")
		test_handles(fd);

	igt_fixture() {
		close(fd);
		vttm_assert_idle();
	}
}
