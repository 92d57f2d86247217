/* SPDX-License-Identifier: MIT */
/* The cgroups of a replay. */
#ifndef IGT_VTTM_REPLAY_CGROUP_H
#define IGT_VTTM_REPLAY_CGROUP_H

#include "igt_vttm_replay.h"

/* Makes them, with their limits. */
void vttm_replay_cgroups_make(const struct vttm_replay_cgroup *cgroups);

/* Moves the calling process there. */
void vttm_replay_cgroup_enter(const char *path);

/* Return: 0 or negative. */
int vttm_replay_cgroup_limit(const struct vttm_replay_cgroup *cgroup);

/* Those that no process is in any more. */
void vttm_replay_cgroups_remove(void);

#endif
