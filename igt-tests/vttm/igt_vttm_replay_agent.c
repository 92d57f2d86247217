// SPDX-License-Identifier: MIT
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <drm.h>

#include "igt.h"
#include "igt_vttm_replay_agent.h"

#define NO_TIMEOUT_NS	INT64_MAX

struct agent_bo {
	uint64_t tag;
	uint32_t handle;
};

struct agent_vm {
	uint32_t label;
	int fd;
	uint64_t last_seqno;
	struct agent_bo *bos;
	uint32_t count;
	const struct vttm_replay_call *lists[VTTM_REPLAY_IDS + 1];
	const struct vttm_replay_call *touches[VTTM_REPLAY_IDS + 1];
};

/* Of this process. */
static struct agent_vm vms[VTTM_REPLAY_VMS];
static int lab_fd = -1;

static struct agent_vm *find_vm(uint32_t label)
{
	int i;

	for (i = 0; i < VTTM_REPLAY_VMS; i++)
		if (vms[i].label == label)
			return &vms[i];
	return NULL;
}

/* 0, which is never a handle, for a tag that this VM does not have: the driver's lookup fails. */
static uint32_t handle_of(const struct agent_vm *vm, uint64_t tag)
{
	uint32_t i;

	for (i = 0; i < vm->count; i++)
		if (vm->bos[i].tag == tag)
			return vm->bos[i].handle;
	return 0;
}

static void add_bo(struct agent_vm *vm, uint64_t tag, uint32_t handle)
{
	vm->bos = realloc(vm->bos, (vm->count + 1) * sizeof(*vm->bos));
	igt_assert(vm->bos);
	vm->bos[vm->count++] = (struct agent_bo){ tag, handle };
}

static int vm_open(uint32_t label)
{
	struct drm_vttm_vm_set_label arg = { .label = label };
	struct agent_vm *vm = find_vm(0);
	int ret;

	if (find_vm(label))
		return -EEXIST;
	igt_assert(vm);
	vm->fd = __vttm_open();
	if (vm->fd < 0)
		return vm->fd;
	ret = __vttm_ioctl(vm->fd, DRM_IOCTL_VTTM_VM_SET_LABEL, &arg);
	if (ret)
		close(vm->fd);
	else
		vm->label = label;
	return ret;
}

static int vm_close(struct agent_vm *vm)
{
	close(vm->fd);
	free(vm->bos);
	*vm = (struct agent_vm){};
	return 0;
}

static int bo_create(struct agent_vm *vm, const struct vttm_replay_call *call)
{
	struct drm_vttm_gem_create arg = {
		.size = call->size,
		.tag = call->bo,
		.preferred_domains = call->preferred,
		.allowed_domains = call->allowed,
		.flags = call->flags,
		.priority = call->priority,
	};
	int ret = __vttm_ioctl(vm->fd, DRM_IOCTL_VTTM_GEM_CREATE, &arg);

	if (!ret)
		add_bo(vm, call->bo, arg.handle);
	return ret;
}

static int bo_destroy(struct agent_vm *vm, uint64_t tag)
{
	struct drm_gem_close arg = { .handle = handle_of(vm, tag) };
	int ret = __vttm_ioctl(vm->fd, DRM_IOCTL_GEM_CLOSE, &arg);
	uint32_t i;

	for (i = 0; !ret && i < vm->count; i++) {
		if (vm->bos[i].tag == tag) {
			vm->bos[i] = vm->bos[--vm->count];
			break;
		}
	}
	return ret;
}

static int bo_set_priority(struct agent_vm *vm, const struct vttm_replay_call *call)
{
	struct drm_vttm_gem_set_priority arg = {
		.handle = handle_of(vm, call->bo),
		.priority = call->priority,
	};

	return __vttm_ioctl(vm->fd, DRM_IOCTL_VTTM_GEM_SET_PRIORITY, &arg);
}

static int submit(struct agent_vm *vm, const struct vttm_replay_call *call)
{
	const struct vttm_replay_call *list = vm->lists[call->list], *set = vm->touches[call->touch_set];
	struct drm_vttm_submit arg = {
		.engine = DRM_VTTM_ENGINE_GFX,
		.bo_stride = sizeof(struct drm_vttm_submit_bo),
		.touch_stride = sizeof(struct drm_vttm_submit_touch),
		.compute_ns = call->compute_ns,
	};
	struct drm_vttm_submit_bo *bos;
	struct drm_vttm_submit_touch *touches;
	uint32_t i;
	int ret;

	/* A list that was never defined. */
	if ((call->list && !list) || (call->touch_set && !set))
		return -ENOENT;
	arg.bo_count = list ? list->count : 0;
	arg.touch_count = set ? set->count : 0;
	bos = calloc(arg.bo_count + 1, sizeof(*bos));
	touches = calloc(arg.touch_count + 1, sizeof(*touches));
	igt_assert(bos && touches);
	for (i = 0; i < arg.bo_count; i++)
		bos[i].handle = handle_of(vm, list->bos[i]);
	for (i = 0; i < arg.touch_count; i++) {
		touches[i].handle = handle_of(vm, set->touches[i].bo);
		touches[i].vram_bytes = set->touches[i].vram_bytes;
		touches[i].link_bytes = set->touches[i].link_bytes;
	}
	arg.bos = list ? (uintptr_t)bos : 0;
	arg.touches = set ? (uintptr_t)touches : 0;
	ret = __vttm_ioctl(vm->fd, DRM_IOCTL_VTTM_SUBMIT, &arg);
	if (!ret)
		vm->last_seqno = arg.seqno;
	free(bos);
	free(touches);
	return ret;
}

