/* SPDX-License-Identifier: GPL-2.0 OR MIT */
#ifndef _VTTM_FENCE_H_
#define _VTTM_FENCE_H_

#include <linux/dma-fence.h>
#include <linux/list.h>

#include "vttm_link.h"

struct vttm_ctx;
struct vttm_engine;

/**
 * struct vttm_fence - "Hardware" fence of a job that was given to an engine
 *
 * It knows of the job what the engine needs, which the job may not outlive.
 */
struct vttm_fence {
	/** @base: Base class; first, for dma_fence_free(). */
	struct dma_fence base;
	/** @engine: Engine that the job runs on. */
	struct vttm_engine *engine;
	/** @ctx: Context of its VM while it runs, or NULL for the kernel. */
	struct vttm_ctx *ctx;
	/** @node: Link in the list that has it until it is signaled. */
	struct list_head node;
	/** @load: What the job takes of the device. */
	struct vttm_load load;
	/** @start_ns: Device time at which the job started, once it has. */
	u64 start_ns;
	/** @end_ns: Device time at which the job ended, once it has. */
	u64 end_ns;
	/** @hung: It would take longer: it doesn't end by itself then. */
	bool hung;
	/** @kind: What the job does: enum vttm_job_kind. */
	u32 kind;
	/** @vm_label: Label of the VM that it belongs to. */
	u32 vm_label;
	/** @task: Task that caused it. */
	u32 task;
	/** @tag: Tag of the BO, or sequence number of the submission. */
	u64 tag;
	/** @link_bytes: Bytes that cross the link. */
	u64 link_bytes;
};

struct vttm_fence *vttm_fence_alloc(struct vttm_engine *engine);
void vttm_fence_init(struct vttm_fence *fence);
struct vttm_engine *vttm_fence_engine(struct dma_fence *fence);

void vttm_fence_job_starts(struct vttm_fence *fence, u64 time_ns);
void vttm_fence_job_ends(struct vttm_fence *fence, u64 time_ns);
void vttm_fence_end(struct vttm_fence *fence, int error);
void vttm_fence_end_all(struct list_head *fences, int error);

#endif
