// SPDX-License-Identifier: MIT
/*
 * Data under pressure: clients whose BOs take several times the memory that
 * VRAM has, with engines that fill, copy and sum them up. Everything that is
 * read must be what was written, whatever moves meanwhile.
 */
#include <getopt.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "igt.h"
#include "igt_vttm.h"
#include "vttm_data_client.h"
#include "vttm_data_job.h"

IGT_TEST_DESCRIPTION("Checksums of what engines and processors write, through storms of evictions");

/* How often a client looks at the clock and at what was evicted. */
#define LOOK_STEPS 16

static uint64_t seed = 1, seconds = 3, gigabytes, vram_mib = 32;
static int processes = 8, overcommit = 4;

static uint64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * VTTM_NS_PER_S + now.tv_nsec;
}

/* Fast enough that copying takes the time that the processor needs, and with no limit to moves. */
static void reset(int fd)
{
	struct drm_vttm_lab_config config = vttm_config(vram_mib * VTTM_MIB);

	config.vram_bandwidth = 1ull << 50;
	config.link_bandwidth = 1ull << 50;
	config.log2_max_mbps = 24;
	igt_assert_eq(__vttm_reset(fd, &config), 0);
}

static void run_client(int fd, struct data_client_config config, struct data_counts *counts, uint64_t start_ns)
{
	struct data_client *client = data_client_create(config, counts);
	bool enough = false;
	uint64_t i;

	while (!enough) {
		for (i = 0; i < LOOK_STEPS; i++)
			data_client_step(client);
		enough = gigabytes ? vttm_info(fd).evictions >= gigabytes * 1000000000 / DATA_BO_SIZE :
				     now_ns() - start_ns >= seconds * VTTM_NS_PER_S;
	}
	data_client_check_all(client);
	data_client_destroy(client);
}

static void test_data(int fd, bool cpu)
{
	struct data_counts *counts = mmap(NULL, sizeof(*counts), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	uint64_t start_ns = now_ns(), evictions;
	double took;

	igt_assert(counts != MAP_FAILED);
	reset(fd);
	igt_fork(child, processes) {
		struct data_client_config config = {
			.seed = seed * 1000003 + child,
			.num_bos = overcommit * vram_mib * VTTM_MIB / DATA_BO_SIZE / processes,
			.engine = child % 2 ? DRM_VTTM_ENGINE_COMPUTE : DRM_VTTM_ENGINE_GFX,
			.cpu = cpu,
		};

		igt_assert(config.num_bos);
		run_client(fd, config, counts, start_ns);
	}
	igt_waitchildren();
	took = (now_ns() - start_ns) / 1e9;
	evictions = vttm_info(fd).evictions;
	igt_info("seed %llu, %.1f s: %llu evictions, %.3f GB (%.0f MB/s), %llu jobs, %llu checksums, %llu accesses by the CPU, "
		 "%llu BOs replaced\n", (unsigned long long)seed, took, (unsigned long long)evictions,
		 evictions * DATA_BO_SIZE / 1e9, evictions * DATA_BO_SIZE / 1e6 / took, (unsigned long long)counts->jobs,
		 (unsigned long long)counts->checksums, (unsigned long long)counts->cpu_accesses,
		 (unsigned long long)counts->replaced);
	/* Else it shows nothing. */
	igt_assert_lte_u64(vram_mib * VTTM_MIB / DATA_BO_SIZE, evictions);
	igt_assert_lte_u64(1, counts->checksums);
	munmap(counts, sizeof(*counts));
}

static const struct option options[] = {
	{ "seed", required_argument, NULL, 's' },
	{ "seconds", required_argument, NULL, 't' },
	{ "evict-gb", required_argument, NULL, 'g' },
	{ "vram-mib", required_argument, NULL, 'v' },
	{ "processes", required_argument, NULL, 'p' },
	{ "overcommit", required_argument, NULL, 'o' },
	{ }
};

static int handle_option(int option, int index, void *data)
{
	char *end;
	uint64_t value = strtoull(optarg, &end, 0);

	if (!*optarg || *end || (option != 's' && (!value || value > 1000000)))
		return IGT_OPT_HANDLER_ERROR;
	switch (option) {
	case 's':
		seed = value;
		break;
	case 't':
		seconds = value;
		break;
	case 'g':
		gigabytes = value;
		break;
	case 'v':
		vram_mib = value;
		break;
	case 'p':
		processes = value;
		break;
	default:
		overcommit = value;
	}
	return IGT_OPT_HANDLER_SUCCESS;
}

static const char help[] =
	"  --seed N\twhat to draw from (1)\n"
	"  --seconds N\thow long (3)\n"
	"  --evict-gb N\tuntil N GB were evicted, however long that takes\n"
	"  --vram-mib N\tsize of video memory (32)\n"
	"  --processes N\thow many clients (8)\n"
	"  --overcommit N\tmemory of all clients together, in sizes of video memory (4)\n";

int igt_main_args("", options, help, handle_option, NULL)
{
	int fd = -1;

	igt_fixture()
		fd = vttm_open_small(vram_mib * VTTM_MIB);

	igt_describe("Engines write and read");
	igt_subtest("engines")
		test_data(fd, false);
	igt_fixture()
		vttm_assert_idle();
	igt_describe("So do processors, through mappings");
	igt_subtest("mappings") {
		vttm_one_cpu_on_um();
		test_data(fd, true);
	}

	igt_fixture() {
		close(fd);
		vttm_assert_idle();
	}
}
