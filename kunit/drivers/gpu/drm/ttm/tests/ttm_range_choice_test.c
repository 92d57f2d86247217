// SPDX-License-Identifier: GPL-2.0 OR MIT
/* vramlab-needs: 16 */

/*
 * Is the range that is chosen the cheapest one? Compared with every range there
 * is, on layouts of a gpu_buddy, whose resources are many blocks, and of
 * ttm_range_manager.
 */

#include <linux/gpu_buddy.h>
#include <linux/prandom.h>

#include <drm/ttm/ttm_range.h>
#include <drm/ttm/ttm_range_manager.h>

#include "../ttm_bo_internal.h"
#include "ttm_exec_kunit.h"

#define PAGES		256
#define OWNERS		24
#define LAYOUTS		400

/* What the tests know of a resource. */
struct owner {
	struct ttm_buffer_object bo;
	struct ttm_resource res;
	struct ttm_range_hint hint;
	struct list_head blocks;
	struct dma_fence *fence;
	u64 cost;
	bool never;
	bool used;
};

struct layout {
	struct ttm_resource_manager man;
	struct gpu_buddy mm;
	struct owner owners[OWNERS];
	/* By page: who has it, or NULL. */
	struct owner *pages[PAGES];
};

static u32 draw(struct rnd_state *rnd, u32 below)
{
	return prandom_u32_state(rnd) % below;
}

/* By the blocks themselves, not by a tree. */
static void buddy_extent_at(struct ttm_resource_manager *man, u64 page,
			    struct ttm_range_extent *extent)
{
	struct layout *l = container_of(man, struct layout, man);
	struct gpu_buddy_block *block = NULL;
	unsigned int i;

	for (i = 0; i < OWNERS && l->pages[page]; i++) {
		list_for_each_entry(block, &l->owners[i].blocks, link) {
			u64 start = gpu_buddy_block_offset(block) >> PAGE_SHIFT;
			u64 end = start + (gpu_buddy_block_size(&l->mm, block) >> PAGE_SHIFT);

			if (page < start || page >= end)
				continue;

			*extent = (struct ttm_range_extent) {
				.start = start,
				.end = end,
				.res = &l->owners[i].res,
				.hint = &l->owners[i].hint,
			};
			return;
		}
	}

	/* Free, page by page. */
	*extent = (struct ttm_range_extent) { .start = page, .end = page + 1 };
}

/* Every range, every page of it. */
static int exhaustive(struct owner **pages, const struct ttm_range_claim *claim,
		      const struct ttm_range_claim *other, u64 *start, u64 *cost)
{
	u64 size = claim->bo->base.size >> PAGE_SHIFT;
	u64 limit = claim->place->lpfn ?: PAGES;
	u32 alignment = max(claim->bo->page_alignment, 1u);
	int ret = -ENOSPC;
	u64 at, page, i;

	for (at = claim->place->fpfn; at + size <= limit; at++) {
		bool possible = !(at % alignment);
		u64 sum = 0;

		for (page = at; page < at + size; page++) {
			struct owner *owner = pages[page];

			if (other && page >= other->range.fpfn && page < other->range.lpfn)
				possible = false;
			if (!owner)
				continue;

			/* Each counts where it is met first. */
			for (i = at; pages[i] != owner; i++)
				;
			if (i == page)
				sum += owner->cost;
			possible &= !owner->never;
		}

		if (possible && (ret || sum < *cost)) {
			*start = at;
			*cost = sum;
			ret = 0;
		}
	}

	return ret;
}

static void owner_init(struct kunit *test, struct owner *o, struct rnd_state *rnd, u64 pages)
{
	struct exec_fixture *f = test->priv;

	memset(o, 0, sizeof(*o));
	INIT_LIST_HEAD(&o->blocks);
	drm_gem_private_object_init(f->devs->drm, &o->bo.base, pages << PAGE_SHIFT);
	o->bo.bdev = &f->bdev;
	o->res.bo = &o->bo;
	o->res.size = o->bo.base.size;
	o->cost = o->res.size;
	o->used = true;

	if (!draw(rnd, 4)) {
		o->fence = exec_fence_create(test);
		dma_resv_lock(o->bo.base.resv, NULL);
		KUNIT_ASSERT_EQ(test, dma_resv_reserve_fences(o->bo.base.resv, 1), 0);
		dma_resv_add_fence(o->bo.base.resv, o->fence, DMA_RESV_USAGE_BOOKKEEP);
		dma_resv_unlock(o->bo.base.resv);
		o->cost *= TTM_RANGE_WEIGHT_BUSY;
	}
	if (!draw(rnd, 8)) {
		o->bo.deleted = true;
		o->cost = 0;
	}
	if (!draw(rnd, 12))
		o->bo.pin_count = 1;
	o->never = o->bo.pin_count;
	if (!draw(rnd, 16)) {
		dma_resv_lock(o->bo.base.resv, NULL);
		o->never = true;
	}
}

