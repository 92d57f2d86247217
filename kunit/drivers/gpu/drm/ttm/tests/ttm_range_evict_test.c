// SPDX-License-Identifier: GPL-2.0 OR MIT
/* vramlab-needs: 16 */

/*
 * What becomes of the choice of a range: what is evicted for it, by whose lock,
 * and what happens if it turns out to be wrong.
 */

#include <drm/ttm/ttm_range.h>

#include "../ttm_bo_internal.h"
#include "ttm_exec_kunit.h"

#define PAGES(n)	((u64)(n) << PAGE_SHIFT)

static const struct ttm_place one_range = {
	.mem_type = TTM_PL_VRAM,
	.flags = TTM_PL_FLAG_CONTIGUOUS,
};

static const struct ttm_placement contiguous = {
	.num_placement = 1,
	.placement = &one_range,
};

/* One test runs at a time. */
static struct ttm_device_funcs test_funcs;
static struct exec_bo *stubborn[64];
static unsigned int num_stubborn;
static unsigned int refusals;

static bool refuses(struct ttm_buffer_object *tbo, const struct ttm_place *place)
{
	unsigned int i;

	for (i = 0; i < num_stubborn; i++) {
		if (&stubborn[i]->tbo == tbo) {
			refusals++;
			return false;
		}
	}

	return ttm_bo_eviction_valuable(tbo, place);
}

static int range_init(struct kunit *test)
{
	struct exec_fixture *f;
	int ret;

	ret = exec_fixture_init(test);
	if (ret)
		return ret;

	f = test->priv;
	if (!ttm_range_wanted(ttm_manager_type(&f->bdev, TTM_PL_VRAM), &one_range)) {
		exec_fixture_exit(test);
		test->priv = NULL;
		kunit_skip(test, "ttm.contig_range is off");
	}

	test_funcs = *f->bdev.funcs;
	test_funcs.eviction_valuable = refuses;
	f->bdev.funcs = &test_funcs;
	num_stubborn = 0;
	refusals = 0;
	return 0;
}

static void range_exit(struct kunit *test)
{
	if (test->priv)
		exec_fixture_exit(test);
}

/* Fill video memory, which has 64 pages, with BOs of these sizes, from the bottom. */
static void fill(struct kunit *test, struct exec_bo **bos, const unsigned int *pages,
		 unsigned int n)
{
	unsigned int i;

	for (i = 0; i < n; i++)
		bos[i] = exec_bo_create(test, PAGES(pages[i]), TTM_PL_VRAM, NULL);
}

static int place(struct exec_bo *bo)
{
	struct ttm_placement placement = contiguous;
	struct ttm_operation_ctx ctx = {};
	int ret;

	dma_resv_lock(bo->tbo.base.resv, NULL);
	ret = ttm_bo_validate(&bo->tbo, &placement, &ctx);
	dma_resv_unlock(bo->tbo.base.resv);
	return ret;
}

static void pin(struct exec_bo *bo, bool on)
{
	dma_resv_lock(bo->tbo.base.resv, NULL);
	if (on)
		ttm_bo_pin(&bo->tbo);
	else
		ttm_bo_unpin(&bo->tbo);
	dma_resv_unlock(bo->tbo.base.resv);
}

static void only_the_range_goes(struct kunit *test)
{
	static const unsigned int pages[] = { 24, 4, 8, 28 };
	struct exec_bo *image = exec_bo_create(test, PAGES(12), TTM_PL_SYSTEM, NULL);
	struct exec_bo *bos[4];

	fill(test, bos, pages, 4);
	KUNIT_EXPECT_EQ(test, place(image), 0);
	KUNIT_EXPECT_EQ(test, image->tbo.resource->start, 24);
	KUNIT_EXPECT_EQ(test, exec_bo_mem_type(bos[0]), TTM_PL_VRAM);
	KUNIT_EXPECT_EQ(test, exec_bo_mem_type(bos[1]), TTM_PL_SYSTEM);
	KUNIT_EXPECT_EQ(test, exec_bo_mem_type(bos[2]), TTM_PL_SYSTEM);
	KUNIT_EXPECT_EQ(test, exec_bo_mem_type(bos[3]), TTM_PL_VRAM);
}

