// SPDX-License-Identifier: MIT
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "igt.h"
#include "igt_vttm_replay_cgroup.h"

#define ROOT		"/sys/fs/cgroup"
#define PATH_SIZE	256
#define MADE_MAX	32

/* In the order in which they were made. */
static char made[MADE_MAX][PATH_SIZE];
static int n_made;

static int write_file(const char *dir, const char *name, const char *text)
{
	char path[PATH_SIZE + 64];
	int fd, ret;

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	fd = open(path, O_WRONLY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	ret = write(fd, text, strlen(text)) < 0 ? -errno : 0;
	close(fd);
	return ret;
}

static void dir_of(const char *path, char dir[PATH_SIZE])
{
	igt_assert_lt(snprintf(dir, PATH_SIZE, ROOT "/vttm-replay.%s", path), PATH_SIZE);
}

/* The name of VRAM in the controller. */
static void find_region(char *name, size_t size)
{
	FILE *f = fopen(ROOT "/dmem.capacity", "r");
	char line[128] = "";

	igt_require_f(f, "a kernel without the dmem controller\n");
	while (fgets(line, sizeof(line), f) && strncmp(line, "drm/vttm", strlen("drm/vttm")))
		;
	fclose(f);
	igt_assert_f(strchr(line, ' '), "no region of vttm in dmem.capacity\n");
	*strchr(line, ' ') = '\0';
	snprintf(name, size, "%s", line);
}

static int write_limit(const char *dir, const char *region, const char *file, uint64_t bytes)
{
	char text[192];

	/* More than the kernel's counters hold is no limit. */
	if (bytes >= INT64_MAX / VTTM_PAGE)
		snprintf(text, sizeof(text), "%s max", region);
	else
		snprintf(text, sizeof(text), "%s %llu", region, (unsigned long long)bytes);
	return write_file(dir, file, text);
}

int vttm_replay_cgroup_limit(const struct vttm_replay_cgroup *cgroup)
{
	char dir[PATH_SIZE], region[128];
	int ret;

	dir_of(cgroup->path, dir);
	find_region(region, sizeof(region));
	ret = write_limit(dir, region, "dmem.min", cgroup->min);
	if (!ret)
		ret = write_limit(dir, region, "dmem.low", cgroup->low);
	return ret ?: write_limit(dir, region, "dmem.max", cgroup->max);
}

static bool has_children(const struct vttm_replay_cgroup *cgroups, const char *path)
{
	size_t len = strlen(path);

	for (; cgroups->path; cgroups++)
		if (!strncmp(cgroups->path, path, len) && cgroups->path[len] == '/')
			return true;
	return false;
}

void vttm_replay_cgroups_make(const struct vttm_replay_cgroup *cgroups)
{
	const struct vttm_replay_cgroup *c;

	igt_assert_eq(write_file(ROOT, "cgroup.subtree_control", "+dmem"), 0);
	for (c = cgroups; c->path; c++) {
		igt_assert_lt(n_made, MADE_MAX);
		dir_of(c->path, made[n_made]);
		igt_assert_eq(mkdir(made[n_made], 0755), 0);
		if (has_children(cgroups, c->path))
			igt_assert_eq(write_file(made[n_made], "cgroup.subtree_control", "+dmem"), 0);
		n_made++;
		igt_assert_eq(vttm_replay_cgroup_limit(c), 0);
	}
}

void vttm_replay_cgroup_enter(const char *path)
{
	char dir[PATH_SIZE], pid[16];

	dir_of(path, dir);
	snprintf(pid, sizeof(pid), "%d", getpid());
	igt_assert_eq(write_file(dir, "cgroup.procs", pid), 0);
}

void vttm_replay_cgroups_remove(void)
{
	while (n_made > 0)
		rmdir(made[--n_made]);
}
