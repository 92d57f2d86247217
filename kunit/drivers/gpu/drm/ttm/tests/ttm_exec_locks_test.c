// SPDX-License-Identifier: GPL-2.0 OR MIT
/* vramlab-needs: 9 */

/*
 * Eviction with the locks of a drm_exec, nobody else being there: whose locks
 * are taken, kept and released, and when?
 */

#include <linux/module.h>
#include <linux/slab.h>

#include "ttm_exec_kunit.h"

static void expect_free(struct kunit *test, struct exec_bo *bo)
{
	KUNIT_EXPECT_FALSE(test, dma_resv_is_locked(bo->tbo.base.resv));
	KUNIT_EXPECT_EQ(test, kref_read(&bo->tbo.kref), 1);
}

/* Is as much evicted as needed, and everything unlocked in the end? */
static void evict(struct kunit *test)
{
	struct exec_fixture *f = test->priv;
	struct ttm_operation_ctx ctx = {};
	struct exec_bo *bo;
	int i;

	exec_fill_vram(test);
	bo = exec_bo_create(test, 2 * EXEC_BO_SIZE, TTM_PL_SYSTEM, NULL);

	KUNIT_EXPECT_EQ(test, exec_lock_and_validate(f, bo, &ctx, true), 0);
	KUNIT_EXPECT_EQ(test, f->attempts, 1);
	KUNIT_EXPECT_EQ(test, exec_bo_mem_type(bo), TTM_PL_VRAM);
	KUNIT_EXPECT_EQ(test, ctx.bytes_moved, 4 * EXEC_BO_SIZE);
	for (i = 0; i < 4; i++) {
		KUNIT_EXPECT_EQ(test, exec_bo_mem_type(f->bos[i]),
				i < 2 ? TTM_PL_SYSTEM : TTM_PL_VRAM);
		expect_free(test, f->bos[i]);
	}
	expect_free(test, bo);
}

static int expect_first_kept(struct exec_fixture *f, struct exec_bo *bo, bool evict)
{
	struct kunit *test = kunit_get_current_test();

	if (!evict)
		return 0;

	KUNIT_EXPECT_TRUE(test, exec_bo_is_mine(f, bo));
	if (bo == f->bos[1])
		KUNIT_EXPECT_TRUE(test, exec_bo_is_mine(f, f->bos[0]));
	return 0;
}

/* Is the first evictee still locked when the second one is evicted? */
static void evictees_stay_locked(struct kunit *test)
{
	struct exec_fixture *f = test->priv;
	struct ttm_operation_ctx ctx = {};
	struct exec_bo *bo;

	exec_fill_vram(test);
	bo = exec_bo_create(test, 2 * EXEC_BO_SIZE, TTM_PL_SYSTEM, NULL);
	f->on_move = expect_first_kept;
	f->moves = 0;

	KUNIT_EXPECT_EQ(test, exec_lock_and_validate(f, bo, &ctx, true), 0);
	KUNIT_EXPECT_EQ(test, f->moves, 3);
	expect_free(test, f->bos[0]);
}

static int expect_pinned_free(struct exec_fixture *f, struct exec_bo *bo, bool evict)
{
	struct kunit *test = kunit_get_current_test();

	if (evict)
		KUNIT_EXPECT_FALSE(test, dma_resv_is_locked(f->bos[0]->tbo.base.resv));
	return 0;
}

/* Is what can't be evicted unlocked at once? */
static void skipped_unlocked(struct kunit *test)
{
	struct exec_fixture *f = test->priv;
	struct ttm_operation_ctx ctx = {};
	struct exec_bo *bo;

	exec_fill_vram(test);
	bo = exec_bo_create(test, EXEC_BO_SIZE, TTM_PL_SYSTEM, NULL);

	/* Valuable it is not, but on the list. */
	f->bos[0]->tbo.pin_count = 1;
	f->on_move = expect_pinned_free;
	KUNIT_EXPECT_EQ(test, exec_lock_and_validate(f, bo, &ctx, true), 0);
	f->bos[0]->tbo.pin_count = 0;

	KUNIT_EXPECT_EQ(test, exec_bo_mem_type(f->bos[0]), TTM_PL_VRAM);
	KUNIT_EXPECT_EQ(test, exec_bo_mem_type(f->bos[1]), TTM_PL_SYSTEM);
	expect_free(test, f->bos[0]);
}

