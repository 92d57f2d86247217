/* SPDX-License-Identifier: GPL-2.0 OR MIT */
#ifndef _VTTM_RETRY_H_
#define _VTTM_RETRY_H_

#include <linux/ktime.h>
#include <linux/spinlock.h>
#include <linux/types.h>

#include <drm/ttm/ttm_bo.h>

struct drm_exec;
struct vttm_device;

/**
 * struct vttm_retry - One operation that locks in a loop
 */
struct vttm_retry {
	/** @exec: For &ttm_operation_ctx.exec; NULL if TTM doesn't retry. */
	struct drm_exec *exec;
	/** @attempts: Attempts so far. */
	unsigned int attempts;
	/** @evicting: The current attempt has all locks, and makes room. */
	bool evicting;
	/** @contended_evictions: Attempts that ended while they made room. */
	unsigned int contended_evictions;
	/** @start: When it began. */
	ktime_t start;
};

/**
 * struct vttm_retry_stats - What became of operations that started over
 */
struct vttm_retry_stats {
	/** @lock: Protects the others. */
	spinlock_t lock;
	/** @operations: Operations that started over at least once. */
	u64 operations;
	/** @retries: Attempts after the first. */
	u64 retries;
	/** @contended_evictions: Attempts that ended while they made room. */
	u64 contended_evictions;
	/** @max_attempts: Most attempts of one operation. */
	u64 max_attempts;
	/** @max_ns: Real time from the first attempt to the end, longest. */
	u64 max_ns;
};

/*
 * Compiled without for a kernel whose TTM can't retry: then operations validate
 * after they have locked.
 */
#ifdef VTTM_RETRY

void vttm_retry_init(struct vttm_device *vdev);
void vttm_retry_reset(struct vttm_device *vdev);
void vttm_retry_debugfs_init(struct vttm_device *vdev);
void vttm_retry_begin(struct vttm_retry *retry, struct drm_exec *exec);
void vttm_retry_attempt(struct vttm_device *vdev, struct vttm_retry *retry, u32 vm_label,
			u64 bytes_moved);
void vttm_retry_end(struct vttm_device *vdev, struct vttm_retry *retry);

/**
 * vttm_retry_set_ctx() - Let TTM retry
 * @ctx: context of the validation
 * @exec: &vttm_retry.exec
 */
static inline void vttm_retry_set_ctx(struct ttm_operation_ctx *ctx, struct drm_exec *exec)
{
	ctx->exec = exec;
}

#else /* !VTTM_RETRY */

static inline void vttm_retry_init(struct vttm_device *vdev)
{
}

static inline void vttm_retry_reset(struct vttm_device *vdev)
{
}

static inline void vttm_retry_debugfs_init(struct vttm_device *vdev)
{
}

static inline void vttm_retry_begin(struct vttm_retry *retry, struct drm_exec *exec)
{
}

static inline void vttm_retry_attempt(struct vttm_device *vdev, struct vttm_retry *retry,
				      u32 vm_label, u64 bytes_moved)
{
}

static inline void vttm_retry_end(struct vttm_device *vdev, struct vttm_retry *retry)
{
}

static inline void vttm_retry_set_ctx(struct ttm_operation_ctx *ctx, struct drm_exec *exec)
{
}

#endif /* VTTM_RETRY */

#endif
