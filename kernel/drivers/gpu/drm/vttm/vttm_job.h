/* SPDX-License-Identifier: GPL-2.0 OR MIT */
#ifndef _VTTM_JOB_H_
#define _VTTM_JOB_H_

#include <linux/bits.h>

#include <drm/gpu_scheduler.h>

#include "vttm_link.h"

struct vttm_ctx;
struct vttm_device;
struct vttm_engine;
struct vttm_fence;
struct vttm_op_list;
struct vttm_transfer;

/* No transfer takes longer, about 36 years: sums of a few can't overflow. */
#define VTTM_MAX_DURATION_NS	BIT_ULL(60)

/** enum vttm_job_kind - What a job does; values are those of the event log. */
enum vttm_job_kind {
	/** @VTTM_JOB_USER: A submission. */
	VTTM_JOB_USER = 0,
	/** @VTTM_JOB_COPY: A move of a BO. */
	VTTM_JOB_COPY,
	/** @VTTM_JOB_FILL: Clears a BO. */
	VTTM_JOB_FILL,
	/** @VTTM_JOB_PROBE: Does nothing, never reaches the engine. */
	VTTM_JOB_PROBE,
};

/**
 * struct vttm_job - A job for an engine
 */
struct vttm_job {
	/** @base: Base class. */
	struct drm_sched_job base;
	/** @engine: Engine that it is for. */
	struct vttm_engine *engine;
	/** @fence: Its fence, until it is given to the engine. */
	struct vttm_fence *fence;
	/** @ctx: Context of the VM that it belongs to, or NULL. Owned. */
	struct vttm_ctx *ctx;
	/** @transfer: Contents to move or clear, or NULL. Owned. */
	struct vttm_transfer *transfer;
	/** @ops: Operations to carry out, or NULL. Owned. */
	struct vttm_op_list *ops;
	/** @kind: What it does. */
	enum vttm_job_kind kind;
	/** @queued: It is counted in &vttm_engine.num_queued. */
	bool queued;
	/** @vm_label: Label of the VM that it belongs to. */
	u32 vm_label;
	/** @task: Task that caused it. */
	u32 task;
	/** @tag: Tag of the BO, or sequence number of the submission. */
	u64 tag;
	/** @load: What it takes of the device. */
	struct vttm_load load;
	/** @link_bytes: Bytes that cross the link. */
	u64 link_bytes;
};

extern const struct drm_sched_backend_ops vttm_sched_ops;

struct vttm_job *vttm_job_create(struct vttm_engine *engine,
				 struct drm_sched_entity *entity,
				 enum vttm_job_kind kind, void *owner,
				 u64 client_id);
void vttm_job_destroy(struct vttm_job *job);
bool vttm_jobs_are_over(struct vttm_device *vdev);
struct dma_fence *vttm_job_arm(struct vttm_job *job);
void vttm_job_push(struct vttm_job *job);

u64 vttm_transfer_time_ns(u64 bytes, u64 bandwidth);

#endif
