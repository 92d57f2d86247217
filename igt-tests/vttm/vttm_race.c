// SPDX-License-Identifier: MIT
/*
 * Two things at once. What the calls return is not the question (either may
 * win), that nothing is left over and nobody complains is.
 */
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "igt.h"
#include "igt_vttm.h"

IGT_TEST_DESCRIPTION("Races between calls on one file, several files, and the end of both");

#define ROUNDS 300
#define SIZE (256 * 1024ull)

struct race {
	int fd;
	/* The BO that is fought for; it comes and goes. */
	_Atomic uint32_t handle;
	atomic_bool stop;
	void (*act)(struct race *race);
	/* Errors that are no race's fault, for instance of a kernel that has run out of words. */
	atomic_int unexpected;
};

static void expect(struct race *race, int ret, int lost1, int lost2)
{
	if (ret && ret != lost1 && ret != lost2)
		atomic_store(&race->unexpected, ret);
}

static void act_submit(struct race *race)
{
	uint32_t handle = race->handle;
	uint64_t seqno;

	expect(race, __vttm_submit(race->fd, &handle, 1, &seqno), -ENOENT, -ENOMEM);
}

static void act_map(struct race *race)
{
	uint32_t *ptr = __vttm_map(race->fd, race->handle, SIZE);

	if (ptr == MAP_FAILED)
		return;
	ptr[0] = 1;
	ptr[SIZE / 8] = 2;
	munmap(ptr, SIZE);
}

static void act_pin(struct race *race)
{
	uint32_t handle = race->handle;

	expect(race, __vttm_pin(race->fd, handle, 0), -ENOENT, -ENOMEM);
	expect(race, __vttm_pin(race->fd, handle, DRM_VTTM_PIN_UNPIN), -ENOENT, -EINVAL);
}

static void act_info(struct race *race)
{
	struct drm_vttm_gem_info info = { .handle = race->handle };
	struct drm_vttm_gem_set_priority priority = { .handle = race->handle, .priority = 3 };

	expect(race, __vttm_ioctl(race->fd, DRM_IOCTL_VTTM_GEM_INFO, &info), -ENOENT, 0);
	expect(race, __vttm_ioctl(race->fd, DRM_IOCTL_VTTM_GEM_SET_PRIORITY, &priority), -ENOENT, -EINVAL);
}

static void act_close(struct race *race)
{
	expect(race, __vttm_close(race->fd, race->handle), -EINVAL, 0);
}

static void act_evict(struct race *race)
{
	expect(race, __vttm_lab(race->fd, DRM_VTTM_LAB_EVICT_ALL, 0, NULL), -ENOMEM, 0);
}

static void act_swapout(struct race *race)
{
	expect(race, __vttm_lab(race->fd, DRM_VTTM_LAB_SWAPOUT, 0, NULL), -ENOMEM, -EBUSY);
}

static void act_reset(struct race *race)
{
	struct drm_vttm_lab_config config = vttm_config(8 * VTTM_MIB);

	expect(race, __vttm_reset(race->fd, &config), -EBUSY, 0);
}

static void act_open(struct race *race)
{
	int fd = __vttm_open();
	uint32_t handle;

	if (fd < 0)
		return;
	if (!__vttm_create(fd, SIZE, DRM_VTTM_DOMAIN_VRAM, 0, &handle))
		expect(race, __vttm_submit(fd, &handle, 1, &(uint64_t){ 0 }), -ENOMEM, -EIO);
	close(fd);
}

static void *run_race(void *data)
{
	struct race *race = data;

	while (!atomic_load(&race->stop))
		race->act(race);
	return NULL;
}

