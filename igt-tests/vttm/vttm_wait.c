// SPDX-License-Identifier: MIT
/* Waiting for submissions. */
#include <errno.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "igt.h"
#include "igt_vttm.h"

IGT_TEST_DESCRIPTION("Waits: polls, limits, signals, and numbers that do not exist");

static int64_t now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * VTTM_NS_PER_S + ts.tv_nsec;
}

/* A job that takes its time without touching anything. */
static uint64_t submit_long(int fd, uint64_t ns)
{
	struct drm_vttm_submit args = { .compute_ns = ns };

	igt_assert_eq(__vttm_ioctl(fd, DRM_IOCTL_VTTM_SUBMIT, &args), 0);
	return args.seqno;
}

static void test_numbers(int fd)
{
	uint64_t seqno = vttm_submit(fd, NULL, 0);
	int other = vttm_open();

	vttm_wait(fd, seqno);
	igt_assert_eq(__vttm_wait(fd, 0, 0), -EINVAL);
	igt_assert_eq(__vttm_wait(fd, seqno + 1, 0), -EINVAL);
	igt_assert_eq(__vttm_wait(fd, ~0ull, -1), -EINVAL);
	igt_assert_eq(__vttm_wait(other, seqno, 0), -EINVAL);
	igt_assert_eq(__vttm_wait(fd, seqno, 0), 0);
	igt_assert_eq(__vttm_wait(fd, seqno, -1), 0);
	igt_assert_eq(__vttm_wait(fd, seqno, INT64_MIN), 0);
	igt_assert_eq(__vttm_wait(fd, seqno, INT64_MAX), 0);
	close(other);
}

static void test_limits(int fd)
{
	uint64_t seqno = submit_long(fd, VTTM_NS_PER_S / 2);
	int64_t start = now_ns(), limit = VTTM_NS_PER_S / 20;

	igt_assert_eq(__vttm_wait(fd, seqno, 0), -ETIME);
	igt_assert(now_ns() - start < VTTM_NS_PER_S / 4);
	igt_assert_eq(__vttm_wait(fd, seqno, 1), -ETIME);
	igt_assert_eq(__vttm_wait(fd, seqno, limit), -ETIME);
	igt_assert(now_ns() - start >= limit);
	igt_assert_eq(__vttm_wait(fd, seqno, INT64_MAX), 0);
	igt_assert(now_ns() - start >= VTTM_NS_PER_S / 4);
}

static volatile sig_atomic_t alarms;

static void on_alarm(int number)
{
	alarms++;
}

/* Signals interrupt a wait; who calls again with the same argument waits for the rest of the time, not anew. */
static void test_signals(int fd)
{
	struct itimerval timer = { { 0, 10000 }, { 0, 10000 } }, off = {};
	struct sigaction action = { .sa_handler = on_alarm }, old;
	uint64_t seqno = submit_long(fd, 3 * VTTM_NS_PER_S);
	struct drm_vttm_wait args = { .seqno = seqno, .timeout_ns = VTTM_NS_PER_S / 2 };
	int64_t start = now_ns();
	int ret, interrupted = 0;

	alarms = 0;
	sigaction(SIGALRM, &action, &old);
	setitimer(ITIMER_REAL, &timer, NULL);
	do {
		ret = ioctl(fd, DRM_IOCTL_VTTM_WAIT, &args);
		interrupted += ret && errno == EINTR;
	} while (ret && errno == EINTR);
	ret = ret ? -errno : 0;
	setitimer(ITIMER_REAL, &off, NULL);
	sigaction(SIGALRM, &old, NULL);

	igt_assert_eq(ret, -ETIME);
	igt_assert_lt(0, alarms);
	igt_assert_lt(0, interrupted);
	igt_assert(now_ns() - start < 2 * VTTM_NS_PER_S);
	vttm_wait(fd, seqno);
}

static void test_many_waiters(int fd)
{
	uint64_t seqno = submit_long(fd, VTTM_NS_PER_S / 5);

	igt_fork(child, 8)
		igt_assert_eq(__vttm_wait(fd, seqno, child % 2 ? -1 : 20 * VTTM_NS_PER_S), 0);
	igt_waitchildren();
	igt_assert_eq(__vttm_wait(fd, seqno, 0), 0);
}

/* A file that is closed by all others while one waits, and one that is killed while it waits. */
static void test_killed(int fd)
{
	int i;

	for (i = 0; i < 20; i++) {
		int other = vttm_open();
		uint64_t seqno = submit_long(other, VTTM_NS_PER_S / 4);
		pid_t pid = fork();

		if (!pid) {
			__vttm_wait(other, seqno, -1);
			_exit(0);
		}
		close(other);
		usleep(i * 1000);
		kill(pid, SIGKILL);
		igt_assert(pid > 0);
		waitpid(pid, NULL, 0);
	}
}

int igt_main()
{
	int fd = -1;

	igt_fixture()
		fd = vttm_open_small(8 * VTTM_MIB);

	igt_describe("Numbers that were never given out or are another file's");
	igt_subtest("numbers")
		test_numbers(fd);
	igt_describe("A poll does not wait, a limit is kept");
	igt_subtest("limits")
		test_limits(fd);
	igt_describe("Signals interrupt, and the limit holds over all calls");
	igt_subtest("signals")
		test_signals(fd);
	igt_describe("Eight processes wait for one job");
	igt_subtest("many-waiters")
		test_many_waiters(fd);
	igt_describe("Who waits is killed, and the file goes with him");
	igt_subtest("killed")
		test_killed(fd);

	igt_fixture() {
		close(fd);
		vttm_assert_idle();
	}
}