static void others_go_by_the_lru(struct kunit *test)
{
	static const unsigned int pages[] = { 24, 4, 8, 28 };
	struct exec_bo *bo = exec_bo_create(test, PAGES(12), TTM_PL_SYSTEM, NULL);
	struct ttm_operation_ctx ctx = {};
	struct exec_bo *bos[4];

	fill(test, bos, pages, 4);
	dma_resv_lock(bo->tbo.base.resv, NULL);
	KUNIT_EXPECT_EQ(test, exec_validate(test->priv, bo, TTM_PL_VRAM, &ctx), 0);
	dma_resv_unlock(bo->tbo.base.resv);
	KUNIT_EXPECT_EQ(test, exec_bo_mem_type(bos[0]), TTM_PL_SYSTEM);
	KUNIT_EXPECT_EQ(test, exec_bo_mem_type(bos[1]), TTM_PL_VRAM);
}

static void pinned_and_locked_are_in_the_way(struct kunit *test)
{
	static const unsigned int pages[] = { 8, 24, 8, 24 };
	struct exec_bo *image = exec_bo_create(test, PAGES(8), TTM_PL_SYSTEM, NULL);
	struct exec_bo *bos[4];

	fill(test, bos, pages, 4);
	pin(bos[0], true);
	exec_hold(test, bos[2]);
	KUNIT_EXPECT_EQ(test, place(image), 0);
	KUNIT_EXPECT_EQ(test, image->tbo.resource->start, 8);
	KUNIT_EXPECT_EQ(test, exec_bo_mem_type(bos[1]), TTM_PL_SYSTEM);
	KUNIT_EXPECT_EQ(test, refusals, 0);
	drm_exec_holder_stop(&((struct exec_fixture *)test->priv)->holder);
	pin(bos[0], false);
}

static void refused_another_range(struct kunit *test)
{
	static const unsigned int pages[] = { 8, 8, 8, 8, 8, 8, 8, 8 };
	struct exec_bo *image = exec_bo_create(test, PAGES(8), TTM_PL_SYSTEM, NULL);
	struct exec_bo *bos[8];

	fill(test, bos, pages, 8);
	memcpy(stubborn, bos, sizeof(bos));
	num_stubborn = 3;
	KUNIT_EXPECT_EQ(test, place(image), 0);
	KUNIT_EXPECT_EQ(test, image->tbo.resource->start, 24);
	KUNIT_EXPECT_EQ(test, refusals, 3);
	KUNIT_EXPECT_EQ(test, exec_bo_mem_type(bos[4]), TTM_PL_VRAM);
}

static void eight_searches(struct kunit *test)
{
	struct exec_bo *image = exec_bo_create(test, PAGES(4), TTM_PL_SYSTEM, NULL);
	unsigned int pages[16], i;

	for (i = 0; i < 16; i++)
		pages[i] = 4;
	fill(test, stubborn, pages, 16);
	num_stubborn = 16;
	KUNIT_EXPECT_EQ(test, place(image), -ENOMEM);
	KUNIT_EXPECT_EQ(test, refusals, TTM_RANGE_SEARCHES);
	for (i = 0; i < 16; i++)
		KUNIT_EXPECT_EQ(test, exec_bo_mem_type(stubborn[i]), TTM_PL_VRAM);
	num_stubborn = 0;
}

static void deleted_cost_nothing(struct kunit *test)
{
	static const unsigned int pages[] = { 16, 16, 28, 4 };
	struct exec_bo *image = exec_bo_create(test, PAGES(28), TTM_PL_SYSTEM, NULL);
	struct dma_fence *fence = exec_fence_create(test);
	struct exec_bo *bos[4];

	fill(test, bos, pages, 4);
	dma_resv_lock(bos[2]->tbo.base.resv, NULL);
	KUNIT_ASSERT_EQ(test, dma_resv_reserve_fences(bos[2]->tbo.base.resv, 1), 0);
	dma_resv_add_fence(bos[2]->tbo.base.resv, fence, DMA_RESV_USAGE_BOOKKEEP);
	dma_resv_unlock(bos[2]->tbo.base.resv);
	exec_bo_drop(bos[2]);

	exec_fence_signal_later(test, fence);
	KUNIT_EXPECT_EQ(test, place(image), 0);
	KUNIT_EXPECT_TRUE(test, dma_fence_is_signaled(fence));
	KUNIT_EXPECT_EQ(test, image->tbo.resource->start, 32);
	KUNIT_EXPECT_EQ(test, exec_bo_mem_type(bos[0]), TTM_PL_VRAM);
	KUNIT_EXPECT_EQ(test, exec_bo_mem_type(bos[1]), TTM_PL_VRAM);
	KUNIT_EXPECT_EQ(test, exec_bo_mem_type(bos[3]), TTM_PL_VRAM);
	dma_fence_put(fence);
}

