/* SPDX-License-Identifier: GPL-2.0 OR MIT */
#ifndef _VTTM_ENGINE_H_
#define _VTTM_ENGINE_H_

#include <linux/atomic.h>
#include <linux/dma-fence.h>
#include <linux/hrtimer.h>
#include <linux/list.h>
#include <linux/spinlock.h>

#include <drm/gpu_scheduler.h>

struct vttm_ctx;
struct vttm_device;
struct vttm_engine;

/* Engines that user space submits to: enum drm_vttm_engine. */
#define VTTM_NUM_USER_ENGINES	2

/** enum vttm_engine_id - The engines; their order decides ties in time. */
enum vttm_engine_id {
	/** @VTTM_ENGINE_GFX: Runs the jobs of user space. */
	VTTM_ENGINE_GFX = 0,
	/** @VTTM_ENGINE_COPY: Runs copies and fills. */
	VTTM_ENGINE_COPY,
	/** @VTTM_ENGINE_COMPUTE: Runs the jobs of user space, too. */
	VTTM_ENGINE_COMPUTE,
	/** @VTTM_NUM_ENGINES: Number of engines. */
	VTTM_NUM_ENGINES,
};

/**
 * struct vttm_fence - "Hardware" fence of a job that runs on an engine
 */
struct vttm_fence {
	/** @base: Base class; first, for dma_fence_free(). */
	struct dma_fence base;
	/** @engine: Engine that the job runs on. */
	struct vttm_engine *engine;
	/** @ctx: Context of its VM while it runs, or NULL for the kernel. */
	struct vttm_ctx *ctx;
	/** @tag: Number of the submission. */
	u64 tag;
	/** @node: Link in &vttm_engine.running. */
	struct list_head node;
	/** @start_ns: Device time at which the job starts. */
	u64 start_ns;
	/** @end_ns: Device time at which the job ends. */
	u64 end_ns;
	/** @duration_ns: How long the job runs. */
	u64 duration_ns;
	/** @hung: It would take longer: it doesn't end by itself then. */
	bool hung;
};

/**
 * struct vttm_engine - Runs one job after another, each for a modelled time
 */
struct vttm_engine {
	/** @vdev: The device. */
	struct vttm_device *vdev;
	/** @name: Name of the engine and its scheduler. */
	const char *name;
	/** @sched: Scheduler that feeds the engine. */
	struct drm_gpu_scheduler sched;
	/** @lock: Protects the fields below; taken from a timer. */
	spinlock_t lock;
	/** @running: Fences of jobs given to the engine, by their end. */
	struct list_head running;
	/** @num_running: Length of @running. */
	unsigned int num_running;
	/** @last_end_ns: End of the last job given to the engine. */
	u64 last_end_ns;
	/** @dead: Error that jobs end with at once, or 0. */
	int dead;
	/** @seqno: Sequence number of the last fence. */
	u64 seqno;
	/** @fence_context: Context of the fences. */
	u64 fence_context;
	/** @num_queued: Jobs pushed, but not given to the engine. */
	atomic_t num_queued;
	/** @timer: Fires at the end of the first running job (real clock). */
	struct hrtimer timer;
};

/* vttm_engine.c: one of them */
int vttm_engine_init(struct vttm_device *vdev, struct vttm_engine *engine,
		     const char *name);
void vttm_engine_fini(struct vttm_engine *engine);

struct vttm_fence *vttm_engine_alloc_fence(struct vttm_engine *engine);
void vttm_engine_run(struct vttm_engine *engine, struct vttm_fence *fence,
		     u64 duration_ns);
void vttm_engine_cancel(struct vttm_engine *engine, struct vttm_ctx *ctx, int error);
void vttm_engine_kill(struct vttm_engine *engine, int error);
void vttm_engine_recover(struct vttm_engine *engine);
void vttm_fence_end(struct vttm_fence *fence, int error);

bool vttm_engine_is_idle(struct vttm_engine *engine);
u64 vttm_engine_busy_ns(struct vttm_engine *engine, struct vttm_ctx *ctx);
bool vttm_engine_next_end(struct vttm_engine *engine, u64 *end_ns);
struct vttm_fence *vttm_engine_pop(struct vttm_engine *engine);
struct vttm_engine *vttm_engine_of_fence(struct dma_fence *fence);

/* vttm_engines.c: all of a device */
int vttm_engines_init(struct vttm_device *vdev);
void vttm_engines_fini(struct vttm_device *vdev);
void vttm_engines_reset(struct vttm_device *vdev);
void vttm_engines_kill(struct vttm_device *vdev, int error);
void vttm_engines_flush(struct vttm_device *vdev);
void vttm_engines_set_timeout(struct vttm_device *vdev, u64 timeout_ns);

struct vttm_engine *vttm_engine_of_user(struct vttm_device *vdev, unsigned int index);

u64 vttm_engines_next_end(struct vttm_device *vdev);
struct vttm_fence *vttm_engines_pop_next(struct vttm_device *vdev, u64 limit_ns);
bool vttm_engines_have_queued(struct vttm_device *vdev);
bool vttm_engines_own_fence(struct vttm_device *vdev, struct dma_fence *fence);

#endif
