// SPDX-License-Identifier: MIT
/*
 * Two clients, each with a list of 7 of 8 BOs' room, submit at the same time in opposite orders.
 * Written by "vramlab conform --export": what each call returns, and the state at the end, are
 * those of the model under mainline-7.3.4.
 * failed_submissions == 0: does not hold (3).
 */
#include "igt.h"
#include "igt_vttm_replay.h"

IGT_TEST_DESCRIPTION("Two clients, each with a list of 7 of 8 BOs' room, submit at the same time in opposite orders");

static const uint64_t list_16[] = {
	1, 2, 3, 4, 5, 6, 7,
};

static const uint64_t list_17[] = {
	14, 13, 12, 11, 10, 9, 8,
};

static const struct vttm_replay_call calls[] = {
	{ VTTM_REPLAY_EXECUTE, .process = 1, .request = VTTM_REPLAY_VM_OPEN, .vm = 1 },
	{ VTTM_REPLAY_EXECUTE, .process = 1, .request = VTTM_REPLAY_BO_CREATE, .vm = 1, .bo = 1,
	  .size = 2097152, .preferred = 4, .allowed = 4, .flags = 0, .priority = 7 },
	{ VTTM_REPLAY_EXECUTE, .process = 1, .request = VTTM_REPLAY_BO_CREATE, .vm = 1, .bo = 2,
	  .size = 2097152, .preferred = 4, .allowed = 4, .flags = 0, .priority = 7 },
	{ VTTM_REPLAY_EXECUTE, .process = 1, .request = VTTM_REPLAY_BO_CREATE, .vm = 1, .bo = 3,
	  .size = 2097152, .preferred = 4, .allowed = 4, .flags = 0, .priority = 7 },
	{ VTTM_REPLAY_EXECUTE, .process = 1, .request = VTTM_REPLAY_BO_CREATE, .vm = 1, .bo = 4,
	  .size = 2097152, .preferred = 4, .allowed = 4, .flags = 0, .priority = 7 },
	{ VTTM_REPLAY_EXECUTE, .process = 1, .request = VTTM_REPLAY_BO_CREATE, .vm = 1, .bo = 5,
	  .size = 2097152, .preferred = 4, .allowed = 4, .flags = 0, .priority = 7 },
	{ VTTM_REPLAY_EXECUTE, .process = 1, .request = VTTM_REPLAY_BO_CREATE, .vm = 1, .bo = 6,
	  .size = 2097152, .preferred = 4, .allowed = 4, .flags = 0, .priority = 7 },
	{ VTTM_REPLAY_EXECUTE, .process = 1, .request = VTTM_REPLAY_BO_CREATE, .vm = 1, .bo = 7,
	  .size = 2097152, .preferred = 4, .allowed = 4, .flags = 0, .priority = 7 },
	{ VTTM_REPLAY_EXECUTE, .process = 2, .request = VTTM_REPLAY_VM_OPEN, .vm = 2 },
	{ VTTM_REPLAY_EXECUTE, .process = 2, .request = VTTM_REPLAY_BO_CREATE, .vm = 2, .bo = 8,
	  .size = 2097152, .preferred = 4, .allowed = 4, .flags = 0, .priority = 7 },
	{ VTTM_REPLAY_EXECUTE, .process = 2, .request = VTTM_REPLAY_BO_CREATE, .vm = 2, .bo = 9,
	  .size = 2097152, .preferred = 4, .allowed = 4, .flags = 0, .priority = 7 },
	{ VTTM_REPLAY_EXECUTE, .process = 2, .request = VTTM_REPLAY_BO_CREATE, .vm = 2, .bo = 10,
	  .size = 2097152, .preferred = 4, .allowed = 4, .flags = 0, .priority = 7 },
	{ VTTM_REPLAY_EXECUTE, .process = 2, .request = VTTM_REPLAY_BO_CREATE, .vm = 2, .bo = 11,
	  .size = 2097152, .preferred = 4, .allowed = 4, .flags = 0, .priority = 7 },
	{ VTTM_REPLAY_EXECUTE, .process = 2, .request = VTTM_REPLAY_BO_CREATE, .vm = 2, .bo = 12,
	  .size = 2097152, .preferred = 4, .allowed = 4, .flags = 0, .priority = 7 },
	{ VTTM_REPLAY_EXECUTE, .process = 2, .request = VTTM_REPLAY_BO_CREATE, .vm = 2, .bo = 13,
	  .size = 2097152, .preferred = 4, .allowed = 4, .flags = 0, .priority = 7 },
	{ VTTM_REPLAY_EXECUTE, .process = 2, .request = VTTM_REPLAY_BO_CREATE, .vm = 2, .bo = 14,
	  .size = 2097152, .preferred = 4, .allowed = 4, .flags = 0, .priority = 7 },
	{ VTTM_REPLAY_EXECUTE, .process = 1, .request = VTTM_REPLAY_LIST_DEFINE, .vm = 1, .id = 1,
	  .bos = list_16, .count = 7 },
	{ VTTM_REPLAY_EXECUTE, .process = 2, .request = VTTM_REPLAY_LIST_DEFINE, .vm = 2, .id = 1,
	  .bos = list_17, .count = 7 },
	{ VTTM_REPLAY_BEGIN, .process = 1, .request = VTTM_REPLAY_SUBMIT, .vm = 1, .list = 1, .compute_ns = 1000000, .state = DRM_VTTM_TASK_PARKED },
	{ VTTM_REPLAY_BEGIN, .process = 2, .request = VTTM_REPLAY_SUBMIT, .vm = 2, .list = 1, .compute_ns = 1000000, .state = DRM_VTTM_TASK_PARKED },
	{ VTTM_REPLAY_STEP, .process = 1, .state = DRM_VTTM_TASK_PARKED },
	{ VTTM_REPLAY_STEP, .process = 2, .state = DRM_VTTM_TASK_PARKED },
	{ VTTM_REPLAY_STEP, .process = 1, .state = DRM_VTTM_TASK_PARKED },
	{ VTTM_REPLAY_STEP, .process = 1, .state = DRM_VTTM_TASK_PARKED },
	{ VTTM_REPLAY_STEP, .process = 1, .state = DRM_VTTM_TASK_PARKED },
	{ VTTM_REPLAY_STEP, .process = 2, .state = DRM_VTTM_TASK_PARKED },
	{ VTTM_REPLAY_STEP, .process = 1, .state = DRM_VTTM_TASK_PARKED },
	{ VTTM_REPLAY_STEP, .process = 2, .state = DRM_VTTM_TASK_PARKED },
	{ VTTM_REPLAY_STEP, .process = 1, .state = DRM_VTTM_TASK_PARKED },
	{ VTTM_REPLAY_STEP, .process = 1, .state = DRM_VTTM_TASK_PARKED },
	{ VTTM_REPLAY_STEP, .process = 2, .state = DRM_VTTM_TASK_PARKED },
	{ VTTM_REPLAY_STEP, .process = 2, .state = DRM_VTTM_TASK_PARKED },
	{ VTTM_REPLAY_STEP, .process = 2, .state = DRM_VTTM_TASK_PARKED },
	{ VTTM_REPLAY_STEP, .process = 2, .state = DRM_VTTM_TASK_PARKED },
	{ VTTM_REPLAY_STEP, .process = 1, .state = DRM_VTTM_TASK_PARKED },
	{ VTTM_REPLAY_STEP, .process = 1, .state = DRM_VTTM_TASK_PARKED },
	{ VTTM_REPLAY_STEP, .process = 1, .state = DRM_VTTM_TASK_BLOCKED },
	{ VTTM_REPLAY_STEP, .process = 2, .state = DRM_VTTM_TASK_PARKED },
	{ VTTM_REPLAY_STEP, .process = 2, .state = DRM_VTTM_TASK_IDLE },
	{ VTTM_REPLAY_ENDED, .process = 2, .error = -12 },
	{ VTTM_REPLAY_STEP, .process = 1, .state = DRM_VTTM_TASK_IDLE },
	{ VTTM_REPLAY_ENDED, .process = 1 },
	{ VTTM_REPLAY_BEGIN, .process = 1, .request = VTTM_REPLAY_SUBMIT, .vm = 1, .list = 1, .compute_ns = 1000000, .state = DRM_VTTM_TASK_PARKED },
	{ VTTM_REPLAY_BEGIN, .process = 2, .request = VTTM_REPLAY_SUBMIT, .vm = 2, .list = 1, .compute_ns = 1000000, .state = DRM_VTTM_TASK_PARKED },
	{ VTTM_REPLAY_STEP, .process = 1, .state = DRM_VTTM_TASK_PARKED },
	{ VTTM_REPLAY_STEP, .process = 2, .state = DRM_VTTM_TASK_PARKED },
	{ VTTM_REPLAY_STEP, .process = 2, .state = DRM_VTTM_TASK_PARKED },
	{ VTTM_REPLAY_STEP, .process = 2, .state = DRM_VTTM_TASK_PARKED },
	{ VTTM_REPLAY_STEP, .process = 1, .state = DRM_VTTM_TASK_PARKED },
	{ VTTM_REPLAY_STEP, .process = 1, .state = DRM_VTTM_TASK_PARKED },
	{ VTTM_REPLAY_STEP, .process = 1, .state = DRM_VTTM_TASK_PARKED },
	{ VTTM_REPLAY_STEP, .process = 1, .state = DRM_VTTM_TASK_PARKED },
	{ VTTM_REPLAY_STEP, .process = 1, .state = DRM_VTTM_TASK_PARKED },
	{ VTTM_REPLAY_STEP, .process = 1, .state = DRM_VTTM_TASK_PARKED },
	{ VTTM_REPLAY_STEP, .process = 1, .state = DRM_VTTM_TASK_IDLE },
	{ VTTM_REPLAY_ENDED, .process = 1 },
	{ VTTM_REPLAY_STEP, .process = 2, .state = DRM_VTTM_TASK_PARKED },
	{ VTTM_REPLAY_STEP, .process = 2, .state = DRM_VTTM_TASK_PARKED },
	{ VTTM_REPLAY_STEP, .process = 2, .state = DRM_VTTM_TASK_PARKED },
	{ VTTM_REPLAY_STEP, .process = 2, .state = DRM_VTTM_TASK_PARKED },
	{ VTTM_REPLAY_STEP, .process = 2, .state = DRM_VTTM_TASK_IDLE },
	{ VTTM_REPLAY_ENDED, .process = 2 },
	{ VTTM_REPLAY_BEGIN, .process = 1, .request = VTTM_REPLAY_SUBMIT, .vm = 1, .list = 1, .compute_ns = 1000000, .state = DRM_VTTM_TASK_PARKED },
	{ VTTM_REPLAY_BEGIN, .process = 2, .request = VTTM_REPLAY_SUBMIT, .vm = 2, .list = 1, .compute_ns = 1000000, .state = DRM_VTTM_TASK_PARKED },
	{ VTTM_REPLAY_STEP, .process = 1, .state = DRM_VTTM_TASK_PARKED },
	{ VTTM_REPLAY_STEP, .process = 1, .state = DRM_VTTM_TASK_PARKED },
	{ VTTM_REPLAY_STEP, .process = 2, .state = DRM_VTTM_TASK_PARKED },
	{ VTTM_REPLAY_STEP, .process = 1, .state = DRM_VTTM_TASK_PARKED },
	{ VTTM_REPLAY_STEP, .process = 1, .state = DRM_VTTM_TASK_PARKED },
	{ VTTM_REPLAY_STEP, .process = 1, .state = DRM_VTTM_TASK_PARKED },
	{ VTTM_REPLAY_STEP, .process = 2, .state = DRM_VTTM_TASK_PARKED },
	{ VTTM_REPLAY_STEP, .process = 2, .state = DRM_VTTM_TASK_PARKED },
	{ VTTM_REPLAY_STEP, .process = 2, .state = DRM_VTTM_TASK_PARKED },
	{ VTTM_REPLAY_STEP, .process = 1, .state = DRM_VTTM_TASK_PARKED },
	{ VTTM_REPLAY_STEP, .process = 1, .state = DRM_VTTM_TASK_PARKED },
	{ VTTM_REPLAY_STEP, .process = 2, .state = DRM_VTTM_TASK_PARKED },
	{ VTTM_REPLAY_STEP, .process = 1, .state = DRM_VTTM_TASK_PARKED },
	{ VTTM_REPLAY_STEP, .process = 2, .state = DRM_VTTM_TASK_PARKED },
	{ VTTM_REPLAY_STEP, .process = 2, .state = DRM_VTTM_TASK_PARKED },
	{ VTTM_REPLAY_STEP, .process = 1, .state = DRM_VTTM_TASK_PARKED },
	{ VTTM_REPLAY_STEP, .process = 1, .state = DRM_VTTM_TASK_BLOCKED },
	{ VTTM_REPLAY_STEP, .process = 2, .state = DRM_VTTM_TASK_PARKED },
	{ VTTM_REPLAY_STEP, .process = 2, .state = DRM_VTTM_TASK_IDLE },
	{ VTTM_REPLAY_ENDED, .process = 2, .error = -12 },
	{ VTTM_REPLAY_STEP, .process = 1, .state = DRM_VTTM_TASK_IDLE },
	{ VTTM_REPLAY_ENDED, .process = 1 },
	{ VTTM_REPLAY_BEGIN, .process = 1, .request = VTTM_REPLAY_SUBMIT, .vm = 1, .list = 1, .compute_ns = 1000000, .state = DRM_VTTM_TASK_PARKED },
	{ VTTM_REPLAY_BEGIN, .process = 2, .request = VTTM_REPLAY_SUBMIT, .vm = 2, .list = 1, .compute_ns = 1000000, .state = DRM_VTTM_TASK_PARKED },
	{ VTTM_REPLAY_STEP, .process = 1, .state = DRM_VTTM_TASK_PARKED },
	{ VTTM_REPLAY_STEP, .process = 2, .state = DRM_VTTM_TASK_PARKED },
	{ VTTM_REPLAY_STEP, .process = 1, .state = DRM_VTTM_TASK_PARKED },
	{ VTTM_REPLAY_STEP, .process = 1, .state = DRM_VTTM_TASK_PARKED },
	{ VTTM_REPLAY_STEP, .process = 2, .state = DRM_VTTM_TASK_PARKED },
	{ VTTM_REPLAY_STEP, .process = 1, .state = DRM_VTTM_TASK_PARKED },
	{ VTTM_REPLAY_STEP, .process = 2, .state = DRM_VTTM_TASK_PARKED },
	{ VTTM_REPLAY_STEP, .process = 2, .state = DRM_VTTM_TASK_PARKED },
	{ VTTM_REPLAY_STEP, .process = 1, .state = DRM_VTTM_TASK_PARKED },
	{ VTTM_REPLAY_STEP, .process = 1, .state = DRM_VTTM_TASK_PARKED },
	{ VTTM_REPLAY_STEP, .process = 1, .state = DRM_VTTM_TASK_PARKED },
	{ VTTM_REPLAY_STEP, .process = 2, .state = DRM_VTTM_TASK_PARKED },
	{ VTTM_REPLAY_STEP, .process = 2, .state = DRM_VTTM_TASK_PARKED },
	{ VTTM_REPLAY_STEP, .process = 2, .state = DRM_VTTM_TASK_PARKED },
	{ VTTM_REPLAY_STEP, .process = 2, .state = DRM_VTTM_TASK_PARKED },
	{ VTTM_REPLAY_STEP, .process = 2, .state = DRM_VTTM_TASK_PARKED },
	{ VTTM_REPLAY_STEP, .process = 2, .state = DRM_VTTM_TASK_IDLE },
	{ VTTM_REPLAY_ENDED, .process = 2, .error = -12 },
	{ VTTM_REPLAY_STEP, .process = 1, .state = DRM_VTTM_TASK_IDLE },
	{ VTTM_REPLAY_ENDED, .process = 1 },
	{ VTTM_REPLAY_EXECUTE, .process = 1, .request = VTTM_REPLAY_WAIT, .vm = 1 },
	{ VTTM_REPLAY_EXECUTE, .process = 2, .request = VTTM_REPLAY_WAIT, .vm = 2 },
};

