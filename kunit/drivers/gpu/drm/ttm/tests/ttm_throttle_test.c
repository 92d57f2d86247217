// SPDX-License-Identifier: GPL-2.0 OR MIT
/* vramlab-needs: 11 */

/*
 * Throttling on a clock that stands still: who is throttled, for how long, and
 * from what?
 */

#include <linux/time64.h>

#include <drm/ttm/ttm_throttle.h>

#include "ttm_exec_kunit.h"

#define MS(n) ((n) * NSEC_PER_MSEC)

/* One test runs at a time. */
static u64 test_now_ns;
static struct ttm_device_funcs test_funcs;

static u64 now_ns(struct ttm_device *bdev)
{
	return test_now_ns;
}

static struct ttm_throttle *victim, *rival;

static int throttle_init(struct kunit *test)
{
	struct exec_fixture *f;
	int ret;

	if (!ttm_throttle_enabled())
		kunit_skip(test, "ttm.throttle is off");

	ret = exec_fixture_init(test);
	if (ret)
		return ret;

	f = test->priv;
	test_funcs = *f->bdev.funcs;
	test_funcs.now_ns = now_ns;
	f->bdev.funcs = &test_funcs;
	ttm_manager_type(&f->bdev, TTM_PL_VRAM)->use_throttle = true;

	test_now_ns = MS(1000);
	victim = ttm_throttle_create();
	rival = ttm_throttle_create();
	KUNIT_ASSERT_NOT_NULL(test, victim);
	KUNIT_ASSERT_NOT_NULL(test, rival);
	return 0;
}

static void throttle_exit(struct kunit *test)
{
	if (!test->priv)
		return;

	ttm_throttle_close(victim);
	ttm_throttle_close(rival);
	exec_fixture_exit(test);
}

static struct exec_bo *create(struct kunit *test, struct ttm_throttle *owner, u64 size,
			      u32 mem_type)
{
	struct exec_bo *bo = exec_bo_create(test, size, mem_type, NULL);

	bo->tbo.throttle = ttm_throttle_get(owner);
	return bo;
}

/* In VRAM, or, if that is a fallback, in system memory. */
static int validate(struct kunit *test, struct exec_bo *bo, struct ttm_throttle *owner,
		    bool fallback)
{
	struct ttm_place places[] = {
		{ .mem_type = TTM_PL_VRAM },
		{ .mem_type = TTM_PL_SYSTEM, .flags = TTM_PL_FLAG_FALLBACK },
	};
	struct ttm_placement placement = {
		.num_placement = fallback ? 2 : 1,
		.placement = places,
	};
	struct ttm_operation_ctx ctx = { .throttle = owner };
	int ret;

	dma_resv_lock(bo->tbo.base.resv, NULL);
	ret = ttm_bo_validate(&bo->tbo, &placement, &ctx);
	dma_resv_unlock(bo->tbo.base.resv);
	return ret;
}

static enum ttm_throttle_phase phase_at(struct kunit *test, u64 ns)
{
	struct exec_fixture *f = test->priv;

	test_now_ns = ns;
	return ttm_throttle_phase(&f->bdev, victim);
}

/* The rival takes all of video memory, in which the victim has a BO. */
static struct exec_bo *lose(struct kunit *test)
{
	struct exec_bo *bo = create(test, victim, EXEC_BO_SIZE, TTM_PL_VRAM);
	struct exec_bo *big = create(test, rival, EXEC_VRAM_SIZE, TTM_PL_SYSTEM);

	KUNIT_ASSERT_EQ(test, validate(test, big, rival, false), 0);
	KUNIT_ASSERT_EQ(test, exec_bo_mem_type(bo), TTM_PL_SYSTEM);
	return bo;
}

static void phases(struct kunit *test)
{
	struct exec_fixture *f = test->priv;

	KUNIT_EXPECT_EQ(test, phase_at(test, MS(1000)), TTM_THROTTLE_NORMAL);
	lose(test);
	KUNIT_EXPECT_EQ(test, phase_at(test, MS(1000)), TTM_THROTTLE_STRONG);
	KUNIT_EXPECT_EQ(test, phase_at(test, MS(1050) - 1), TTM_THROTTLE_STRONG);
	KUNIT_EXPECT_EQ(test, phase_at(test, MS(1050)), TTM_THROTTLE_WEAK);
	KUNIT_EXPECT_EQ(test, phase_at(test, MS(1250) - 1), TTM_THROTTLE_WEAK);
	KUNIT_EXPECT_EQ(test, phase_at(test, MS(1250)), TTM_THROTTLE_NORMAL);
	KUNIT_EXPECT_EQ(test, ttm_throttle_phase(&f->bdev, rival), TTM_THROTTLE_NORMAL);
	KUNIT_EXPECT_EQ(test, ttm_throttle_phase(&f->bdev, NULL), TTM_THROTTLE_NORMAL);

	test_now_ns = MS(1000);
	ttm_throttle_reset(victim);
	KUNIT_EXPECT_EQ(test, phase_at(test, MS(1000)), TTM_THROTTLE_NORMAL);
}