/* A thread makes and destroys BOs while two others do something with them. */
static void test_race(int fd, void (*act)(struct race *), uint32_t flags)
{
	struct race race = { .fd = fd, .act = act };
	pthread_t threads[2];
	int i;

	for (i = 0; i < 2; i++)
		igt_assert_eq(pthread_create(&threads[i], NULL, run_race, &race), 0);
	for (i = 0; i < ROUNDS; i++) {
		uint32_t handle;
		int ret = __vttm_create(fd, SIZE, DRM_VTTM_DOMAIN_VRAM, flags, &handle);

		expect(&race, ret, -ENOMEM, 0);
		if (ret)
			continue;
		atomic_store(&race.handle, handle);
		__vttm_submit(fd, &handle, 1, &(uint64_t){ 0 });
		/* Somebody else may have closed it. */
		expect(&race, __vttm_close(fd, handle), -EINVAL, 0);
	}
	atomic_store(&race.stop, true);
	for (i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
	igt_assert_eq(race.unexpected, 0);
}

/* Clients are killed in the middle of whatever they do. */
static void test_kill(int fd)
{
	int i;

	for (i = 0; i < 40; i++) {
		pid_t pid = fork();

		if (!pid) {
			struct race race = { .fd = __vttm_open(), .act = i % 2 ? act_submit : act_map };
			uint32_t handles[40];

			for (;;) {
				int j;

				for (j = 0; j < 40; j++) {
					__vttm_create(race.fd, SIZE, DRM_VTTM_DOMAIN_VRAM, 0, &handles[j]);
					race.handle = handles[j];
					race.act(&race);
				}
				for (j = 0; j < 40; j++)
					__vttm_close(race.fd, handles[j]);
			}
		}
		igt_assert(pid > 0);
		usleep(1000 * (i % 20));
		igt_assert_eq(kill(pid, SIGKILL), 0);
		igt_assert_eq(waitpid(pid, NULL, 0), pid);
	}
}

static void on_signal(int number)
{
}

/* Signals in the middle of everything that sleeps. */
static void test_signals(int fd)
{
	struct sigaction action = { .sa_handler = on_signal }, old;
	uint32_t handles[48], *ptr;
	pid_t parent = getpid(), pid;
	int i, j;

	sigaction(SIGUSR1, &action, &old);
	pid = fork();
	if (!pid) {
		for (;;) {
			kill(parent, SIGUSR1);
			usleep(500);
		}
	}
	for (i = 0; i < 20; i++) {
		for (j = 0; j < 48; j++) {
			handles[j] = vttm_create(fd, SIZE, DRM_VTTM_DOMAIN_VRAM, 0);
			ptr = vttm_map(fd, handles[j], SIZE);
			vttm_fill(ptr, SIZE, j);
			munmap(ptr, SIZE);
			vttm_submit(fd, &handles[j], 1);
		}
		for (j = 0; j < 48; j++) {
			ptr = vttm_map(fd, handles[j], SIZE);
			igt_assert_eq(vttm_first_wrong(ptr, SIZE, j), -1);
			munmap(ptr, SIZE);
			vttm_close(fd, handles[j]);
		}
	}
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	sigaction(SIGUSR1, &old, NULL);
}

int igt_main()
{
	static const struct {
		const char *name;
		void (*act)(struct race *race);
		uint32_t flags;
	} races[] = {
		{ "submit", act_submit, 0 },
		{ "map", act_map, 0 },
		{ "pin", act_pin, 0 },
		{ "query", act_info, DRM_VTTM_GEM_VM_PRIVATE },
		{ "close", act_close, 0 },
		{ "close-private", act_close, DRM_VTTM_GEM_VM_PRIVATE },
		{ "evict-all", act_evict, 0 },
		{ "evict-all-private", act_evict, DRM_VTTM_GEM_VM_PRIVATE },
		{ "swapout", act_swapout, 0 },
		{ "reset", act_reset, 0 },
		{ "open", act_open, 0 },
	};
	int fd = -1;
	unsigned int i;

	igt_fixture()
		fd = vttm_open_small(8 * VTTM_MIB);

	for (i = 0; i < sizeof(races) / sizeof(races[0]); i++) {
		igt_describe("BOs are made, used and destroyed, while others do something with them");
		igt_subtest_f("%s", races[i].name)
			test_race(fd, races[i].act, races[i].flags);
	}
	igt_describe("Clients are killed in the middle of submissions and faults");
	igt_subtest("kill")
		test_kill(fd);
	igt_describe("Signals at any moment lose nothing");
	igt_subtest("signals")
		test_signals(fd);

	igt_fixture() {
		close(fd);
		vttm_assert_idle();
	}
}
