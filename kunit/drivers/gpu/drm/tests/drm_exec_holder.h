/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* vramlab-needs: 5 */
#ifndef _DRM_EXEC_HOLDER_H_
#define _DRM_EXEC_HOLDER_H_

#include <kunit/test.h>

#include <linux/completion.h>
#include <linux/dma-resv.h>
#include <linux/jiffies.h>
#include <linux/kthread.h>

/**
 * struct drm_exec_holder - A thread that holds a reservation lock
 *
 * Its ticket is older than those that are initialized after it was started.
 */
struct drm_exec_holder {
	/** @resv: The reservation object. */
	struct dma_resv *resv;
	/** @ctx: The ticket. */
	struct ww_acquire_ctx ctx;
	/** @without_ticket: Lock without a ticket. */
	bool without_ticket;
	/** @delay_ms: Release the lock after that time even if not told to. */
	unsigned int delay_ms;
	/** @locked: It has locked. */
	struct completion locked;
	/** @release: It should unlock. */
	struct completion release;
	/** @task: The thread. */
	struct task_struct *task;
};

static inline int drm_exec_holder_thread(void *data)
{
	struct drm_exec_holder *holder = data;
	struct ww_acquire_ctx *ctx = holder->without_ticket ? NULL : &holder->ctx;

	if (ctx)
		ww_acquire_init(ctx, &reservation_ww_class);
	if (!dma_resv_lock(holder->resv, ctx)) {
		complete(&holder->locked);
		if (holder->delay_ms)
			wait_for_completion_timeout(&holder->release,
						    msecs_to_jiffies(holder->delay_ms));
		else
			wait_for_completion(&holder->release);
		dma_resv_unlock(holder->resv);
	}
	if (ctx)
		ww_acquire_fini(ctx);

	/* Until somebody collects it. */
	while (!kthread_should_stop())
		schedule_timeout_interruptible(1);

	return 0;
}

/* Start a thread, and return when it has the lock of @holder->resv. */
static inline void drm_exec_holder_start(struct kunit *test, struct drm_exec_holder *holder)
{
	init_completion(&holder->locked);
	init_completion(&holder->release);
	holder->task = kthread_run(drm_exec_holder_thread, holder, "drm_exec_holder");
	KUNIT_ASSERT_FALSE(test, IS_ERR(holder->task));
	wait_for_completion(&holder->locked);
}

/* Let it unlock, if it hasn't yet, and end. */
static inline void drm_exec_holder_stop(struct drm_exec_holder *holder)
{
	complete(&holder->release);
	kthread_stop(holder->task);
}

#endif
