// SPDX-License-Identifier: MIT
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "igt.h"
#include "igt_vttm_replay_agent.h"
#include "igt_vttm_replay_cgroup.h"

#define PARAMETERS	"/sys/module/ttm/parameters/"
#define STATE_MAX	(4u << 20)
#define RESET_TRIES	5000

struct agent {
	int orders, replies;
	pid_t pid;
	bool has_ended;	/* within the call that began it */
	int error;
};

static struct {
	char path[96], value[32];
} changed[VTTM_REPLAY_SWITCHES + 2];
static int n_changed;

static bool read_file(const char *path, char *text, size_t size)
{
	FILE *f = fopen(path, "r");
	bool good = f && fgets(text, size, f);

	if (f)
		fclose(f);
	return good;
}

static void write_file(const char *path, const char *text)
{
	FILE *f = fopen(path, "w");

	igt_assert_f(f && fputs(text, f) >= 0 && !fclose(f), "cannot write %s to %s\n", text, path);
}

/* A kernel that lacks a parameter does what it does without, and the test finds out what that is. */
static void set_parameter(const char *name, const char *value)
{
	char path[96];

	igt_assert_lt(n_changed, (int)(sizeof(changed) / sizeof(changed[0])));
	snprintf(path, sizeof(path), PARAMETERS "%s", name);
	if (!read_file(path, changed[n_changed].value, sizeof(changed[0].value))) {
		igt_info("this kernel has no parameter %s of ttm\n", name);
		return;
	}
	strcpy(changed[n_changed++].path, path);
	write_file(path, value);
}

void vttm_replay_restore(void)
{
	while (n_changed > 0) {
		n_changed--;
		write_file(changed[n_changed].path, changed[n_changed].value);
	}
	vttm_replay_cgroups_remove();
}

static void set_parameters(const struct vttm_replay *replay)
{
	int i;

	/* BOs without contents take no memory, but TTM counts them. */
	set_parameter("pages_limit", "1099511627776");
	set_parameter("dma32_pages_limit", "1099511627776");
	for (i = 0; i < VTTM_REPLAY_SWITCHES && replay->switches[i]; i++) {
		char name[64];
		char *value;

		snprintf(name, sizeof(name), "%s", replay->switches[i]);
		value = strchr(name, '=');
		igt_assert(value);
		*value = '\0';
		set_parameter(name, value + 1);
	}
}

static void send_order(const struct agent *agent, struct agent_message m)
{
	igt_assert(write(agent->orders, &m, sizeof(m)) == sizeof(m));
}

static struct agent_reply receive(const struct agent *agent)
{
	struct agent_reply reply;

	igt_assert_f(read(agent->replies, &reply, sizeof(reply)) == sizeof(reply), "a process of the replay died\n");
	return reply;
}

static struct agent_reply ask(const struct agent *agent, struct agent_message m)
{
	send_order(agent, m);
	return receive(agent);
}

/*
 * Ends of pipes that children inherit from one another are closed in them: each sees that the test is gone.
 */
static void start_agents(const struct vttm_replay *replay, struct agent *agents)
{
	uint32_t i, other;

	for (i = 1; i <= replay->processes; i++) {
		int orders[2], replies[2];

		igt_assert_eq(pipe(orders), 0);
		igt_assert_eq(pipe(replies), 0);
		agents[i] = (struct agent){ .orders = orders[1], .replies = replies[0] };
		igt_fork(child, 1) {
			for (other = 1; other <= i; other++) {
				close(agents[other].orders);
				close(agents[other].replies);
			}
			if (replay->members && replay->members[i])
				vttm_replay_cgroup_enter(replay->members[i]);
			vttm_replay_agent(replay, orders[0], replies[1]);
		}
		close(orders[0]);
		close(replies[1]);
	}
	for (i = 1; i <= replay->processes; i++) {
		struct agent_reply reply = ask(&agents[i], (struct agent_message){ AGENT_TASK, .process = i });

		igt_assert_eq(reply.error, 0);
		agents[i].pid = reply.value;
	}
}

