// SPDX-License-Identifier: MIT
/* Data under pressure: several processes, more memory in use than VRAM has, every byte checked. */
#include <errno.h>
#include <getopt.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "igt.h"
#include "igt_vttm.h"

IGT_TEST_DESCRIPTION("Contents of BOs through storms of evictions");

#define VRAM		(8 * VTTM_MIB)
#define BO_SIZE		(256 * 1024ull)
#define PROCESSES	4

static unsigned int rounds = 40;

/* One client: BOs that it fills, uses and checks, as many as are its share of @overcommit times VRAM. */
static void client(unsigned int id, uint32_t flags, unsigned int overcommit)
{
	const unsigned int num = overcommit * VRAM / BO_SIZE / PROCESSES;
	uint32_t handles[num], seeds[num], listed[num], *ptrs[num];
	uint64_t state = id + 1;
	int fd = __vttm_open();
	unsigned int i, round;

	igt_assert_fd(fd);
	for (i = 0; i < num; i++) {
		handles[i] = vttm_create(fd, BO_SIZE, DRM_VTTM_DOMAIN_VRAM, flags);
		ptrs[i] = vttm_map(fd, handles[i], BO_SIZE);
		igt_assert_f(vttm_first_nonzero(ptrs[i], BO_SIZE) < 0, "client %u: BO %u is not fresh\n", id, i);
		seeds[i] = id << 16 | i;
		vttm_fill(ptrs[i], BO_SIZE, seeds[i]);
	}
	for (round = 0; round < rounds; round++) {
		unsigned int count = 0, check = vttm_random(&state) % num;

		for (i = 0; i < num; i++)
			if (!(flags & DRM_VTTM_GEM_VM_PRIVATE) && vttm_random(&state) % 4 == 0)
				listed[count++] = handles[i];
		vttm_submit(fd, listed, count);

		igt_assert_f(vttm_first_wrong(ptrs[check], BO_SIZE, seeds[check]) < 0,
			     "client %u, round %u: BO %u is wrong from word %lld\n", id, round, check,
			     (long long)vttm_first_wrong(ptrs[check], BO_SIZE, seeds[check]));
		seeds[check] += num;
		vttm_fill(ptrs[check], BO_SIZE, seeds[check]);
	}
	for (i = 0; i < num; i++) {
		igt_assert_eq(vttm_first_wrong(ptrs[i], BO_SIZE, seeds[i]), -1);
		munmap(ptrs[i], BO_SIZE);
	}
	close(fd);
}

static void test_storm(int fd, uint32_t flags, unsigned int overcommit, bool evict_all)
{
	uint64_t before = vttm_info(fd).evictions;

	igt_fork(child, PROCESSES)
		client(child, flags, overcommit);
	if (evict_all)
		igt_fork(child, 1) {
			unsigned int i;

			for (i = 0; i < rounds; i++) {
				igt_assert_eq(__vttm_lab(fd, DRM_VTTM_LAB_EVICT_ALL, 0, NULL), 0);
				usleep(5000);
			}
		}
	igt_waitchildren();
	igt_info("%llu evictions\n", (unsigned long long)(vttm_info(fd).evictions - before));
	igt_assert_lte_u64(before + 1, vttm_info(fd).evictions);
}

static const struct option options[] = {
	{ "rounds", required_argument, NULL, 'r' },
	{ }
};

static int handle_option(int option, int index, void *data)
{
	char *end;

	rounds = strtoul(optarg, &end, 10);
	return option == 'r' && *optarg && !*end && rounds ? IGT_OPT_HANDLER_SUCCESS : IGT_OPT_HANDLER_ERROR;
}

int igt_main_args("", options, "  --rounds N\tsubmissions of each client (40)\n", handle_option, NULL)
{
	int fd = -1;

	igt_fixture() {
		fd = vttm_open_small(VRAM);
		vttm_one_cpu_on_um();
	}

	igt_describe("Four clients with listed BOs, twice as much as VRAM has");
	igt_subtest("listed")
		test_storm(fd, 0, 2, false);
	igt_describe("Four clients with listed BOs, four times as much as VRAM has");
	igt_subtest("listed-4x")
		test_storm(fd, 0, 4, false);
	igt_describe("Four clients with BOs that are private to their VMs");
	igt_subtest("private")
		test_storm(fd, DRM_VTTM_GEM_VM_PRIVATE, 2, false);
	igt_describe("Contiguous BOs, which displace several others");
	igt_subtest("contiguous")
		test_storm(fd, DRM_VTTM_GEM_CONTIGUOUS, 2, false);
	igt_describe("All of VRAM is evicted again and again meanwhile");
	igt_subtest("evict-all")
		test_storm(fd, 0, 2, true);

	igt_fixture() {
		close(fd);
		vttm_assert_idle();
	}
}