static const char state[] =
	"clock 11022086\n"
	"budget accum_us -15204352 last_us 0 pinned 0\n"
	"mgr vram size 16777216 usage 16777216\n"
	"mgr gtt size 67108864 usage 12582912\n"
	"free\n"
	"engine gfx end 11022086 running 0 queued 0\n"
	"engine copy end 10022086 running 0 queued 0\n"
	"moves 0\n"
	"vm 1 seqno 4 evicted\n"
	"vm 2 seqno 1 evicted\n"
	"bo 1 vm - size 2097152 mem vram place 10485760+2097152 pin 0 prio 7 pref 4 allowed 4 flags 0 cpu 0 busy 0\n"
	"bo 2 vm - size 2097152 mem vram place 8388608+2097152 pin 0 prio 7 pref 4 allowed 4 flags 0 cpu 0 busy 0\n"
	"bo 3 vm - size 2097152 mem vram place 6291456+2097152 pin 0 prio 7 pref 4 allowed 4 flags 0 cpu 0 busy 0\n"
	"bo 4 vm - size 2097152 mem vram place 4194304+2097152 pin 0 prio 7 pref 4 allowed 4 flags 0 cpu 0 busy 0\n"
	"bo 5 vm - size 2097152 mem vram place 0+2097152 pin 0 prio 7 pref 4 allowed 4 flags 0 cpu 0 busy 0\n"
	"bo 6 vm - size 2097152 mem vram place 14680064+2097152 pin 0 prio 7 pref 4 allowed 4 flags 0 cpu 0 busy 0\n"
	"bo 7 vm - size 2097152 mem vram place 12582912+2097152 pin 0 prio 7 pref 4 allowed 4 flags 0 cpu 0 busy 0\n"
	"bo 8 vm - size 2097152 mem gtt place pin 0 prio 7 pref 4 allowed 4 flags 0 cpu 0 busy 0\n"
	"bo 9 vm - size 2097152 mem gtt place pin 0 prio 7 pref 4 allowed 4 flags 0 cpu 0 busy 0\n"
	"bo 10 vm - size 2097152 mem gtt place pin 0 prio 7 pref 4 allowed 4 flags 0 cpu 0 busy 0\n"
	"bo 11 vm - size 2097152 mem gtt place pin 0 prio 7 pref 4 allowed 4 flags 0 cpu 0 busy 0\n"
	"bo 12 vm - size 2097152 mem gtt place pin 0 prio 7 pref 4 allowed 4 flags 0 cpu 0 busy 0\n"
	"bo 13 vm - size 2097152 mem gtt place pin 0 prio 7 pref 4 allowed 4 flags 0 cpu 0 busy 0\n"
	"bo 14 vm - size 2097152 mem vram place 2097152+2097152 pin 0 prio 7 pref 4 allowed 4 flags 0 cpu 0 busy 0\n"
	"lru gtt 1 10 9 8 13 12 11\n"
	"lru vram 1 14 1 2 3 4 5 6 7\n";

static const struct vttm_replay replay = {
	.config = {
		.vram_size = 16777216,
		.gtt_size = 67108864,
		.vram_bandwidth = 274877906944,
		.link_bandwidth = 17179869184,
		.copy_latency_ns = 5000,
		.log2_max_mbps = 3,
	},
	.switches = { "exec_retry=N", "throttle=N", "bo_priority=N", "contig_range=N" },
	.processes = 2,
	.calls = calls,
	.count = sizeof(calls) / sizeof(calls[0]),
	.state = state,
};

int igt_main()
{
	igt_describe("What mainline-7.3.4 does");
	igt_subtest("opposite-orders")
		vttm_replay(&replay);
	igt_fixture()
		vttm_replay_restore();
}