static void stop_agents(const struct vttm_replay *replay, struct agent *agents)
{
	uint32_t i;

	for (i = 1; i <= replay->processes; i++) {
		close(agents[i].orders);
		close(agents[i].replies);
	}
	igt_waitchildren();
}

/* Who has the target VM imports: it is the process that opened it. */
static uint32_t owner_of(const struct vttm_replay *replay, uint32_t vm)
{
	uint32_t i;

	for (i = 0; i < replay->count; i++)
		if (replay->calls[i].request == VTTM_REPLAY_VM_OPEN && replay->calls[i].vm == vm)
			return replay->calls[i].process;
	return 0;
}

static int share(const struct vttm_replay *replay, const struct agent *agents, uint32_t i)
{
	const struct vttm_replay_call *call = &replay->calls[i];
	uint32_t to = owner_of(replay, call->target_vm);
	struct agent_reply exported;

	if (!to)
		return -ENOENT;
	exported = ask(&agents[call->process], (struct agent_message){ AGENT_EXPORT, .call = i });
	if (exported.error)
		return exported.error;
	return ask(&agents[to], (struct agent_message){ AGENT_IMPORT, .call = i, .pid = agents[call->process].pid,
							.fd = exported.value }).error;
}

static uint32_t task_state(int fd, uint32_t op, uint32_t process)
{
	struct drm_vttm_lab args = { .op = op, .value = process };

	igt_assert_eq(__vttm_ioctl(fd, DRM_IOCTL_VTTM_LAB, &args), 0);
	return args.state;
}

static int execute(const struct vttm_replay *replay, const struct agent *agents, uint32_t i)
{
	const struct vttm_replay_call *call = &replay->calls[i];

	if (call->request == VTTM_REPLAY_BO_SHARE)
		return share(replay, agents, i);
	return ask(&agents[call->process], (struct agent_message){ AGENT_RUN, .call = i }).error;
}

/* These take no lock, so nothing can come between their parts. */
static bool is_atomic(enum vttm_replay_request request)
{
	return request == VTTM_REPLAY_VM_OPEN || request == VTTM_REPLAY_BO_SHARE ||
	       request == VTTM_REPLAY_LIST_DEFINE || request == VTTM_REPLAY_TOUCH_DEFINE;
}

static uint32_t begin(int fd, const struct vttm_replay *replay, struct agent *agents, uint32_t i)
{
	const struct vttm_replay_call *call = &replay->calls[i];
	struct agent *agent = &agents[call->process];

	if (is_atomic(call->request)) {
		agent->error = execute(replay, agents, i);
		agent->has_ended = true;
		return DRM_VTTM_TASK_IDLE;
	}
	igt_assert_eq(__vttm_lab(fd, DRM_VTTM_LAB_BEGIN, call->process, NULL), 0);
	send_order(agent, (struct agent_message){ AGENT_LOCKSTEP, .call = i });
	return task_state(fd, DRM_VTTM_LAB_STATE, call->process);
}

static int ended(int fd, struct agent *agents, const struct vttm_replay_call *call)
{
	struct agent *agent = &agents[call->process];

	if (agent->has_ended) {
		agent->has_ended = false;
		return agent->error;
	}
	igt_assert_eq(task_state(fd, DRM_VTTM_LAB_STATE, call->process), DRM_VTTM_TASK_IDLE);
	return receive(agent).error;
}