static void own_evictions_do_not_throttle(struct kunit *test)
{
	struct exec_bo *bo = create(test, victim, EXEC_BO_SIZE, TTM_PL_VRAM);
	struct exec_bo *big = create(test, victim, EXEC_VRAM_SIZE, TTM_PL_SYSTEM);

	KUNIT_EXPECT_EQ(test, validate(test, big, victim, false), 0);
	KUNIT_EXPECT_EQ(test, exec_bo_mem_type(bo), TTM_PL_SYSTEM);
	KUNIT_EXPECT_EQ(test, phase_at(test, MS(1000)), TTM_THROTTLE_NORMAL);
}

static void reclaim_throttles(struct kunit *test)
{
	struct exec_fixture *f = test->priv;
	struct exec_bo *bo = create(test, victim, EXEC_BO_SIZE, TTM_PL_VRAM);
	struct ttm_resource_manager *man;

	man = ttm_manager_type(&f->bdev, TTM_PL_VRAM);
	KUNIT_EXPECT_EQ(test, ttm_resource_manager_evict_all(&f->bdev, man), 0);
	KUNIT_EXPECT_EQ(test, exec_bo_mem_type(bo), TTM_PL_SYSTEM);
	KUNIT_EXPECT_EQ(test, phase_at(test, MS(1000)), TTM_THROTTLE_STRONG);
}

static void unmarked_managers_do_not_throttle(struct kunit *test)
{
	struct exec_fixture *f = test->priv;

	ttm_manager_type(&f->bdev, TTM_PL_VRAM)->use_throttle = false;
	lose(test);
	KUNIT_EXPECT_EQ(test, phase_at(test, MS(1000)), TTM_THROTTLE_NORMAL);
}

/* Neither into free memory, in the strong phase, nor by force, in the weak one. */
static void phases_hold(struct kunit *test)
{
	struct exec_bo *bo = lose(test);
	struct exec_fixture *f = test->priv;
	struct exec_bo *big = list_last_entry(&f->all, struct exec_bo, node);

	/* Video memory is full: the weak phase evicts nobody. */
	test_now_ns = MS(1100);
	KUNIT_EXPECT_EQ(test, validate(test, bo, victim, true), 0);
	KUNIT_EXPECT_EQ(test, exec_bo_mem_type(bo), TTM_PL_SYSTEM);
	KUNIT_EXPECT_EQ(test, exec_bo_mem_type(big), TTM_PL_VRAM);

	/* It is free: the strong phase moves nothing, the weak one does. */
	exec_bo_drop(big);
	flush_workqueue(f->bdev.wq);
	test_now_ns = MS(1020);
	KUNIT_EXPECT_EQ(test, validate(test, bo, victim, true), 0);
	KUNIT_EXPECT_EQ(test, exec_bo_mem_type(bo), TTM_PL_SYSTEM);
	test_now_ns = MS(1100);
	KUNIT_EXPECT_EQ(test, validate(test, bo, victim, true), 0);
	KUNIT_EXPECT_EQ(test, exec_bo_mem_type(bo), TTM_PL_VRAM);
}

static void what_has_to_move_moves(struct kunit *test)
{
	struct exec_bo *bo = lose(test);

	KUNIT_EXPECT_EQ(test, phase_at(test, MS(1001)), TTM_THROTTLE_STRONG);
	KUNIT_EXPECT_EQ(test, validate(test, bo, victim, false), 0);
	KUNIT_EXPECT_EQ(test, exec_bo_mem_type(bo), TTM_PL_VRAM);
}

/* BOs may outlive their owner, which then is nobody. */
static void closed_owners_are_nobody(struct kunit *test)
{
	struct exec_bo *bo = create(test, victim, EXEC_BO_SIZE, TTM_PL_VRAM);
	struct exec_bo *big = create(test, rival, EXEC_VRAM_SIZE, TTM_PL_SYSTEM);

	ttm_throttle_close(ttm_throttle_get(victim));
	KUNIT_EXPECT_EQ(test, validate(test, big, rival, false), 0);
	KUNIT_EXPECT_EQ(test, exec_bo_mem_type(bo), TTM_PL_SYSTEM);
	KUNIT_EXPECT_EQ(test, phase_at(test, MS(1000)), TTM_THROTTLE_NORMAL);
	KUNIT_EXPECT_EQ(test, kref_read(&victim->kref), 2);
	exec_bo_drop(bo);
	KUNIT_EXPECT_EQ(test, kref_read(&victim->kref), 1);
}

static struct kunit_case throttle_cases[] = {
	KUNIT_CASE(phases),
	KUNIT_CASE(own_evictions_do_not_throttle),
	KUNIT_CASE(reclaim_throttles),
	KUNIT_CASE(unmarked_managers_do_not_throttle),
	KUNIT_CASE(phases_hold),
	KUNIT_CASE(what_has_to_move_moves),
	KUNIT_CASE(closed_owners_are_nobody),
	{}
};

static struct kunit_suite throttle_suite = {
	.name = "ttm_throttle",
	.init = throttle_init,
	.exit = throttle_exit,
	.test_cases = throttle_cases,
};

kunit_test_suites(&throttle_suite);