/* Several evictees share a reservation object: does the second one follow? */
static void evictees_share(struct kunit *test)
{
	struct exec_fixture *f = test->priv;
	struct ttm_operation_ctx ctx = {};
	struct exec_bo *bo;
	int i;

	for (i = 0; i < 4; i++)
		f->bos[i] = exec_bo_create(test, EXEC_BO_SIZE, TTM_PL_VRAM, &f->shared);
	bo = exec_bo_create(test, 4 * EXEC_BO_SIZE, TTM_PL_SYSTEM, NULL);

	KUNIT_EXPECT_EQ(test, exec_lock_and_validate(f, bo, &ctx, true), 0);
	for (i = 0; i < 4; i++) {
		KUNIT_EXPECT_EQ(test, exec_bo_mem_type(f->bos[i]), TTM_PL_SYSTEM);
		expect_free(test, f->bos[i]);
	}
}

static void expect_shared_mine(struct exec_fixture *f, int ret)
{
	struct kunit *test = kunit_get_current_test();

	KUNIT_EXPECT_PTR_EQ(test, dma_resv_locking_ctx(&f->shared), drm_exec_ticket(f->exec));
}

/* The submission's own BOs: left alone, and is its lock still there afterwards? */
static void submission_shares(struct kunit *test)
{
	struct exec_fixture *f = test->priv;
	struct ttm_operation_ctx ctx = { .resv = &f->shared };
	struct exec_bo *bo;
	int i;

	for (i = 0; i < 4; i++)
		f->bos[i] = exec_bo_create(test, EXEC_BO_SIZE, TTM_PL_VRAM, &f->shared);
	bo = exec_bo_create(test, EXEC_BO_SIZE, TTM_PL_SYSTEM, &f->shared);
	f->on_attempt = expect_shared_mine;

	KUNIT_EXPECT_EQ(test, exec_lock_and_validate(f, bo, &ctx, true), -ENOMEM);
	KUNIT_EXPECT_EQ(test, f->attempts, 1);
	KUNIT_EXPECT_EQ(test, exec_bo_mem_type(f->bos[0]), TTM_PL_VRAM);
	expect_free(test, bo);
}

/* And if it allows that: evicted, without the lock going with them? */
static void submission_shares_allowed(struct kunit *test)
{
	struct exec_fixture *f = test->priv;
	struct ttm_operation_ctx ctx = { .resv = &f->shared, .allow_res_evict = true };
	struct exec_bo *bo;
	int i;

	for (i = 0; i < 4; i++)
		f->bos[i] = exec_bo_create(test, EXEC_BO_SIZE, TTM_PL_VRAM, &f->shared);
	bo = exec_bo_create(test, 2 * EXEC_BO_SIZE, TTM_PL_SYSTEM, &f->shared);
	f->on_attempt = expect_shared_mine;

	KUNIT_EXPECT_EQ(test, exec_lock_and_validate(f, bo, &ctx, true), 0);
	KUNIT_EXPECT_EQ(test, exec_bo_mem_type(f->bos[0]), TTM_PL_SYSTEM);
	KUNIT_EXPECT_EQ(test, exec_bo_mem_type(f->bos[1]), TTM_PL_SYSTEM);
	KUNIT_EXPECT_EQ(test, exec_bo_mem_type(f->bos[2]), TTM_PL_VRAM);
	expect_free(test, bo);
}

static int drop_evictee(struct exec_fixture *f, struct exec_bo *bo, bool evict)
{
	if (evict && bo == f->bos[0])
		exec_bo_drop(bo);
	return 0;
}

/* The evictee's last other reference goes while it is evicted. */
static void evictee_dies(struct kunit *test)
{
	struct exec_fixture *f = test->priv;
	struct ttm_operation_ctx ctx = {};
	struct exec_bo *bo;

	exec_fill_vram(test);
	bo = exec_bo_create(test, 2 * EXEC_BO_SIZE, TTM_PL_SYSTEM, NULL);
	f->on_move = drop_evictee;

	KUNIT_EXPECT_EQ(test, exec_lock_and_validate(f, bo, &ctx, true), 0);
	KUNIT_EXPECT_EQ(test, atomic_read(&f->destroyed), 1);
	KUNIT_EXPECT_EQ(test, exec_bo_mem_type(f->bos[1]), TTM_PL_SYSTEM);
}

