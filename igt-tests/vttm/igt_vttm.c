// SPDX-License-Identifier: MIT
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "igt.h"
#include "igt_vttm.h"

/* How long what has been let go may take to be gone. */
#define IDLE_TRIES	1000
#define IDLE_TRY_US	10000

static bool is_vttm(int fd)
{
	char name[8] = "";
	struct drm_version version = { .name = name, .name_len = sizeof(name) - 1 };

	return !ioctl(fd, DRM_IOCTL_VERSION, &version) && !strcmp(name, "vttm");
}

static int open_node(const char *name, int first)
{
	char path[32];
	int minor, fd;

	for (minor = first; minor < first + 64; minor++) {
		snprintf(path, sizeof(path), "/dev/dri/%s%d", name, minor);
		fd = open(path, O_RDWR | O_CLOEXEC);
		if (fd < 0)
			continue;
		if (is_vttm(fd))
			return fd;
		close(fd);
	}
	return -ENODEV;
}

int __vttm_open(void)
{
	return open_node("renderD", 128);
}

int vttm_open(void)
{
	int fd = __vttm_open();

	igt_require_f(fd >= 0, "no vttm device\n");
	return fd;
}

int vttm_open_primary(void)
{
	int fd = open_node("card", 0);

	igt_require_f(fd >= 0, "no vttm device\n");
	return fd;
}

struct drm_vttm_lab_config vttm_config(uint64_t vram_size)
{
	return (struct drm_vttm_lab_config) {
		.vram_size = vram_size,
		.gtt_size = 16 * vram_size,
		.vram_bandwidth = 64ull << 30,
		.link_bandwidth = 16ull << 30,
		.copy_latency_ns = 1000,
		.log2_max_mbps = 10,
	};
}

int vttm_open_small(uint64_t vram_size)
{
	struct drm_vttm_lab_config config = vttm_config(vram_size);
	int fd = vttm_open(), tries, ret = -EBUSY;

	for (tries = 0; tries < IDLE_TRIES && ret == -EBUSY; tries++) {
		ret = __vttm_reset(fd, &config);
		if (ret == -EBUSY)
			usleep(IDLE_TRY_US);
	}
	igt_require_f(ret != -EBUSY, "somebody else uses the device\n");
	igt_require_f(ret != -EACCES, "laboratory control needs root\n");
	igt_assert_eq(ret, 0);
	return fd;
}

int __vttm_ioctl(int fd, unsigned long request, void *arg)
{
	int ret;

	do {
		ret = ioctl(fd, request, arg);
	} while (ret && (errno == EINTR || errno == EAGAIN));
	return ret ? -errno : 0;
}

int __vttm_create(int fd, uint64_t size, uint32_t preferred, uint32_t flags, uint32_t *handle)
{
	struct drm_vttm_gem_create args = {
		.size = size,
		.preferred_domains = preferred,
		.flags = flags,
		.priority = DRM_VTTM_PRIORITY_DEFAULT,
	};
	int ret = __vttm_ioctl(fd, DRM_IOCTL_VTTM_GEM_CREATE, &args);

	*handle = args.handle;
	return ret;
}

uint32_t vttm_create(int fd, uint64_t size, uint32_t preferred, uint32_t flags)
{
	uint32_t handle;

	igt_assert_eq(__vttm_create(fd, size, preferred, flags, &handle), 0);
	igt_assert(handle);
	return handle;
}

int __vttm_close(int fd, uint32_t handle)
{
	struct drm_gem_close args = { .handle = handle };

	return __vttm_ioctl(fd, DRM_IOCTL_GEM_CLOSE, &args);
}

void vttm_close(int fd, uint32_t handle)
{
	igt_assert_eq(__vttm_close(fd, handle), 0);
}

struct drm_vttm_get_info vttm_info(int fd)
{
	struct drm_vttm_get_info info = {};

	igt_assert_eq(__vttm_ioctl(fd, DRM_IOCTL_VTTM_GET_INFO, &info), 0);
	return info;
}

struct drm_vttm_gem_info vttm_bo_info(int fd, uint32_t handle)
{
	struct drm_vttm_gem_info info = { .handle = handle };

	igt_assert_eq(__vttm_ioctl(fd, DRM_IOCTL_VTTM_GEM_INFO, &info), 0);
	return info;
}

uint32_t vttm_domain(int fd, uint32_t handle)
{
	return vttm_bo_info(fd, handle).domain;
}

int __vttm_submit(int fd, const uint32_t *handles, uint32_t count, uint64_t *seqno)
{
	struct drm_vttm_submit_bo *bos = calloc(count ? count : 1, sizeof(*bos));
	struct drm_vttm_submit args = {
		.bos = (uintptr_t)bos,
		.bo_count = count,
		.bo_stride = sizeof(*bos),
		.compute_ns = 1000,
	};
	uint32_t i;
	int ret;

	for (i = 0; i < count; i++)
		bos[i].handle = handles[i];
	ret = __vttm_ioctl(fd, DRM_IOCTL_VTTM_SUBMIT, &args);
	free(bos);
	*seqno = args.seqno;
	return ret;
}

