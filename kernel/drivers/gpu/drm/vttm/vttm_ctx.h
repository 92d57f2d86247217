/* SPDX-License-Identifier: GPL-2.0 OR MIT */
#ifndef _VTTM_CTX_H_
#define _VTTM_CTX_H_

#include <linux/atomic.h>
#include <linux/kref.h>
#include <linux/types.h>

#include "vttm_engine.h"

struct drm_device;
struct drm_file;
struct vttm_device;
struct vttm_fence;

/**
 * struct vttm_ctx - What jobs of a VM refer to; lives as long as any of them
 */
struct vttm_ctx {
	/** @ref: References. */
	struct kref ref;
	/**
	 * @banned: None of its jobs starts any more. Never taken back. An
	 * atomic_t, as it is the guilty flag of its entities.
	 */
	atomic_t banned;
	/** @hung_seqno: Number of the submission that hung, or 0. */
	atomic64_t hung_seqno;
	/** @busy_ns: Device time that its jobs took, until they ended. */
	atomic64_t busy_ns[VTTM_NUM_ENGINES];
};

struct vttm_ctx *vttm_ctx_create(void);
struct vttm_ctx *vttm_ctx_get(struct vttm_ctx *ctx);
void vttm_ctx_put(struct vttm_ctx *ctx);

static inline bool vttm_ctx_is_banned(struct vttm_ctx *ctx)
{
	return ctx && atomic_read(&ctx->banned);
}

void vttm_ctx_ban(struct vttm_ctx *ctx, u64 seqno);
void vttm_ctx_kill(struct vttm_device *vdev, struct vttm_ctx *ctx);
void vttm_ctx_hang(struct vttm_device *vdev, struct vttm_fence *fence);

int vttm_vm_get_state_ioctl(struct drm_device *drm, void *data, struct drm_file *file);

#endif