/* A deleted BO that is still busy: waited for, and not brought back to life? */
static void zombie(struct kunit *test)
{
	struct dma_fence *fence = exec_fence_create(test);
	struct exec_fixture *f = test->priv;
	struct ttm_operation_ctx ctx = {};
	struct exec_bo *bo;

	exec_fill_vram(test);
	bo = exec_bo_create(test, EXEC_BO_SIZE, TTM_PL_SYSTEM, NULL);

	dma_resv_lock(f->bos[0]->tbo.base.resv, NULL);
	KUNIT_ASSERT_EQ(test, dma_resv_reserve_fences(f->bos[0]->tbo.base.resv, 1), 0);
	dma_resv_add_fence(f->bos[0]->tbo.base.resv, fence, DMA_RESV_USAGE_WRITE);
	dma_resv_unlock(f->bos[0]->tbo.base.resv);
	exec_bo_drop(f->bos[0]);
	KUNIT_EXPECT_EQ(test, atomic_read(&f->destroyed), 0);
	exec_fence_signal_later(test, fence);

	KUNIT_EXPECT_EQ(test, exec_lock_and_validate(f, bo, &ctx, true), 0);
	KUNIT_EXPECT_TRUE(test, dma_fence_is_signaled(fence));
	KUNIT_EXPECT_EQ(test, exec_bo_mem_type(f->bos[1]), TTM_PL_VRAM);
	flush_workqueue(f->bdev.wq);
	KUNIT_EXPECT_EQ(test, atomic_read(&f->destroyed), 1);
	dma_fence_put(fence);
}

/* What a move has left behind until its fence is signaled. */
static void ghost(struct kunit *test)
{
	struct dma_fence *fence = exec_fence_create(test);
	struct ttm_operation_ctx ctx = {}, move_ctx = {};
	struct exec_fixture *f = test->priv;
	struct exec_bo *bo;

	exec_fill_vram(test);
	bo = exec_bo_create(test, EXEC_BO_SIZE, TTM_PL_SYSTEM, NULL);

	dma_resv_lock(f->bos[0]->tbo.base.resv, NULL);
	f->move_fence = dma_fence_get(fence);
	KUNIT_EXPECT_EQ(test, exec_validate(f, f->bos[0], TTM_PL_SYSTEM, &move_ctx), 0);
	dma_resv_unlock(f->bos[0]->tbo.base.resv);
	/* The ghost moves to the end of the list: all others are in its way. */
	f->bos[1]->tbo.pin_count = 1;
	f->bos[2]->tbo.pin_count = 1;
	f->bos[3]->tbo.pin_count = 1;
	exec_fence_signal_later(test, fence);

	KUNIT_EXPECT_EQ(test, exec_lock_and_validate(f, bo, &ctx, true), 0);
	KUNIT_EXPECT_TRUE(test, dma_fence_is_signaled(fence));
	f->bos[1]->tbo.pin_count = 0;
	f->bos[2]->tbo.pin_count = 0;
	f->bos[3]->tbo.pin_count = 0;
	flush_workqueue(f->bdev.wq);
	expect_free(test, f->bos[0]);
	dma_fence_put(fence);
}

static int fail_second(struct exec_fixture *f, struct exec_bo *bo, bool evict)
{
	return evict && bo == f->bos[1] ? -ENOMEM : 0;
}

/* Out of memory after the first eviction: are all locks released? */
static void no_memory(struct kunit *test)
{
	struct exec_fixture *f = test->priv;
	struct ttm_operation_ctx ctx = {};
	struct exec_bo *bo;
	int i;

	exec_fill_vram(test);
	bo = exec_bo_create(test, 2 * EXEC_BO_SIZE, TTM_PL_SYSTEM, NULL);
	f->on_move = fail_second;

	KUNIT_EXPECT_EQ(test, exec_lock_and_validate(f, bo, &ctx, true), -ENOMEM);
	KUNIT_EXPECT_EQ(test, f->attempts, 1);
	KUNIT_EXPECT_EQ(test, ctx.bytes_moved, EXEC_BO_SIZE);
	for (i = 0; i < 4; i++)
		expect_free(test, f->bos[i]);
	expect_free(test, bo);
}

static struct kunit_case exec_locks_cases[] = {
	KUNIT_CASE(evict),
	KUNIT_CASE(evictees_stay_locked),
	KUNIT_CASE(skipped_unlocked),
	KUNIT_CASE(evictees_share),
	KUNIT_CASE(submission_shares),
	KUNIT_CASE(submission_shares_allowed),
	KUNIT_CASE(evictee_dies),
	KUNIT_CASE(zombie),
	KUNIT_CASE(ghost),
	KUNIT_CASE(no_memory),
	{}
};

static struct kunit_suite exec_locks_suite = {
	.name = "ttm_exec_locks",
	.init = exec_fixture_init,
	.exit = exec_fixture_exit,
	.test_cases = exec_locks_cases,
};

kunit_test_suite(exec_locks_suite);

MODULE_DESCRIPTION("KUnit tests of TTM's evictions within a drm_exec");
MODULE_LICENSE("Dual MIT/GPL");
