/* SPDX-License-Identifier: GPL-2.0 OR MIT */
#ifndef _VTTM_ENGINE_H_
#define _VTTM_ENGINE_H_

#include <linux/atomic.h>
#include <linux/list.h>

#include <drm/gpu_scheduler.h>

struct dma_fence;
struct vttm_ctx;
struct vttm_device;
struct vttm_fence;

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
 * struct vttm_engine - Runs one job after another, each for a modelled time
 *
 * &vttm_device.engine_lock protects @running, @num_running, @hung,
 * @last_end_ns and @dead.
 */
struct vttm_engine {
	/** @vdev: The device. */
	struct vttm_device *vdev;
	/** @id: Which one it is. */
	enum vttm_engine_id id;
	/** @name: Name of the engine and its scheduler. */
	const char *name;
	/** @sched: Scheduler that feeds the engine. */
	struct drm_gpu_scheduler sched;
	/** @running: Fences of jobs given to the engine; the first one runs. */
	struct list_head running;
	/** @num_running: Length of @running. */
	unsigned int num_running;
	/** @hung: Fences of jobs that hung, each before others of its VM. */
	struct list_head hung;
	/** @last_end_ns: When the last job that ran ended, or 0. */
	u64 last_end_ns;
	/** @dead: Error that jobs end with at once, or 0. */
	int dead;
	/** @seqno: Sequence number of the last fence. */
	u64 seqno;
	/** @fence_context: Context of the fences. */
	u64 fence_context;
	/** @num_queued: Jobs pushed, but not given to the engine. */
	atomic_t num_queued;
};

/* vttm_engine.c: one of them */
int vttm_engine_init(struct vttm_device *vdev, enum vttm_engine_id id,
		     const char *name);
void vttm_engine_fini(struct vttm_engine *engine);

void vttm_engine_run(struct vttm_engine *engine, struct vttm_fence *fence);
void vttm_engine_cancel(struct vttm_engine *engine, struct vttm_ctx *ctx, int error);
void vttm_engine_kill(struct vttm_engine *engine, int error);
void vttm_engine_recover(struct vttm_engine *engine);

bool vttm_engine_is_idle(struct vttm_engine *engine);
u64 vttm_engine_busy_ns(struct vttm_engine *engine, struct vttm_ctx *ctx);
u64 vttm_engine_end_ns(struct vttm_engine *engine);
void vttm_engine_end_job(struct vttm_engine *engine);
void vttm_engine_expire(struct vttm_engine *engine);

/* vttm_engines.c: all of a device */
int vttm_engines_init(struct vttm_device *vdev);
void vttm_engines_fini(struct vttm_device *vdev);
void vttm_engines_reset(struct vttm_device *vdev);
void vttm_engines_kill(struct vttm_device *vdev, int error);
void vttm_engines_flush(struct vttm_device *vdev);
void vttm_engines_set_timeout(struct vttm_device *vdev, u64 timeout_ns);

struct vttm_engine *vttm_engine_of_user(struct vttm_device *vdev, unsigned int index);

u64 vttm_engines_catch_up(struct vttm_device *vdev);
void vttm_engines_rearm(struct vttm_device *vdev);
struct vttm_engine *vttm_engines_next(struct vttm_device *vdev, u64 *end_ns);
bool vttm_engines_have_queued(struct vttm_device *vdev);
bool vttm_engines_own_fence(struct vttm_device *vdev, struct dma_fence *fence);

#endif
