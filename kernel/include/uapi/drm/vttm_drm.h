/* SPDX-License-Identifier: MIT */
/*
 * vttm: a virtual GPU whose video memory is managed by TTM.
 */
#ifndef _VTTM_DRM_H_
#define _VTTM_DRM_H_

#include "drm.h"

#if defined(__cplusplus)
extern "C" {
#endif

/**
 * DOC: uAPI evolution rules
 *
 * - Structures are aligned to 8 bytes; every field is naturally aligned and
 *   gaps are named pad fields, which must be zero.
 * - Unknown flags and non-zero padding are refused with -EINVAL.
 * - Flags can be added, never removed or given another meaning.
 * - Fields can be added at the end of the structure that is passed to the
 *   ioctl, such that zero keeps the old behaviour. Objects in arrays carry a
 *   stride, so that they can grow as well: a larger stride than the kernel
 *   knows is accepted if the unknown tail is zero, else -E2BIG.
 * - Structures contain no unions.
 * - ioctls are not removed, and new ones go to the end of the enumeration.
 * - Sizes are in bytes, times in nanoseconds of the device clock.
 */

/** enum drm_vttm_ioctl_id - ioctl numbers, relative to DRM_COMMAND_BASE. */
enum drm_vttm_ioctl_id {
	/** @DRM_VTTM_GET_INFO: Query the device, its usage and its clock. */
	DRM_VTTM_GET_INFO = 0,
	/** @DRM_VTTM_GEM_CREATE: Create a buffer object. */
	DRM_VTTM_GEM_CREATE,
	/** @DRM_VTTM_GEM_MMAP: Get the file offset to map a buffer object. */
	DRM_VTTM_GEM_MMAP,
	/** @DRM_VTTM_GEM_INFO: Query a buffer object. */
	DRM_VTTM_GEM_INFO,
	/** @DRM_VTTM_GEM_SET_PRIORITY: Set the priority within the VM. */
	DRM_VTTM_GEM_SET_PRIORITY,
	/** @DRM_VTTM_SUBMIT: Submit a job to an engine. */
	DRM_VTTM_SUBMIT,
	/** @DRM_VTTM_WAIT: Wait for a submission of this file. */
	DRM_VTTM_WAIT,
	/** @DRM_VTTM_PIN: Pin a buffer object for scanout, or unpin it. */
	DRM_VTTM_PIN,
	/** @DRM_VTTM_VM_SET_LABEL: Name this file's VM in debugfs and traces. */
	DRM_VTTM_VM_SET_LABEL,
	/** @DRM_VTTM_LAB: Laboratory control of the device (privileged). */
	DRM_VTTM_LAB,
	/** @DRM_VTTM_VM_GET_STATE: Query what became of this file's VM. */
	DRM_VTTM_VM_GET_STATE,
};

/* Memory domains; a mask in the ioctls, a single bit in results. */
#define DRM_VTTM_DOMAIN_SYSTEM	(1u << 0)
#define DRM_VTTM_DOMAIN_GTT	(1u << 1)
#define DRM_VTTM_DOMAIN_VRAM	(1u << 2)
#define DRM_VTTM_DOMAIN_MASK	0x7u

/*
 * Priorities of private BOs within their VM run from 0 (evicted first) to this
 * value. When video memory is short, those of a VM leave from the lowest
 * priority up, and of one priority those that have been there longest. A
 * submission may put BOs of lower priority out for one of higher priority. A BO
 * of priority 0 that was moved out of video memory stays out, as long as it is
 * allowed to be elsewhere.
 *
 * Which VM has to give way first does not depend on priorities, and shared BOs
 * have no use for one: it is accepted, and has no effect.
 */
#define DRM_VTTM_PRIORITY_MAX		15u
#define DRM_VTTM_PRIORITY_DEFAULT	7u

/** struct drm_vttm_get_info - Arguments of DRM_IOCTL_VTTM_GET_INFO. */
struct drm_vttm_get_info {
	/** @vram_size: Size of video memory, bytes. */
	__u64 vram_size;
	/** @vram_usage: Bytes allocated in video memory by everybody. */
	__u64 vram_usage;
	/** @vram_pinned: Bytes of video memory that are pinned. */
	__u64 vram_pinned;
	/** @gtt_size: Size of the GTT domain, bytes. */
	__u64 gtt_size;
	/** @gtt_usage: Bytes allocated in the GTT domain by everybody. */
	__u64 gtt_usage;
	/** @clock_ns: The device clock. */
	__u64 clock_ns;
	/** @bytes_moved: Bytes moved between domains since reset. */
	__u64 bytes_moved;
	/** @evictions: Evictions from video memory since reset. */
	__u64 evictions;
	/** @flags: DRM_VTTM_INFO_*. */
	__u32 flags;
/* The clock is virtual: it moves only with modelled device time. */
#define DRM_VTTM_INFO_VIRTUAL_CLOCK	(1u << 0)
	/** @pad: MBZ. */
	__u32 pad;
};

/** struct drm_vttm_gem_create - Arguments of DRM_IOCTL_VTTM_GEM_CREATE. */
struct drm_vttm_gem_create {
	/** @size: Size in bytes, a multiple of the page size, not zero. */
	__u64 size;
	/** @tag: Number shown in debugfs and traces; no meaning to the driver. */
	__u64 tag;
	/** @preferred_domains: Mask of domains to place the BO in; not zero. */
	__u32 preferred_domains;
	/**
	 * @allowed_domains: Mask of domains that a submission can work with.
	 * Zero: @preferred_domains, and GTT as well if that is VRAM alone.
	 * Else a superset of @preferred_domains.
	 */
	__u32 allowed_domains;
	/** @flags: DRM_VTTM_GEM_*. */
	__u32 flags;
/* Private to the VM of this file and valid in all of its submissions. */
#define DRM_VTTM_GEM_VM_PRIVATE		(1u << 0)
/* One physical range when in VRAM: tried at creation, enforced by a pin. */
#define DRM_VTTM_GEM_CONTIGUOUS		(1u << 1)
/* Other clients synchronise explicitly: no implicit fences between VMs. */
#define DRM_VTTM_GEM_EXPLICIT_SYNC	(1u << 2)
#define DRM_VTTM_GEM_FLAGS_MASK		0x7u
	/** @priority: 0 to DRM_VTTM_PRIORITY_MAX; no effect on shared BOs. */
	__u32 priority;
	/** @handle: Returned GEM handle. */
	__u32 handle;
	/** @pad: MBZ. */
	__u32 pad;
};

/** struct drm_vttm_gem_mmap - Arguments of DRM_IOCTL_VTTM_GEM_MMAP. */
struct drm_vttm_gem_mmap {
	/** @handle: GEM handle. */
	__u32 handle;
	/** @pad: MBZ. */
	__u32 pad;
	/** @offset: Returned offset for mmap(2) on the DRM file. */
	__u64 offset;
};

/** struct drm_vttm_gem_info - Arguments of DRM_IOCTL_VTTM_GEM_INFO. */
struct drm_vttm_gem_info {
	/** @handle: GEM handle. */
	__u32 handle;
	/** @domain: Returned domain that the BO is in; 0 if it has no memory. */
	__u32 domain;
	/** @size: Returned size, bytes. */
	__u64 size;
	/** @tag: Returned tag. */
	__u64 tag;
	/** @flags: Returned creation flags. */
	__u32 flags;
	/** @priority: Returned priority. */
	__u32 priority;
	/** @pin_count: Returned pin count. */
	__u32 pin_count;
	/** @pad: MBZ. */
	__u32 pad;
};

/**
 * struct drm_vttm_gem_set_priority - Arguments of DRM_IOCTL_VTTM_GEM_SET_PRIORITY.
 *
 * The BO counts as just used. If it is raised while it is out of its preferred
 * domains, the next submission tries to bring it there.
 */
struct drm_vttm_gem_set_priority {
	/** @handle: GEM handle of a BO private to this file's VM, else -EINVAL. */
	__u32 handle;
	/** @priority: 0 to DRM_VTTM_PRIORITY_MAX. */
	__u32 priority;
};

/**
 * struct drm_vttm_submit_bo - One buffer object that a submission locks,
 * validates, synchronises with and fences.
 */
struct drm_vttm_submit_bo {
	/** @handle: GEM handle. */
	__u32 handle;
	/** @flags: MBZ. */
	__u32 flags;
};

/**
 * struct drm_vttm_submit_touch - Memory that a job touches.
 *
 * The BO must be private to the VM or listed in the same submission, else
 * -EINVAL. Which of the two amounts counts depends on where the BO is.
 */
struct drm_vttm_submit_touch {
	/** @handle: GEM handle. */
	__u32 handle;
	/** @pad: MBZ. */
	__u32 pad;
	/** @vram_bytes: Bytes that reach video memory if the BO is there. */
	__u64 vram_bytes;
	/** @link_bytes: Bytes that cross the link if it is in GTT. */
	__u64 link_bytes;
};

/**
 * enum drm_vttm_engine - Engines that jobs are submitted to.
 *
 * Each runs the jobs of a file in the order of submission. Nothing but
 * synchronisation objects orders jobs of one file on different engines.
 */
enum drm_vttm_engine {
	/** @DRM_VTTM_ENGINE_GFX: Graphics. */
	DRM_VTTM_ENGINE_GFX = 0,
	/** @DRM_VTTM_ENGINE_COMPUTE: Compute. */
	DRM_VTTM_ENGINE_COMPUTE,
};

enum drm_vttm_op_type {
	/** @DRM_VTTM_OP_FILL: Write a pattern of 32 bits. */
	DRM_VTTM_OP_FILL = 1,
	/** @DRM_VTTM_OP_COPY: Copy, between ranges that don't overlap. */
	DRM_VTTM_OP_COPY,
	/**
	 * @DRM_VTTM_OP_CHECKSUM: Write the CRC-32 of a range (that of zlib)
	 * to 4 bytes outside of it.
	 */
	DRM_VTTM_OP_CHECKSUM,
	/** @DRM_VTTM_OP_DELAY: Take time. */
	DRM_VTTM_OP_DELAY,
};

/**
 * struct drm_vttm_op - An operation that a job carries out on memory.
 *
 * A job carries out its operations one after the other, after @compute_ns and
 * its touches. BOs must be private to the VM or listed in the same submission
 * and in VRAM or GTT, else -EINVAL. Offsets and sizes are multiples of 4 bytes.
 * What an operation doesn't use must be zero.
 */
struct drm_vttm_op {
	/** @type: enum drm_vttm_op_type. */
	__u32 type;
	/** @flags: MBZ. */
	__u32 flags;
	/** @dst: GEM handle of the BO to write to. */
	__u32 dst;
	/** @src: GEM handle of the BO to read (COPY, CHECKSUM). */
	__u32 src;
	/** @dst_offset: Where to write, bytes. */
	__u64 dst_offset;
	/** @src_offset: Where to read, bytes. */
	__u64 src_offset;
	/** @size: Bytes to fill, copy or sum up; not zero (but for DELAY). */
	__u64 size;
	/** @value: FILL: the pattern. DELAY: nanoseconds. */
	__u64 value;
};
#define DRM_VTTM_OP_MAX		1024u

/**
 * struct drm_vttm_sync - A synchronisation object that a job waits for or that
 * its end signals.
 *
 * Those to wait for must have a fence when the ioctl is called, else -EINVAL;
 * all of them are looked up before any is signaled.
 */
struct drm_vttm_sync {
	/** @handle: DRM synchronisation object handle. */
	__u32 handle;
	/** @flags: DRM_VTTM_SYNC_*. */
	__u32 flags;
/* The end of the job signals it; else the job waits for it. */
#define DRM_VTTM_SYNC_SIGNAL	(1u << 0)
/* It is a timeline: @point says which point. */
#define DRM_VTTM_SYNC_TIMELINE	(1u << 1)
#define DRM_VTTM_SYNC_FLAGS_MASK	0x3u
	/** @point: Point of a timeline, not zero; else MBZ. */
	__u64 point;
};
#define DRM_VTTM_SYNC_MAX	1024u

/** struct drm_vttm_submit - Arguments of DRM_IOCTL_VTTM_SUBMIT. */
struct drm_vttm_submit {
	/** @engine: enum drm_vttm_engine. */
	__u32 engine;
	/** @flags: MBZ. */
	__u32 flags;
	/** @bos: User pointer to @bo_count structs drm_vttm_submit_bo. */
	__u64 bos;
	/** @bo_count: Number of listed BOs, at most DRM_VTTM_SUBMIT_MAX. */
	__u32 bo_count;
	/** @bo_stride: Size of one element of @bos. */
	__u32 bo_stride;
	/** @touches: User pointer to @touch_count structs drm_vttm_submit_touch. */
	__u64 touches;
	/** @touch_count: Number of touches, at most DRM_VTTM_SUBMIT_MAX. */
	__u32 touch_count;
	/** @touch_stride: Size of one element of @touches. */
	__u32 touch_stride;
	/** @compute_ns: Time the job takes if memory costs nothing. */
	__u64 compute_ns;
	/** @seqno: Returned number of the submission, from 1 within the file. */
	__u64 seqno;
	/** @syncs: User pointer to @sync_count structs drm_vttm_sync. */
	__u64 syncs;
	/** @sync_count: Number of syncs, at most DRM_VTTM_SYNC_MAX. */
	__u32 sync_count;
	/** @sync_stride: Size of one element of @syncs. */
	__u32 sync_stride;
	/** @ops: User pointer to @op_count structs drm_vttm_op. */
	__u64 ops;
	/** @op_count: Number of operations, at most DRM_VTTM_OP_MAX. */
	__u32 op_count;
	/** @op_stride: Size of one element of @ops. */
	__u32 op_stride;
};
#define DRM_VTTM_SUBMIT_MAX	(1u << 20)

/** struct drm_vttm_wait - Arguments of DRM_IOCTL_VTTM_WAIT. */
struct drm_vttm_wait {
	/** @seqno: Submission to wait for; -EINVAL if not submitted yet. */
	__u64 seqno;
	/** @timeout_ns: Real time to wait, relative; 0 polls (-ETIME), negative waits for ever. */
	__s64 timeout_ns;
};

/** struct drm_vttm_pin - Arguments of DRM_IOCTL_VTTM_PIN. */
struct drm_vttm_pin {
	/** @handle: GEM handle. */
	__u32 handle;
	/** @flags: DRM_VTTM_PIN_*. */
	__u32 flags;
/* Take back one pin of this file; -EINVAL if it holds none. */
#define DRM_VTTM_PIN_UNPIN	(1u << 0)
};

/** struct drm_vttm_vm_set_label - Arguments of DRM_IOCTL_VTTM_VM_SET_LABEL. */
struct drm_vttm_vm_set_label {
	/** @label: Number that names the VM in debugfs and traces. */
	__u32 label;
	/** @pad: MBZ. */
	__u32 pad;
};

/**
 * struct drm_vttm_vm_get_state - Arguments of DRM_IOCTL_VTTM_VM_GET_STATE.
 *
 * A job that would take longer than the device's timeout with the link to itself
 * hangs. It ends then, with -ETIMEDOUT, and the VM is banned: its other jobs end
 * with -ECANCELED, and submissions fail with that. What BOs hold that these jobs
 * write to is undefined. Jobs of other VMs are not concerned. The VM of another
 * file of the device is a new one.
 */
struct drm_vttm_vm_get_state {
	/** @flags: Returned DRM_VTTM_VM_STATE_*. */
	__u32 flags;
/* A job hung. */
#define DRM_VTTM_VM_STATE_BANNED	(1u << 0)
/* A reset of the laboratory failed half way: submissions fail with -EIO. */
#define DRM_VTTM_VM_STATE_LOST		(1u << 1)
	/** @pad: MBZ. */
	__u32 pad;
	/** @hung_seqno: Returned number of the submission that hung, or 0. */
	__u64 hung_seqno;
	/** @device_hangs: Returned number of jobs of any VM that hung since reset. */
	__u64 device_hangs;
};

/**
 * DOC: Laboratory control
 *
 * DRM_IOCTL_VTTM_LAB needs CAP_SYS_ADMIN. It resets the idle device to a
 * described state, drives the virtual clock and, under it, runs several tasks
 * in lockstep: exactly one task makes progress at a time, from one park point
 * to the next. A task parks before every sleeping lock of a reservation object
 * and after every one that had to sleep. Lockstep needs a kernel with the
 * lab-only patches, else -EOPNOTSUPP.
 */
enum drm_vttm_lab_op {
	/**
	 * @DRM_VTTM_LAB_RESET: Set the device up as @config says, with the
	 * clock at zero. -EBUSY while a BO or a submission exists.
	 */
	DRM_VTTM_LAB_RESET = 0,
	/** @DRM_VTTM_LAB_ADVANCE: Advance the virtual clock to @value. */
	DRM_VTTM_LAB_ADVANCE,
	/** @DRM_VTTM_LAB_EVICT_ALL: Evict all of VRAM, as suspend does. */
	DRM_VTTM_LAB_EVICT_ALL,
	/** @DRM_VTTM_LAB_SWAPOUT: Swap out one BO, as memory pressure does. */
	DRM_VTTM_LAB_SWAPOUT,
	/** @DRM_VTTM_LAB_SETTLE: Wait until all that can happen now has. */
	DRM_VTTM_LAB_SETTLE,
	/** @DRM_VTTM_LAB_TASK: The calling thread becomes task @value. */
	DRM_VTTM_LAB_TASK,
	/**
	 * @DRM_VTTM_LAB_BEGIN: The next operation of task @value starts: from
	 * now the task parks. Called by the controller.
	 */
	DRM_VTTM_LAB_BEGIN,
	/** @DRM_VTTM_LAB_END: The calling task's operation is over. */
	DRM_VTTM_LAB_END,
	/**
	 * @DRM_VTTM_LAB_STEP: Let task @value run on from its park point, and
	 * return its state when every task is at rest again.
	 */
	DRM_VTTM_LAB_STEP,
	/** @DRM_VTTM_LAB_STATE: Return the state of task @value at rest. */
	DRM_VTTM_LAB_STATE,
	/**
	 * @DRM_VTTM_LAB_EVENTS: Copy out up to @value records of the event
	 * log, oldest first, and remove them.
	 */
	DRM_VTTM_LAB_EVENTS,
	/**
	 * @DRM_VTTM_LAB_SET_JOB_TIMEOUT: Jobs that take more than @value
	 * nanoseconds hang, 0: none does. Goes for jobs that start later, and
	 * until the next reset: then the module parameter counts again, or
	 * under the virtual clock none hangs.
	 */
	DRM_VTTM_LAB_SET_JOB_TIMEOUT,
};

/** enum drm_vttm_task_state - What a task does when everything is at rest. */
enum drm_vttm_task_state {
	/** @DRM_VTTM_TASK_IDLE: No operation is under way. */
	DRM_VTTM_TASK_IDLE = 0,
	/** @DRM_VTTM_TASK_PARKED: Waits for a step. */
	DRM_VTTM_TASK_PARKED,
	/** @DRM_VTTM_TASK_BLOCKED: Sleeps on a lock that another task holds. */
	DRM_VTTM_TASK_BLOCKED,
};

/** struct drm_vttm_lab_config - A device, for DRM_VTTM_LAB_RESET. */
struct drm_vttm_lab_config {
	/** @vram_size: Bytes, a multiple of 4096, not zero. */
	__u64 vram_size;
	/** @gtt_size: Bytes, a multiple of 4096, not zero. */
	__u64 gtt_size;
	/** @vram_bandwidth: Bytes a second, not zero. */
	__u64 vram_bandwidth;
	/** @link_bandwidth: Bytes a second in one direction, not zero. */
	__u64 link_bandwidth;
	/** @copy_latency_ns: Fixed part of each copy or fill. */
	__u64 copy_latency_ns;
	/** @log2_max_mbps: Move budget: log2 of MiB a second (amdgpu: 3). */
	__u32 log2_max_mbps;
	/** @flags: DRM_VTTM_LAB_CONFIG_*. */
	__u32 flags;
#define DRM_VTTM_LAB_CONFIG_VIRTUAL_CLOCK	(1u << 0)
/* Keep no contents: copies and fills take their time but move no data. */
#define DRM_VTTM_LAB_CONFIG_NO_CONTENTS		(1u << 1)
/* A job computes, reads video memory and uses the link at the same time. */
#define DRM_VTTM_LAB_CONFIG_OVERLAP		(1u << 2)
};

enum drm_vttm_event_type {
	/** @DRM_VTTM_EVENT_MOVE: A BO changed its domain. */
	DRM_VTTM_EVENT_MOVE = 1,
	/**
	 * @DRM_VTTM_EVENT_JOB: A job was given to its engine, with times that
	 * are no longer known then. Not recorded any more.
	 */
	DRM_VTTM_EVENT_JOB,
	/** @DRM_VTTM_EVENT_JOB_START: A job, copy or fill starts to run. */
	DRM_VTTM_EVENT_JOB_START,
	/** @DRM_VTTM_EVENT_JOB_END: One that ran ends. */
	DRM_VTTM_EVENT_JOB_END,
};

/** struct drm_vttm_event - One record of the event log. */
struct drm_vttm_event {
	/** @time_ns: Device clock when recorded. */
	__u64 time_ns;
	/** @tag: MOVE: tag of the BO. JOB_*: tag of the BO, or the seqno. */
	__u64 tag;
	/** @bytes: MOVE: size. JOB_*: bytes over the link. */
	__u64 bytes;
	/** @start_ns: JOB_*: when it started; @time_ns may be later. */
	__u64 start_ns;
	/** @end_ns: JOB_END: when it ended, likewise. */
	__u64 end_ns;
	/** @type: enum drm_vttm_event_type. */
	__u32 type;
	/** @vm: Label of the VM that the BO or job belongs to, or ~0. */
	__u32 vm;
	/** @from: MOVE: DRM_VTTM_DOMAIN_*, 0 for none. JOB_*: 0 gfx, 1 copy, 2 compute. */
	__u32 from;
	/** @to: MOVE: DRM_VTTM_DOMAIN_*. JOB_*: 0 job, 1 copy, 2 fill. */
	__u32 to;
	/** @evict: MOVE: 1 for an eviction. */
	__u32 evict;
	/** @task: Task (or pid where there is none) that caused it. */
	__u32 task;
};

/** struct drm_vttm_lab - Arguments of DRM_IOCTL_VTTM_LAB. */
struct drm_vttm_lab {
	/** @op: enum drm_vttm_lab_op. */
	__u32 op;
	/** @state: Returned enum drm_vttm_task_state (STEP, STATE). */
	__u32 state;
	/** @value: Argument; on return of EVENTS the number copied. */
	__u64 value;
	/** @ptr: User pointer: RESET the config, EVENTS the records. */
	__u64 ptr;
	/** @clock_ns: Returned device clock. */
	__u64 clock_ns;
	/** @next_ns: Returned time at which the device does something next, ~0 for never. */
	__u64 next_ns;
	/** @lost: Returned number of event records lost since the reset. */
	__u64 lost;
};

#define DRM_IOCTL_VTTM_GET_INFO \
	DRM_IOWR(DRM_COMMAND_BASE + DRM_VTTM_GET_INFO, struct drm_vttm_get_info)
#define DRM_IOCTL_VTTM_GEM_CREATE \
	DRM_IOWR(DRM_COMMAND_BASE + DRM_VTTM_GEM_CREATE, struct drm_vttm_gem_create)
#define DRM_IOCTL_VTTM_GEM_MMAP \
	DRM_IOWR(DRM_COMMAND_BASE + DRM_VTTM_GEM_MMAP, struct drm_vttm_gem_mmap)
#define DRM_IOCTL_VTTM_GEM_INFO \
	DRM_IOWR(DRM_COMMAND_BASE + DRM_VTTM_GEM_INFO, struct drm_vttm_gem_info)
#define DRM_IOCTL_VTTM_GEM_SET_PRIORITY \
	DRM_IOWR(DRM_COMMAND_BASE + DRM_VTTM_GEM_SET_PRIORITY, struct drm_vttm_gem_set_priority)
#define DRM_IOCTL_VTTM_SUBMIT \
	DRM_IOWR(DRM_COMMAND_BASE + DRM_VTTM_SUBMIT, struct drm_vttm_submit)
#define DRM_IOCTL_VTTM_WAIT \
	DRM_IOWR(DRM_COMMAND_BASE + DRM_VTTM_WAIT, struct drm_vttm_wait)
#define DRM_IOCTL_VTTM_PIN \
	DRM_IOWR(DRM_COMMAND_BASE + DRM_VTTM_PIN, struct drm_vttm_pin)
#define DRM_IOCTL_VTTM_VM_SET_LABEL \
	DRM_IOWR(DRM_COMMAND_BASE + DRM_VTTM_VM_SET_LABEL, struct drm_vttm_vm_set_label)
#define DRM_IOCTL_VTTM_LAB \
	DRM_IOWR(DRM_COMMAND_BASE + DRM_VTTM_LAB, struct drm_vttm_lab)
#define DRM_IOCTL_VTTM_VM_GET_STATE \
	DRM_IOWR(DRM_COMMAND_BASE + DRM_VTTM_VM_GET_STATE, struct drm_vttm_vm_get_state)

#if defined(__cplusplus)
}
#endif

#endif /* _VTTM_DRM_H_ */