static void owner_fini(struct owner *o)
{
	if (dma_resv_is_locked(o->bo.base.resv))
		dma_resv_unlock(o->bo.base.resv);
	if (o->fence) {
		dma_fence_signal(o->fence);
		dma_fence_put(o->fence);
	}
	drm_gem_object_release(&o->bo.base);
	o->used = false;
}

static void draw_layout(struct kunit *test, struct layout *l, struct rnd_state *rnd)
{
	struct gpu_buddy_block *block;
	unsigned int i, round;
	struct owner *o;

	memset(l->pages, 0, sizeof(l->pages));
	for (round = 0; round < 3; round++) {
		for (i = 0; i < OWNERS; i++) {
			u64 pages = 1 + draw(rnd, 31);

			o = &l->owners[i];
			if (o->used && draw(rnd, 2)) {
				gpu_buddy_free_list(&l->mm, &o->blocks, 0);
				owner_fini(o);
			}
			if (o->used)
				continue;

			owner_init(test, o, rnd, pages);
			if (gpu_buddy_alloc_blocks(&l->mm, 0, l->mm.size, o->res.size, PAGE_SIZE,
						   &o->blocks, 0))
				owner_fini(o);
		}
	}

	for (i = 0; i < OWNERS; i++) {
		o = &l->owners[i];
		list_for_each_entry(block, &o->blocks, link) {
			u64 page = gpu_buddy_block_offset(block) >> PAGE_SHIFT;
			u64 n = gpu_buddy_block_size(&l->mm, block) >> PAGE_SHIFT;

			while (n--)
				l->pages[page++] = o;
		}
	}
}

static void check_choice(struct kunit *test, struct layout *l, struct rnd_state *rnd,
			 unsigned int *found)
{
	struct ttm_bo_alloc_state state = { .may_try_low = true };
	struct ttm_operation_ctx ctx = {};
	struct ttm_place place = {
		.fpfn = draw(rnd, 3) ? 0 : draw(rnd, PAGES / 4),
		.lpfn = draw(rnd, 3) ? 0 : PAGES / 2 + draw(rnd, PAGES / 2),
		.flags = TTM_PL_FLAG_CONTIGUOUS,
	};
	struct ttm_range_claim other = {}, *in_use = NULL;
	struct ttm_range_claim claim = {
		.place = &place,
		.ctx = &ctx,
		.state = &state,
		.searches = 1,
	};
	struct ttm_buffer_object bo = {};
	u64 start = 0, cost = 0;
	LIST_HEAD(claims);
	unsigned int i;
	int ret;

	bo.base.size = (1 + draw(rnd, 48)) << PAGE_SHIFT;
	bo.page_alignment = draw(rnd, 3) ? 1 : 1 + draw(rnd, 8);
	claim.bo = &bo;
	if (!draw(rnd, 3)) {
		other.range.fpfn = draw(rnd, PAGES - 8);
		other.range.lpfn = other.range.fpfn + 1 + draw(rnd, 8);
		list_add(&other.link, &claims);
		in_use = &other;
	}
	if (!draw(rnd, 3)) {
		struct owner *o = &l->owners[draw(rnd, OWNERS)];

		claim.failed[0] = &o->res;
		o->never = true;
	}

	ret = ttm_range_choose(&claim, &l->man, PAGES, &claims, buddy_extent_at);
	KUNIT_EXPECT_EQ(test, ret, exhaustive(l->pages, &claim, in_use, &start, &cost));
	if (!ret) {
		KUNIT_EXPECT_EQ(test, claim.range.fpfn, start);
		KUNIT_EXPECT_EQ(test, claim.range.lpfn, start + (bo.base.size >> PAGE_SHIFT));
		KUNIT_EXPECT_EQ(test, claim.cost.bytes, cost);
		KUNIT_EXPECT_EQ(test, claim.cost.low_bytes, 0);
		(*found)++;
	}
	for (i = 0; i < OWNERS; i++)
		KUNIT_EXPECT_EQ(test, l->owners[i].hint.extents, 0);
}

static void buddy_layouts(struct kunit *test)
{
	struct exec_fixture *f = test->priv;
	unsigned int i, n, found = 0;
	struct rnd_state rnd;
	struct layout *l;

	l = kunit_kzalloc(test, sizeof(*l), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, l);
	l->man.bdev = &f->bdev;

	for (n = 1; n <= LAYOUTS; n++) {
		prandom_seed_state(&rnd, n);
		KUNIT_ASSERT_EQ(test, gpu_buddy_init(&l->mm, PAGES << PAGE_SHIFT, PAGE_SIZE), 0);
		for (i = 0; i < OWNERS; i++)
			INIT_LIST_HEAD(&l->owners[i].blocks);
		draw_layout(test, l, &rnd);
		check_choice(test, l, &rnd, &found);
		for (i = 0; i < OWNERS; i++) {
			gpu_buddy_free_list(&l->mm, &l->owners[i].blocks, 0);
			if (l->owners[i].used)
				owner_fini(&l->owners[i]);
		}
		gpu_buddy_fini(&l->mm);
	}

	/* Or the comparison is worth nothing. */
	KUNIT_EXPECT_GT(test, found, LAYOUTS / 4);
	KUNIT_EXPECT_LT(test, found, LAYOUTS);
}

