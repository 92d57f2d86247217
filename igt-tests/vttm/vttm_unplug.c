// SPDX-License-Identifier: MIT
/* The device goes away while it is used: unbound from its driver, or its module unloaded. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "igt.h"
#include "igt_vttm.h"

IGT_TEST_DESCRIPTION("Unbinding and unloading in the middle of everything");

#define DRIVER "/sys/bus/platform/drivers/vttm/"
#define SIZE (256 * 1024ull)

static int write_attribute(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY), ret;

	if (fd < 0)
		return -errno;
	ret = write(fd, text, strlen(text)) < 0 ? -errno : 0;
	close(fd);
	return ret;
}

static void unbind(void)
{
	igt_assert_eq(write_attribute(DRIVER "unbind", "vttm"), 0);
	igt_assert_eq(__vttm_open(), -ENODEV);
}

static void bind(void)
{
	int fd;

	igt_assert_eq(write_attribute(DRIVER "bind", "vttm"), 0);
	fd = __vttm_open();
	igt_assert_fd(fd);
	close(fd);
}

/* Everything there is to do, for ever. */
static void client(bool map)
{
	int fd = __vttm_open();
	uint32_t handles[16];
	int i;

	for (;;) {
		for (i = 0; i < 16; i++) {
			uint32_t *ptr;

			__vttm_create(fd, SIZE, DRM_VTTM_DOMAIN_VRAM, 0, &handles[i]);
			__vttm_submit(fd, &handles[i], 1, &(uint64_t){ 0 });
			ptr = map ? __vttm_map(fd, handles[i], SIZE) : MAP_FAILED;
			if (ptr == MAP_FAILED)
				continue;
			memset(ptr, i, SIZE);
			munmap(ptr, SIZE);
		}
		__vttm_wait(fd, 1, 1000000);
		for (i = 0; i < 16; i++)
			__vttm_close(fd, handles[i]);
	}
}

/* A file that is still open says -ENODEV to everything, and can be closed; its mappings can be read and written. */
static void test_file_outlives(void)
{
	int fd = vttm_open();
	uint32_t handle = vttm_create(fd, SIZE, DRM_VTTM_DOMAIN_VRAM, 0);
	uint32_t *ptr = vttm_map(fd, handle, SIZE);
	struct drm_vttm_get_info info = {};

	vttm_fill(ptr, SIZE, 1);
	vttm_submit(fd, &handle, 1);
	unbind();
	igt_assert_eq(__vttm_ioctl(fd, DRM_IOCTL_VTTM_GET_INFO, &info), -ENODEV);
	igt_assert_eq(__vttm_submit(fd, &handle, 1, &(uint64_t){ 0 }), -ENODEV);
	/* What it holds now is nobody's business, but a signal would end the test. */
	(void)*(volatile uint32_t *)ptr;
	ptr[SIZE / 16] = 1;
	munmap(ptr, SIZE);
	close(fd);
	bind();
}

static void test_storm(bool kill_first)
{
	int round, i;

	for (round = 0; round < 20; round++) {
		pid_t pids[3];

		for (i = 0; i < 3; i++) {
			pids[i] = fork();
			if (!pids[i])
				client(i == 0);
			igt_assert(pids[i] > 0);
		}
		usleep(1000 * (round % 20));
		if (kill_first)
			for (i = 0; i < 3; i++)
				kill(pids[i], SIGKILL);
		unbind();
		for (i = 0; i < 3; i++) {
			kill(pids[i], SIGKILL);
			igt_assert_eq(waitpid(pids[i], NULL, 0), pids[i]);
		}
		bind();
	}
}

/* A module that is in use stays, one that is not goes. */
static void test_unload(void)
{
	int fd = vttm_open(), round;

	igt_assert_neq(system("rmmod vttm 2>/dev/null"), 0);
	vttm_wait(fd, vttm_submit(fd, NULL, 0));
	for (round = 0; round < 4; round++) {
		uint32_t handle = vttm_create(fd, SIZE, DRM_VTTM_DOMAIN_VRAM, 0);

		vttm_submit(fd, &handle, 1);
		/* With the job still under way. */
		close(fd);
		igt_assert_eq(system("rmmod vttm"), 0);
		igt_assert_eq(system("modprobe vttm"), 0);
		fd = vttm_open();
	}
	close(fd);
}

int igt_main()
{
	igt_fixture() {
		close(vttm_open());
		igt_require_f(!access(DRIVER "unbind", W_OK), "the driver cannot be unbound\n");
	}

	igt_describe("A file and its mappings outlive the device");
	igt_subtest("file-outlives")
		test_file_outlives();
	igt_describe("Unbound in the middle of submissions and faults");
	igt_subtest("unbind")
		test_storm(false);
	igt_describe("Unbound while clients die");
	igt_subtest("unbind-killed")
		test_storm(true);
	igt_describe("The module leaves with work in flight, and comes back");
	igt_subtest("unload")
		test_unload();

	igt_fixture()
		vttm_assert_idle();
}