static void play(int fd, const struct vttm_replay *replay, struct agent *agents, uint32_t i)
{
	const struct vttm_replay_call *call = &replay->calls[i];
	uint32_t state = call->state;
	int error = 0;

	switch (call->kind) {
	case VTTM_REPLAY_EXECUTE:
		error = execute(replay, agents, i);
		break;
	case VTTM_REPLAY_BEGIN:
		state = begin(fd, replay, agents, i);
		break;
	case VTTM_REPLAY_STEP:
		state = task_state(fd, DRM_VTTM_LAB_STEP, call->process);
		break;
	case VTTM_REPLAY_ENDED:
		error = ended(fd, agents, call);
		break;
	case VTTM_REPLAY_ADVANCE:
		error = __vttm_lab(fd, DRM_VTTM_LAB_ADVANCE, call->at_ns, NULL);
		break;
	case VTTM_REPLAY_EVICT_ALL:
		error = __vttm_lab(fd, DRM_VTTM_LAB_EVICT_ALL, 0, NULL);
		break;
	case VTTM_REPLAY_SWAPOUT:
		error = __vttm_lab(fd, DRM_VTTM_LAB_SWAPOUT, 0, NULL);
		break;
	case VTTM_REPLAY_SET_LIMITS:
		error = vttm_replay_cgroup_limit(&call->cgroup);
		/* Lowering the maximum evicts, outside of the driver's own calls. */
		igt_assert_eq(__vttm_lab(fd, DRM_VTTM_LAB_SETTLE, 0, NULL), 0);
		break;
	}
	igt_assert_f(error == call->error, "call %u of process %u: error %d, expected %d\n", i, call->process, error,
		     call->error);
	igt_assert_f(state == call->state, "call %u of process %u: task state %u, expected %u\n", i, call->process,
		     state, call->state);
}

static void check_state(int fd, const char *expected)
{
	char *text = malloc(STATE_MAX);
	int file = igt_debugfs_open(fd, "vttm_state", O_RDONLY);
	const char *a, *b;
	size_t len = 0;
	ssize_t n;

	igt_assert(text);
	igt_assert_fd(file);
	while ((n = read(file, text + len, STATE_MAX - 1 - len)) > 0)
		len += n;
	close(file);
	text[len] = '\0';
	/* To the line that differs. */
	for (a = text, b = expected; *a && !strncmp(a, b, strcspn(a, "\n") + 1);) {
		size_t line = strcspn(a, "\n") + 1;

		a += line;
		b += line;
	}
	igt_assert_f(!*a && !*b, "state at the end: \"%.*s\", expected \"%.*s\"\n", (int)strcspn(a, "\n"), a,
		     (int)strcspn(b, "\n"), b);
	free(text);
}

/* Deleted BOs may wait for copies that are still under way, and time passes when it is told to. */
static int reset_device(int fd, const struct drm_vttm_lab_config *config)
{
	struct drm_vttm_lab settle = { .op = DRM_VTTM_LAB_SETTLE };
	int ret, tries;

	for (tries = 0; tries < RESET_TRIES; tries++) {
		ret = __vttm_reset(fd, config);
		if (ret != -EBUSY)
			break;
		igt_assert_eq(__vttm_ioctl(fd, DRM_IOCTL_VTTM_LAB, &settle), 0);
		if (settle.next_ns == ~0ull || __vttm_lab(fd, DRM_VTTM_LAB_ADVANCE, settle.next_ns, NULL))
			usleep(1000);
	}
	return ret;
}

void vttm_replay(const struct vttm_replay *replay)
{
	struct agent agents[VTTM_REPLAY_PROCESSES + 1] = {};
	struct drm_vttm_lab_config config = replay->config, old = vttm_config(8 * VTTM_MIB);
	int fd = vttm_open(), ret;
	uint32_t i;

	config.flags |= DRM_VTTM_LAB_CONFIG_VIRTUAL_CLOCK | DRM_VTTM_LAB_CONFIG_NO_CONTENTS;
	ret = reset_device(fd, &config);
	igt_require_f(ret != -EOPNOTSUPP, "a kernel without DMA_LAB\n");
	igt_assert_eq(ret, 0);
	set_parameters(replay);
	if (replay->cgroups)
		vttm_replay_cgroups_make(replay->cgroups);
	start_agents(replay, agents);
	for (i = 0; i < replay->count; i++)
		play(fd, replay, agents, i);
	check_state(fd, replay->state);
	stop_agents(replay, agents);
	igt_assert_eq(reset_device(fd, &old), 0);
	close(fd);
}
