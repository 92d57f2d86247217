// SPDX-License-Identifier: MIT
/*
 * Random sequences of ioctls. A seed describes a run: each process draws its
 * calls from it, and only what others do at the same time may differ. What a
 * call may answer is known from its arguments and from what the process did
 * before; contents are checked, and in the end nothing may be left.
 */
#include <errno.h>
#include <getopt.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "igt.h"
#include "igt_vttm.h"
#include "vttm_random.h"

IGT_TEST_DESCRIPTION("Random sequences of calls: answers, contents, and nothing left over");

#define VRAM (8 * VTTM_MIB)
#define FAULTS "/sys/kernel/debug"

static uint64_t seed = 1, calls = 20000;
static int processes = 4;

static void put(const char *path, const char *text)
{
	FILE *f = fopen(path, "w");

	igt_assert_f(f && fputs(text, f) >= 0 && !fclose(f), "cannot write %s to %s\n", text, path);
}

static void run(unsigned int id, uint64_t num, bool may_fail)
{
	struct client *client = client_create(seed * 1000003 + id, vttm_config(VRAM), may_fail);
	uint64_t i;

	for (i = 0; i < num; i++) {
		client_call(client);
		igt_assert_f(!client->fault[0], "seed %llu, process %u, call %llu: %s\n", (unsigned long long)seed, id,
			     (unsigned long long)i, client->fault);
	}
	client_destroy(client);
}

/* All that is charged to the cgroup has to come back. */
static uint64_t charged(const char *cgroup)
{
	char path[128], line[128];
	uint64_t sum = 0, bytes;
	FILE *f;

	snprintf(path, sizeof(path), "%s/dmem.current", cgroup);
	f = fopen(path, "r");
	igt_assert(f);
	while (fgets(line, sizeof(line), f))
		if (strstr(line, "vttm") && sscanf(line, "%*s %lu", &bytes) == 1)
			sum += bytes;
	fclose(f);
	return sum;
}

static void test_calls(bool may_fail)
{
	const char *cgroup = "/sys/fs/cgroup/vttm_random";
	char path[128], pid[32];
	bool in_cgroup = !mkdir(cgroup, 0755) || errno == EEXIST;
	int fd = vttm_open(), tries;

	/*
	 * As long as there is a BO nobody can reset the device: that would restart
	 * the numbers of everybody's submissions, and who counts them would not know.
	 */
	vttm_create(fd, VTTM_PAGE, DRM_VTTM_DOMAIN_SYSTEM, 0);

	if (in_cgroup) {
		snprintf(path, sizeof(path), "%s/cgroup.procs", cgroup);
		snprintf(pid, sizeof(pid), "%d", getpid());
		put(path, pid);
	}
	igt_info("seed %llu, %llu calls, %d processes\n", (unsigned long long)seed, (unsigned long long)calls, processes);
	igt_fork(child, processes) {
		if (may_fail)
			put("/proc/self/make-it-fail", "1");
		run(child, calls / processes, may_fail);
	}
	igt_waitchildren();
	close(fd);
	vttm_assert_idle();
	if (in_cgroup) {
		for (tries = 0; tries < 500 && charged(cgroup); tries++)
			usleep(10000);
		igt_assert_eq_u64(charged(cgroup), 0);
	}
}

static void set_fault(const char *kind, const char *attribute, const char *text)
{
	char path[128];

	snprintf(path, sizeof(path), "%s/%s/%s", FAULTS, kind, attribute);
	put(path, text);
}

/* @kind: failslab (small allocations) or fail_page_alloc, of the processes that call. */
static void test_fault_injection(const char *kind)
{
	char path[128];

	snprintf(path, sizeof(path), "%s/%s/probability", FAULTS, kind);
	igt_require_f(!access(path, W_OK) && !access("/proc/self/make-it-fail", W_OK),
		      "a kernel without fault injection\n");
	set_fault(kind, "task-filter", "Y");
	set_fault(kind, "ignore-gfp-wait", "N");
	if (!strcmp(kind, "fail_page_alloc"))
		set_fault(kind, "min-order", "0");
	set_fault(kind, "verbose", "0");
	set_fault(kind, "times", "-1");
	set_fault(kind, "probability", "2");
	test_calls(true);
	set_fault(kind, "probability", "0");
}

static const struct option options[] = {
	{ "seed", required_argument, NULL, 's' },
	{ "calls", required_argument, NULL, 'c' },
	{ "processes", required_argument, NULL, 'p' },
	{ }
};

static int handle_option(int option, int index, void *data)
{
	char *end;
	uint64_t value = strtoull(optarg, &end, 0);

	if (!*optarg || *end || (option != 's' && !value) || (option == 'p' && value > 64))
		return IGT_OPT_HANDLER_ERROR;
	if (option == 's')
		seed = value;
	else if (option == 'c')
		calls = value;
	else
		processes = value;
	return IGT_OPT_HANDLER_SUCCESS;
}

static const char help[] =
	"  --seed N\twhat to draw from (1)\n"
	"  --calls N\tcalls of all processes together (20000)\n"
	"  --processes N\thow many call at the same time, 1 to 64 (4)\n";

int igt_main_args("", options, help, handle_option, NULL)
{
	igt_fixture() {
		close(vttm_open_small(VRAM));
		vttm_one_cpu_on_um();
	}

	igt_describe("Calls of several processes at random");
	igt_subtest("calls")
		test_calls(false);
	igt_describe("The same while small allocations fail at random");
	igt_subtest("fault-injection")
		test_fault_injection("failslab");
	igt_describe("The same while allocations of pages fail at random");
	igt_subtest("fault-injection-pages")
		test_fault_injection("fail_page_alloc");
}