uint64_t vttm_submit(int fd, const uint32_t *handles, uint32_t count)
{
	uint64_t seqno;

	igt_assert_eq(__vttm_submit(fd, handles, count, &seqno), 0);
	return seqno;
}

int __vttm_wait(int fd, uint64_t seqno, int64_t timeout_ns)
{
	struct drm_vttm_wait args = { .seqno = seqno, .timeout_ns = timeout_ns };

	return __vttm_ioctl(fd, DRM_IOCTL_VTTM_WAIT, &args);
}

void vttm_wait(int fd, uint64_t seqno)
{
	igt_assert_eq(__vttm_wait(fd, seqno, 20 * VTTM_NS_PER_S), 0);
}

int __vttm_pin(int fd, uint32_t handle, uint32_t flags)
{
	struct drm_vttm_pin args = { .handle = handle, .flags = flags };

	return __vttm_ioctl(fd, DRM_IOCTL_VTTM_PIN, &args);
}

void *__vttm_map(int fd, uint32_t handle, uint64_t size)
{
	struct drm_vttm_gem_mmap args = { .handle = handle };

	if (__vttm_ioctl(fd, DRM_IOCTL_VTTM_GEM_MMAP, &args))
		return MAP_FAILED;
	return mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, args.offset);
}

void *vttm_map(int fd, uint32_t handle, uint64_t size)
{
	void *ptr = __vttm_map(fd, handle, size);

	igt_assert(ptr != MAP_FAILED);
	return ptr;
}

int __vttm_lab(int fd, uint32_t op, uint64_t value, void *ptr)
{
	struct drm_vttm_lab args = { .op = op, .value = value, .ptr = (uintptr_t)ptr };

	return __vttm_ioctl(fd, DRM_IOCTL_VTTM_LAB, &args);
}

int __vttm_reset(int fd, const struct drm_vttm_lab_config *config)
{
	return __vttm_lab(fd, DRM_VTTM_LAB_RESET, 0, (void *)config);
}

void vttm_one_cpu_on_um(void)
{
	FILE *f = fopen("/proc/cpuinfo", "r");
	cpu_set_t first;
	char line[256];
	bool um = false;

	igt_assert(f);
	while (fgets(line, sizeof(line), f))
		um |= strstr(line, "User Mode Linux") != NULL;
	fclose(f);
	if (!um)
		return;
	CPU_ZERO(&first);
	CPU_SET(0, &first);
	igt_assert_eq(sched_setaffinity(0, sizeof(first), &first), 0);
}

uint64_t vttm_random(uint64_t *state)
{
	uint64_t z = (*state += 0x9e3779b97f4a7c15ull);

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
	return z ^ (z >> 31);
}

/* Never zero, which is what memory is that nobody has written to. */
static uint32_t pattern(uint64_t index, uint32_t seed)
{
	uint64_t state = ((uint64_t)seed << 32) + index;

	return vttm_random(&state) | 1;
}

void vttm_fill(uint32_t *words, uint64_t size, uint32_t seed)
{
	uint64_t i;

	for (i = 0; i < size / sizeof(*words); i++)
		words[i] = pattern(i, seed);
}

int64_t vttm_first_wrong(const uint32_t *words, uint64_t size, uint32_t seed)
{
	uint64_t i;

	for (i = 0; i < size / sizeof(*words); i++)
		if (words[i] != pattern(i, seed))
			return i;
	return -1;
}

int64_t vttm_first_nonzero(const uint32_t *words, uint64_t size)
{
	uint64_t i;

	for (i = 0; i < size / sizeof(*words); i++)
		if (words[i])
			return i;
	return -1;
}

/* The first line of the state that tells of something that exists, or NULL. */
static const char *busy_line(char *state)
{
	static const char *const idle[] = {
		"usage 0\n", "running 0 queued 0\n", "moves 0\n", "pinned 0\n",
	};
	static const char *const kind[] = { "mgr ", "engine ", "moves ", "budget " };
	static char line[256];
	char *pos = state, *end;
	unsigned int i;

	for (; (end = strchr(pos, '\n')); pos = end + 1) {
		snprintf(line, sizeof(line), "%.*s", (int)(end + 1 - pos), pos);
		if (!strncmp(line, "bo ", 3) || !strncmp(line, "lru ", 4))
			return line;
		for (i = 0; i < 4; i++) {
			size_t len = strlen(idle[i]);

			if (!strncmp(line, kind[i], strlen(kind[i])) &&
			    (strlen(line) < len || strcmp(line + strlen(line) - len, idle[i])))
				return line;
		}
	}
	return NULL;
}

void vttm_assert_idle(void)
{
	static char state[1 << 16];
	int fd = vttm_open(), tries;
	const char *busy = NULL;

	for (tries = 0; tries < IDLE_TRIES; tries++) {
		int file = igt_debugfs_open(fd, "vttm_state", O_RDONLY);
		ssize_t len, n;

		igt_assert_fd(file);
		for (len = 0; (n = read(file, state + len, sizeof(state) - 1 - len)) > 0; len += n)
			;
		close(file);
		igt_assert_lt(0, len);
		state[len] = '\0';
		busy = busy_line(state);
		if (!busy)
			break;
		usleep(IDLE_TRY_US);
	}
	close(fd);
	igt_assert_f(!busy, "left behind: %s", busy);
}