/* Sequence number 0 is the last submission; before the first there is nothing to wait for. */
static int wait_for(struct agent_vm *vm, uint64_t seqno)
{
	seqno = seqno ?: vm->last_seqno;
	return seqno ? __vttm_wait(vm->fd, seqno, NO_TIMEOUT_NS) : 0;
}

static int run_call(const struct vttm_replay_call *call)
{
	struct agent_vm *vm = find_vm(call->vm);

	if (call->request == VTTM_REPLAY_VM_OPEN)
		return vm_open(call->vm);
	if (!vm)
		return -ENOENT;
	switch (call->request) {
	case VTTM_REPLAY_VM_CLOSE:
		return vm_close(vm);
	case VTTM_REPLAY_BO_CREATE:
		return bo_create(vm, call);
	case VTTM_REPLAY_BO_DESTROY:
		return bo_destroy(vm, call->bo);
	case VTTM_REPLAY_BO_SET_PRIORITY:
		return bo_set_priority(vm, call);
	case VTTM_REPLAY_LIST_DEFINE:
		vm->lists[call->id] = call;
		return 0;
	case VTTM_REPLAY_TOUCH_DEFINE:
		vm->touches[call->id] = call;
		return 0;
	case VTTM_REPLAY_SUBMIT:
		return submit(vm, call);
	case VTTM_REPLAY_WAIT:
		return wait_for(vm, call->seqno);
	case VTTM_REPLAY_PIN:
		return __vttm_pin(vm->fd, handle_of(vm, call->bo), 0);
	case VTTM_REPLAY_UNPIN:
		return __vttm_pin(vm->fd, handle_of(vm, call->bo), DRM_VTTM_PIN_UNPIN);
	default:
		return -EPROTO;
	}
}

static int export_bo(const struct vttm_replay_call *call, int *file)
{
	struct agent_vm *vm = find_vm(call->vm);
	struct drm_prime_handle arg = { .flags = DRM_CLOEXEC | DRM_RDWR };
	int ret;

	if (!vm)
		return -ENOENT;
	arg.handle = handle_of(vm, call->bo);
	ret = __vttm_ioctl(vm->fd, DRM_IOCTL_PRIME_HANDLE_TO_FD, &arg);
	*file = arg.fd;
	return ret;
}

static int import_bo(const struct vttm_replay_call *call, pid_t pid, int their_fd)
{
	struct agent_vm *vm = find_vm(call->target_vm);
	struct drm_prime_handle arg = {};
	int pidfd, ret;

	if (!vm)
		return -ENOENT;
	pidfd = syscall(SYS_pidfd_open, pid, 0);
	igt_assert_fd(pidfd);
	arg.fd = syscall(SYS_pidfd_getfd, pidfd, their_fd, 0);
	igt_assert_fd(arg.fd);
	ret = __vttm_ioctl(vm->fd, DRM_IOCTL_PRIME_FD_TO_HANDLE, &arg);
	if (!ret)
		add_bo(vm, call->bo, arg.handle);
	close(arg.fd);
	close(pidfd);
	return ret;
}

static int become_task(uint32_t process)
{
	if (lab_fd < 0)
		lab_fd = __vttm_open();
	igt_assert_fd(lab_fd);
	return __vttm_lab(lab_fd, DRM_VTTM_LAB_TASK, process, NULL);
}

void vttm_replay_agent(const struct vttm_replay *replay, int orders, int replies)
{
	struct agent_message m;
	int exported = -1;

	while (read(orders, &m, sizeof(m)) == sizeof(m)) {
		const struct vttm_replay_call *call = &replay->calls[m.call];
		struct agent_reply reply = {};

		/* What was exported has been imported by now, unless that comes next and is for a VM of ours, too. */
		if (exported >= 0 && m.order != AGENT_IMPORT) {
			close(exported);
			exported = -1;
		}
		switch (m.order) {
		case AGENT_TASK:
			reply.error = become_task(m.process);
			reply.value = getpid();
			break;
		case AGENT_RUN:
			reply.error = run_call(call);
			break;
		case AGENT_LOCKSTEP:
			reply.error = run_call(call);
			igt_assert_eq(__vttm_lab(lab_fd, DRM_VTTM_LAB_END, call->process, NULL), 0);
			break;
		case AGENT_EXPORT:
			reply.error = export_bo(call, &exported);
			reply.value = exported;
			break;
		case AGENT_IMPORT:
			reply.error = import_bo(call, m.pid, m.fd);
			break;
		}
		igt_assert(write(replies, &reply, sizeof(reply)) == sizeof(reply));
	}
}
