/* SPDX-License-Identifier: MIT */
/* One process of a replay: does what it is told through a pair of pipes. */
#ifndef IGT_VTTM_REPLAY_AGENT_H
#define IGT_VTTM_REPLAY_AGENT_H

#include <sys/types.h>

#include "igt_vttm_replay.h"

enum agent_order {
	AGENT_TASK,	/* become task .process of the laboratory: value is the pid */
	AGENT_RUN,	/* call .call */
	AGENT_LOCKSTEP,	/* the same, as a task */
	AGENT_EXPORT,	/* the BO of .call as a file: value is its number */
	AGENT_IMPORT,	/* the BO of .call from file .fd of process .pid */
};

struct agent_message {
	enum agent_order order;
	uint32_t call, process;
	pid_t pid;
	int fd;
};

struct agent_reply {
	int error, value;
};

/* Serves until the other end of "orders" is closed. */
void vttm_replay_agent(const struct vttm_replay *replay, int orders, int replies);

#endif
