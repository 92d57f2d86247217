/* SPDX-License-Identifier: MIT */
/*
 * Plays what "vramlab conform --export" has written: calls of several processes
 * on a device with the virtual clock, in lockstep where they compete for locks.
 */
#ifndef IGT_VTTM_REPLAY_H
#define IGT_VTTM_REPLAY_H

#include <stdint.h>

#include "igt_vttm.h"

#define VTTM_REPLAY_VMS		64
#define VTTM_REPLAY_IDS		64
#define VTTM_REPLAY_PROCESSES	64
#define VTTM_REPLAY_SWITCHES	4

enum vttm_replay_kind {
	VTTM_REPLAY_EXECUTE,	/* a request, to its end: error */
	VTTM_REPLAY_BEGIN,	/* a request starts as a task: state */
	VTTM_REPLAY_STEP,	/* the task goes on: state */
	VTTM_REPLAY_ENDED,	/* the task's request is over: error */
	VTTM_REPLAY_ADVANCE,	/* the clock, to at_ns */
	VTTM_REPLAY_EVICT_ALL,	/* error */
	VTTM_REPLAY_SWAPOUT,	/* error */
	VTTM_REPLAY_SET_LIMITS,	/* of cgroup: error */
};

enum vttm_replay_request {
	VTTM_REPLAY_VM_OPEN,
	VTTM_REPLAY_VM_CLOSE,
	VTTM_REPLAY_BO_CREATE,
	VTTM_REPLAY_BO_SHARE,
	VTTM_REPLAY_BO_DESTROY,
	VTTM_REPLAY_BO_SET_PRIORITY,
	VTTM_REPLAY_LIST_DEFINE,
	VTTM_REPLAY_TOUCH_DEFINE,
	VTTM_REPLAY_SUBMIT,
	VTTM_REPLAY_WAIT,
	VTTM_REPLAY_PIN,
	VTTM_REPLAY_UNPIN,
};

struct vttm_replay_touch {
	uint64_t bo, vram_bytes, link_bytes;
};

/* Below a directory of the replay's own; limits in bytes of VRAM (dmem controller). */
struct vttm_replay_cgroup {
	const char *path;
	uint64_t min, low, max;
};

/* VMs are named by labels, BOs by tags, lists and touch sets by numbers from 1 within their VM. */
struct vttm_replay_call {
	enum vttm_replay_kind kind;
	uint32_t process;	/* from 1 */
	enum vttm_replay_request request;
	uint32_t vm, target_vm;
	uint64_t bo, size;
	uint32_t preferred, allowed, flags, priority;
	uint32_t id;		/* of what is defined */
	const uint64_t *bos;
	const struct vttm_replay_touch *touches;
	uint32_t count;		/* of these */
	uint32_t list, touch_set; /* of a submission, 0: none */
	uint64_t compute_ns, seqno, at_ns;
	struct vttm_replay_cgroup cgroup;
	uint32_t state;		/* expected: DRM_VTTM_TASK_* */
	int error;		/* expected: 0 or negative */
};

struct vttm_replay {
	struct drm_vttm_lab_config config; /* flags: OVERLAP only */
	const char *switches[VTTM_REPLAY_SWITCHES]; /* "PARAMETER=VALUE" of ttm, if it has that parameter */
	const struct vttm_replay_cgroup *cgroups; /* parents before children, up to one without a path */
	const char *const *members; /* cgroup of each process, by number */
	uint32_t processes;
	const struct vttm_replay_call *calls;
	uint32_t count;
	const char *state;	/* expected at the end, as debugfs has it */
};

/*
 * Asserts that each call does what is expected of it, and the state at the end. Skips without the virtual clock. Of
 * the tests of a program one plays at a time.
 */
void vttm_replay(const struct vttm_replay *replay);

/* In the last fixture, however the test ended: TTM's parameters as they were, and no cgroups. */
void vttm_replay_restore(void);

#endif