/* Real BOs in the range manager, of which some are pinned. */
static void range_manager_layouts(struct kunit *test)
{
	struct exec_fixture *f = test->priv;
	struct ttm_resource_manager *man = ttm_manager_type(&f->bdev, TTM_PL_VRAM);
	u64 pages = EXEC_VRAM_SIZE >> PAGE_SHIFT;
	struct ttm_bo_alloc_state state = { .may_try_low = true };
	struct ttm_place place = { .mem_type = TTM_PL_VRAM, .flags = TTM_PL_FLAG_CONTIGUOUS };
	struct ttm_operation_ctx ctx = {};
	struct rnd_state rnd;
	unsigned int n;

	for (n = 1; n <= LAYOUTS / 8; n++) {
		u64 used, start, best_start = 0, best_cost = U64_MAX;
		struct ttm_range_claim claim = {
			.place = &place,
			.ctx = &ctx,
			.state = &state,
			.searches = 1,
		};
		struct ttm_buffer_object bo = {};
		struct ttm_resource *first;
		struct exec_bo *b, *next;
		int ret;

		prandom_seed_state(&rnd, n);
		for (used = 0; used < pages;) {
			u64 size = min(1 + draw(&rnd, 9), pages - used);

			b = exec_bo_create(test, size << PAGE_SHIFT, TTM_PL_VRAM, NULL);
			used += size;
			if (!draw(&rnd, 8)) {
				dma_resv_lock(b->tbo.base.resv, NULL);
				ttm_bo_pin(&b->tbo);
				dma_resv_unlock(b->tbo.base.resv);
			}
		}
		list_for_each_entry_safe(b, next, &f->all, node)
			if (!b->tbo.pin_count && !draw(&rnd, 8))
				exec_bo_drop(b);
		flush_workqueue(f->bdev.wq);

		bo.base.size = (1 + draw(&rnd, 24)) << PAGE_SHIFT;
		claim.bo = &bo;
		for (start = 0; start + (bo.base.size >> PAGE_SHIFT) <= pages; start++) {
			u64 end = start + (bo.base.size >> PAGE_SHIFT), cost = 0;
			bool possible = true;

			list_for_each_entry(b, &f->all, node) {
				u64 at = b->tbo.resource->start;

				if (at >= end || at + (b->tbo.base.size >> PAGE_SHIFT) <= start)
					continue;
				possible &= !b->tbo.pin_count;
				cost += b->tbo.base.size;
			}
			if (possible && cost < best_cost) {
				best_start = start;
				best_cost = cost;
			}
		}

		ret = man->func->claim_range(man, &claim);
		KUNIT_EXPECT_EQ(test, ret, best_cost == U64_MAX ? -ENOSPC : 0);
		if (!ret) {
			KUNIT_EXPECT_EQ(test, claim.range.fpfn, best_start);
			KUNIT_EXPECT_EQ(test, claim.cost.bytes, best_cost);
			b = NULL;
			if (man->func->range_first(man, &claim, &first)) {
				KUNIT_EXPECT_NOT_NULL(test, first);
				b = to_exec_bo(first->bo);
				KUNIT_EXPECT_LT(test, first->start, claim.range.lpfn);
				ttm_bo_fini(&b->tbo);
			}
			KUNIT_EXPECT_EQ(test, !b, !best_cost);
			man->func->unclaim_range(man, &claim);
		}

		list_for_each_entry_safe(b, next, &f->all, node) {
			if (b->tbo.pin_count) {
				dma_resv_lock(b->tbo.base.resv, NULL);
				ttm_bo_unpin(&b->tbo);
				dma_resv_unlock(b->tbo.base.resv);
			}
			exec_bo_drop(b);
		}
		flush_workqueue(f->bdev.wq);
	}
}

static struct kunit_case range_choice_cases[] = {
	KUNIT_CASE(buddy_layouts),
	KUNIT_CASE(range_manager_layouts),
	{}
};

static struct kunit_suite range_choice_suite = {
	.name = "ttm_range_choice",
	.init = exec_fixture_init,
	.exit = exec_fixture_exit,
	.test_cases = range_choice_cases,
};

kunit_test_suites(&range_choice_suite);