/* f->bos[0] tries to get into video memory while the range is emptied. */
static int steal(struct exec_fixture *f, struct exec_bo *bo, bool evict)
{
	struct ttm_operation_ctx ctx = { .no_wait_gpu = true };

	if (!evict || bo == f->bos[0])
		return 0;

	f->on_move = NULL;
	dma_resv_lock(f->bos[0]->tbo.base.resv, NULL);
	exec_validate(f, f->bos[0], TTM_PL_VRAM, &ctx);
	dma_resv_unlock(f->bos[0]->tbo.base.resv);
	return 0;
}

static void claimed_is_not_taken(struct kunit *test)
{
	static const unsigned int pages[] = { 32, 8, 8, 16 };
	struct exec_bo *image = exec_bo_create(test, PAGES(16), TTM_PL_SYSTEM, NULL);
	struct exec_fixture *f = test->priv;
	struct exec_bo *bos[4];
	u64 start;

	fill(test, bos, pages, 4);
	f->bos[0] = exec_bo_create(test, PAGES(8), TTM_PL_SYSTEM, NULL);
	exec_bo_drop(bos[1]);
	flush_workqueue(f->bdev.wq);

	f->on_move = steal;
	KUNIT_EXPECT_EQ(test, place(image), 0);
	KUNIT_EXPECT_EQ(test, image->tbo.resource->start, 32);
	KUNIT_EXPECT_EQ(test, exec_bo_mem_type(bos[2]), TTM_PL_SYSTEM);
	KUNIT_EXPECT_NULL(test, f->on_move);
	/* By the LRU it got something else, if anything. */
	if (exec_bo_mem_type(f->bos[0]) == TTM_PL_VRAM) {
		start = f->bos[0]->tbo.resource->start;
		KUNIT_EXPECT_TRUE(test, start + 8 <= 32 || start >= 48);
	}
}

/* As a pin for scanout in a loop: who holds the victim's lock is waited for. */
static void contended_victim_backs_off(struct kunit *test)
{
	static const unsigned int pages[] = { 24, 8, 32 };
	struct exec_bo *image = exec_bo_create(test, PAGES(8), TTM_PL_SYSTEM, NULL);
	struct ttm_placement placement = contiguous;
	struct exec_fixture *f = test->priv;
	struct ttm_operation_ctx ctx = {};
	struct exec_bo *bos[3];
	struct drm_exec exec;
	int ret = 0;

	fill(test, bos, pages, 3);
	/* Holds the lock since before, and so is the older one. */
	exec_hold(test, bos[1]);
	f->attempts = 0;
	drm_exec_init(&exec, 0, 1);
	drm_exec_until_all_locked(&exec) {
		f->attempts++;
		ret = drm_exec_prepare_obj(&exec, &image->tbo.base, 1);
		drm_exec_retry_on_contention(&exec);
		if (ret)
			break;

		ctx.exec = &exec;
		ret = ttm_bo_validate(&image->tbo, &placement, &ctx);
		exec_release_on_deadlk(f, ret);
		drm_exec_retry_on_contention(&exec);
		if (ret)
			break;

		/* The victim's lock is not kept. */
		KUNIT_EXPECT_FALSE(test, drm_exec_has_resv(&exec, bos[1]->tbo.base.resv));
	}
	drm_exec_fini(&exec);

	KUNIT_EXPECT_EQ(test, ret, 0);
	KUNIT_EXPECT_GE(test, f->attempts, 2);
	KUNIT_EXPECT_EQ(test, image->tbo.resource->start, 24);
	KUNIT_EXPECT_EQ(test, exec_bo_mem_type(bos[1]), TTM_PL_SYSTEM);
	KUNIT_EXPECT_EQ(test, exec_bo_mem_type(bos[0]), TTM_PL_VRAM);
}

static struct kunit_case range_cases[] = {
	KUNIT_CASE(only_the_range_goes),
	KUNIT_CASE(others_go_by_the_lru),
	KUNIT_CASE(pinned_and_locked_are_in_the_way),
	KUNIT_CASE(refused_another_range),
	KUNIT_CASE(eight_searches),
	KUNIT_CASE(deleted_cost_nothing),
	KUNIT_CASE(claimed_is_not_taken),
	KUNIT_CASE(contended_victim_backs_off),
	{}
};

static struct kunit_suite range_suite = {
	.name = "ttm_range",
	.init = range_init,
	.exit = range_exit,
	.test_cases = range_cases,
};

kunit_test_suites(&range_suite);
