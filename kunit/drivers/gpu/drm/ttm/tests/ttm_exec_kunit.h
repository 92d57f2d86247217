/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* vramlab-needs: 9 */
#ifndef _TTM_EXEC_KUNIT_H_
#define _TTM_EXEC_KUNIT_H_

#include <kunit/test-bug.h>
#include <kunit/test.h>

#include <linux/dma-fence.h>
#include <linux/sizes.h>

#include <drm/drm_exec.h>
#include <drm/ttm/ttm_bo.h>
#include <drm/ttm/ttm_device.h>
#include <drm/ttm/ttm_placement.h>

#include "../../tests/drm_exec_holder.h"
#include "ttm_kunit_helpers.h"

/* Video memory has room for four of the usual BOs. */
#define EXEC_BO_SIZE	SZ_64K
#define EXEC_VRAM_SIZE	(4 * EXEC_BO_SIZE)

struct exec_bo;

/**
 * struct exec_fixture - A TTM device with video memory, whose moves copy nothing
 */
struct exec_fixture {
	/** @bdev: The TTM device. */
	struct ttm_device bdev;
	/** @devs: What it is part of. */
	struct ttm_test_devices *devs;
	/** @evict_to_tt: Evict from VRAM to TT, which is small; else to SYSTEM. */
	bool evict_to_tt;
	/** @on_move: Called before a move, whose error it returns. */
	int (*on_move)(struct exec_fixture *f, struct exec_bo *bo, bool evict);
	/** @on_attempt: Called with the result of an attempt to validate. */
	void (*on_attempt)(struct exec_fixture *f, int ret);
	/** @move_fence: Fence of the next move, which leaves a ghost. */
	struct dma_fence *move_fence;
	/** @exec: Execution context of the validation under way. */
	struct drm_exec *exec;
	/** @holder: Holds a lock that is in the way. */
	struct drm_exec_holder holder;
	/** @attempts: Attempts of the current validation. */
	unsigned int attempts;
	/** @moves: Calls of @on_move. */
	unsigned int moves;
	/** @destroyed: BOs destroyed. */
	atomic_t destroyed;
	/** @shared: Reservation object that several BOs share. */
	struct dma_resv shared;
	/** @all: BOs that the test has a reference to. */
	struct list_head all;
	/** @bos: For @on_move. */
	struct exec_bo *bos[4];
};

/**
 * struct exec_bo - A BO of it
 */
struct exec_bo {
	/** @tbo: Base class. */
	struct ttm_buffer_object tbo;
	/** @node: Link in &exec_fixture.all. */
	struct list_head node;
};

static inline struct exec_bo *to_exec_bo(struct ttm_buffer_object *tbo)
{
	return container_of(tbo, struct exec_bo, tbo);
}

static inline int exec_bo_mem_type(struct exec_bo *bo)
{
	return bo->tbo.resource ? bo->tbo.resource->mem_type : -1;
}

int exec_fixture_init(struct kunit *test);
void exec_fixture_exit(struct kunit *test);

struct exec_bo *exec_bo_create(struct kunit *test, u64 size, u32 mem_type,
			       struct dma_resv *resv);
void exec_bo_drop(struct exec_bo *bo);
void exec_fill_vram(struct kunit *test);
bool exec_bo_is_mine(struct exec_fixture *f, struct exec_bo *bo);
int exec_validate(struct exec_fixture *f, struct exec_bo *bo, u32 mem_type,
		  struct ttm_operation_ctx *ctx);
int exec_lock_and_validate(struct exec_fixture *f, struct exec_bo *bo,
			   struct ttm_operation_ctx *ctx, bool retry);

void exec_hold(struct kunit *test, struct exec_bo *bo);
void exec_release_on_deadlk(struct exec_fixture *f, int ret);

struct dma_fence *exec_fence_create(struct kunit *test);
void exec_fence_signal_later(struct kunit *test, struct dma_fence *fence);

#endif
