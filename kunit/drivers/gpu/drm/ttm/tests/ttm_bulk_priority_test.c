// SPDX-License-Identifier: GPL-2.0 OR MIT
/* vramlab-needs: 13 */

/*
 * Priorities within bulk moves: is the range sorted and whole whatever happens,
 * do cursors survive it, and who may push out whom?
 */

#include <drm/ttm/ttm_resource.h>

#include "ttm_exec_kunit.h"

#define NUM_BOS		14
#define NOT_IN_RANGE	(-1)

/* One test runs at a time. */
static struct ttm_lru_bulk_move bulk, other_bulk;
static struct exec_bo *bos[NUM_BOS];

static int bulk_priority_init(struct kunit *test)
{
	if (!ttm_bo_priority_enabled())
		kunit_skip(test, "ttm.bo_priority is off");

	ttm_lru_bulk_move_init(&bulk);
	ttm_lru_bulk_move_init(&other_bulk);
	memset(bos, 0, sizeof(bos));
	return exec_fixture_init(test);
}

static void bulk_priority_exit(struct kunit *test)
{
	struct exec_fixture *f = test->priv;
	struct exec_bo *bo;

	if (!f)
		return;

	list_for_each_entry(bo, &f->all, node) {
		dma_resv_lock(bo->tbo.base.resv, NULL);
		ttm_bo_set_bulk_move(&bo->tbo, NULL);
		dma_resv_unlock(bo->tbo.base.resv);
	}
	exec_fixture_exit(test);
}

static struct exec_bo *create_in(struct kunit *test, struct ttm_lru_bulk_move *b, u8 priority,
				 u64 size, u32 mem_type)
{
	struct exec_fixture *f = test->priv;
	struct exec_bo *bo = exec_bo_create(test, size, mem_type, &f->shared);

	dma_resv_lock(&f->shared, NULL);
	ttm_bo_set_bulk_priority(&bo->tbo, priority);
	ttm_bo_set_bulk_move(&bo->tbo, b);
	dma_resv_unlock(&f->shared);
	return bo;
}

/* The generator of the model's test, so that both take the same path. */
static u64 random_state;

static u64 random_below(u64 limit)
{
	random_state ^= random_state << 13;
	random_state ^= random_state >> 7;
	random_state ^= random_state << 17;
	return (random_state >> 11) % limit;
}

/* The LRU list, kept the slow way: numbers of BOs, and the levels of those in the range. */
struct naive_lru {
	int order[NUM_BOS];
	int level[NUM_BOS];
};

/* Take @bo out, and put it in again behind @behind, in front of @before, or at the end. */
static void naive_move(struct naive_lru *lru, int bo, int behind, int before)
{
	int i, n = 0, rest[NUM_BOS];

	for (i = 0; i < NUM_BOS; i++)
		if (lru->order[i] != bo)
			rest[n++] = lru->order[i];

	for (i = 0, n = 0; i < NUM_BOS - 1; i++) {
		if (rest[i] == before)
			lru->order[n++] = bo;
		lru->order[n++] = rest[i];
		if (rest[i] == behind)
			lru->order[n++] = bo;
	}
	if (n < NUM_BOS)
		lru->order[n] = bo;
}

/* Behind the last of the same level or a lower one, else in front of all. */
static void naive_insert(struct naive_lru *lru, int bo, int level)
{
	int i, first = -1, behind = -1;

	lru->level[bo] = NOT_IN_RANGE;
	for (i = 0; i < NUM_BOS; i++) {
		int at = lru->order[i];

		if (lru->level[at] == NOT_IN_RANGE)
			continue;
		if (first < 0)
			first = at;
		if (lru->level[at] <= level)
			behind = at;
	}
	lru->level[bo] = level;

	/* The only one stays where it is. */
	if (first >= 0)
		naive_move(lru, bo, behind, behind < 0 ? first : -1);
}

static void naive_leave(struct naive_lru *lru, int bo)
{
	int i, first = -1, last = -1;

	for (i = 0; i < NUM_BOS; i++) {
		if (lru->level[lru->order[i]] == NOT_IN_RANGE)
			continue;
		if (first < 0)
			first = lru->order[i];
		last = lru->order[i];
	}
	lru->level[bo] = NOT_IN_RANGE;
	if (bo != first && bo != last)
		naive_move(lru, bo, last, -1);
}

static void naive_bulk_tail(struct naive_lru *lru)
{
	int i, before[NUM_BOS];

	memcpy(before, lru->order, sizeof(before));
	for (i = 0; i < NUM_BOS; i++)
		if (lru->level[before[i]] != NOT_IN_RANGE)
			naive_move(lru, before[i], -1, -1);
}

static int number_of(struct ttm_resource *res)
{
	int i;

	for (i = 0; i < NUM_BOS; i++)
		if (bos[i] && &bos[i]->tbo == res->bo)
			return i;

	return -1;
}

/* What the kernel has: numbers of BOs, -1 for none. */
struct seen_lru {
	int num;
	int order[NUM_BOS];
	int level[NUM_BOS];
	int first, last, last_of[TTM_NUM_BULK_PRIORITIES];
	u16 used;
};

static void look(struct exec_fixture *f, struct seen_lru *seen)
{
	struct ttm_lru_bulk_move_pos *pos = &bulk.pos[TTM_PL_VRAM][0];
	struct ttm_lru_item *item;
	int i;

	seen->num = 0;
	guard(spinlock)(&f->bdev.lru_lock);
	list_for_each_entry(item, &ttm_manager_type(&f->bdev, TTM_PL_VRAM)->lru[0], link) {
		if (seen->num < NUM_BOS) {
			seen->order[seen->num] = number_of(ttm_lru_item_to_res(item));
			seen->level[seen->num] = ttm_lru_item_to_res(item)->bulk_level;
		}
		seen->num++;
	}
	seen->first = pos->first ? number_of(pos->first) : -1;
	seen->last = pos->last ? number_of(pos->last) : -1;
	seen->used = pos->used;
	for (i = 0; i < TTM_NUM_BULK_PRIORITIES; i++)
		seen->last_of[i] = pos->last_of[i] ? number_of(pos->last_of[i]) : -1;
}

static void check_lists(struct kunit *test, struct naive_lru *lru)
{
	int i, level = 0, first = -1, last = -1, last_of[TTM_NUM_BULK_PRIORITIES];
	struct seen_lru seen;
	u16 used = 0;

	look(test->priv, &seen);
	KUNIT_ASSERT_EQ(test, seen.num, NUM_BOS);
	KUNIT_ASSERT_MEMEQ(test, seen.order, lru->order, sizeof(lru->order));

	memset(last_of, -1, sizeof(last_of));
	for (i = 0; i < NUM_BOS; i++) {
		int bo = lru->order[i];

		if (lru->level[bo] == NOT_IN_RANGE)
			continue;

		KUNIT_ASSERT_EQ(test, seen.level[i], lru->level[bo]);
		KUNIT_ASSERT_GE(test, lru->level[bo], level);
		level = lru->level[bo];
		if (first < 0)
			first = bo;
		last = bo;
		last_of[level] = bo;
		used |= BIT(level);
	}
	KUNIT_ASSERT_EQ(test, seen.first, first);
	KUNIT_ASSERT_EQ(test, seen.last, last);
	KUNIT_ASSERT_EQ(test, seen.used, used);
	KUNIT_ASSERT_MEMEQ(test, seen.last_of, last_of, sizeof(last_of));
}

static void random_step(struct kunit *test, struct naive_lru *lru, u64 levels)
{
	struct exec_fixture *f = test->priv;
	struct ttm_operation_ctx ctx = {};
	int i = random_below(NUM_BOS);
	u64 what = random_below(7), arg = random_below(levels);
	struct ttm_buffer_object *bo = &bos[i]->tbo;
	bool changes;

	switch (what) {
	case 0:
	case 1:
		changes = bo->bulk_priority != arg;
		ttm_bo_set_bulk_priority(bo, arg);
		if (bo->bulk_move && changes)
			naive_insert(lru, i, arg);
		break;
	case 2:
		ttm_bo_move_to_lru_tail_unlocked(bo);
		if (bo->bulk_move)
			naive_insert(lru, i, bo->bulk_priority);
		else
			naive_move(lru, i, -1, -1);
		break;
	case 3:
	case 4:
		if (!!bo->bulk_move == !!(arg % 3))
			break;
		ttm_bo_set_bulk_move(bo, arg % 3 ? &bulk : NULL);
		if (bo->bulk_move)
			naive_insert(lru, i, bo->bulk_priority);
		else
			naive_leave(lru, i);
		break;
	case 5:
		spin_lock(&f->bdev.lru_lock);
		ttm_lru_bulk_move_tail(&bulk);
		spin_unlock(&f->bdev.lru_lock);
		naive_bulk_tail(lru);
		break;
	case 6:
		KUNIT_EXPECT_EQ(test, exec_validate(f, bos[i], TTM_PL_TT, &ctx), 0);
		KUNIT_EXPECT_EQ(test, exec_validate(f, bos[i], TTM_PL_VRAM, &ctx), 0);
		if (bo->bulk_move)
			naive_leave(lru, i);
		naive_move(lru, i, -1, -1);
		if (bo->bulk_move)
			naive_insert(lru, i, bo->bulk_priority);
		break;
	}
}

static void random_operations_match_the_naive_list(struct kunit *test)
{
	/* The model's test ends with this, too. */
	static const int model_order[NUM_BOS] = {
		3, 6, 10, 9, 12, 13, 8, 2, 7, 1, 0, 4, 5, 11
	};
	struct exec_fixture *f = test->priv;
	struct naive_lru lru;
	int i, step;

	for (i = 0; i < NUM_BOS; i++) {
		bos[i] = exec_bo_create(test, PAGE_SIZE, TTM_PL_VRAM, &f->shared);
		lru.order[i] = i;
		lru.level[i] = NOT_IN_RANGE;
	}

	random_state = 11;
	for (step = 0; step < 10000; step++) {
		dma_resv_lock(&f->shared, NULL);
		random_step(test, &lru, step / 500 % 2 ? 3 : TTM_NUM_BULK_PRIORITIES);
		dma_resv_unlock(&f->shared);
		check_lists(test, &lru);
	}
	KUNIT_EXPECT_MEMEQ(test, lru.order, model_order, sizeof(model_order));
}

static void cursors_survive_changes_of_priority(struct kunit *test)
{
	struct exec_fixture *f = test->priv;
	struct ttm_resource_cursor cursor;
	unsigned int seen[NUM_BOS], steps, changes;
	struct ttm_resource *res;
	unsigned long changed;
	int i, round;

	random_state = 5;
	for (i = 0; i < NUM_BOS; i++)
		bos[i] = create_in(test, &bulk, random_below(TTM_NUM_BULK_PRIORITIES), PAGE_SIZE,
				   TTM_PL_VRAM);

	dma_resv_lock(&f->shared, NULL);
	for (round = 0; round < 200; round++) {
		memset(seen, 0, sizeof(seen));
		changed = 0;
		steps = 0;
		changes = 0;

		ttm_resource_cursor_init(&cursor, ttm_manager_type(&f->bdev, TTM_PL_VRAM));
		spin_lock(&f->bdev.lru_lock);
		for (res = ttm_resource_manager_first(&cursor); res && steps < 2 * NUM_BOS;
		     res = ttm_resource_manager_next(&cursor)) {
			steps++;
			seen[number_of(res)]++;
			if (changes == 8 || random_below(2))
				continue;

			changes++;
			i = random_below(NUM_BOS);
			changed |= BIT(i);
			spin_unlock(&f->bdev.lru_lock);
			ttm_bo_set_bulk_priority(&bos[i]->tbo,
						 random_below(TTM_NUM_BULK_PRIORITIES));
			spin_lock(&f->bdev.lru_lock);
		}
		ttm_resource_cursor_fini(&cursor);
		spin_unlock(&f->bdev.lru_lock);

		KUNIT_EXPECT_LE(test, steps, NUM_BOS + changes);
		for (i = 0; i < NUM_BOS; i++)
			if (!(changed & BIT(i)))
				KUNIT_EXPECT_EQ(test, seen[i], 1);
	}
	KUNIT_EXPECT_TRUE(test, list_empty(&bulk.cursor_list));
	dma_resv_unlock(&f->shared);
}

static void others_evict_from_the_lowest_priority_up(struct kunit *test)
{
	static const u8 priorities[] = { 9, 3, 7, 3 };
	static const int expected[] = { 1, 3, 2, 0 };
	int i;

	for (i = 0; i < ARRAY_SIZE(priorities); i++)
		bos[i] = create_in(test, &bulk, priorities[i], EXEC_BO_SIZE, TTM_PL_VRAM);

	for (i = 0; i < ARRAY_SIZE(expected); i++) {
		KUNIT_EXPECT_EQ(test, exec_bo_mem_type(bos[expected[i]]), TTM_PL_VRAM);
		exec_bo_create(test, EXEC_BO_SIZE, TTM_PL_VRAM, NULL);
		KUNIT_EXPECT_EQ(test, exec_bo_mem_type(bos[expected[i]]), TTM_PL_SYSTEM);
	}
}

/* As a submission validates a private BO, with or without retry. */
static int trade(struct kunit *test, struct exec_bo *bo, bool retry)
{
	struct exec_fixture *f = test->priv;
	struct ttm_operation_ctx ctx = {
		.resv = &f->shared,
		.allow_lower_evict = true,
	};

	return exec_lock_and_validate(f, bo, &ctx, retry);
}

static void a_bo_pushes_out_lower_ones_beside_it_only(struct kunit *test)
{
	int retry;

	for (retry = 0; retry <= 1; retry++) {
		struct exec_bo *high, *low, *equal, *middle;

		high = create_in(test, &bulk, 9, EXEC_VRAM_SIZE / 2, TTM_PL_VRAM);
		low = create_in(test, &bulk, 3, EXEC_VRAM_SIZE / 2, TTM_PL_VRAM);
		equal = create_in(test, &bulk, 3, EXEC_VRAM_SIZE / 2, TTM_PL_SYSTEM);
		middle = create_in(test, &bulk, 5, EXEC_VRAM_SIZE / 2, TTM_PL_SYSTEM);

		KUNIT_EXPECT_EQ(test, trade(test, equal, retry), -ENOMEM);
		KUNIT_EXPECT_EQ(test, exec_bo_mem_type(low), TTM_PL_VRAM);
		KUNIT_EXPECT_EQ(test, trade(test, middle, retry), 0);
		KUNIT_EXPECT_EQ(test, exec_bo_mem_type(middle), TTM_PL_VRAM);
		KUNIT_EXPECT_EQ(test, exec_bo_mem_type(low), TTM_PL_SYSTEM);
		KUNIT_EXPECT_EQ(test, trade(test, low, retry), -ENOMEM);
		KUNIT_EXPECT_EQ(test, exec_bo_mem_type(high), TTM_PL_VRAM);

		/* Make room for the second time. */
		exec_bo_create(test, EXEC_VRAM_SIZE, TTM_PL_VRAM, NULL);
		exec_bo_drop(list_last_entry(&((struct exec_fixture *)test->priv)->all,
					     struct exec_bo, node));
	}
}

static void without_permission_nobody_trades(struct kunit *test)
{
	struct exec_fixture *f = test->priv;
	struct ttm_operation_ctx ctx = { .resv = &f->shared };
	struct exec_bo *low = create_in(test, &bulk, 0, EXEC_VRAM_SIZE, TTM_PL_VRAM);
	struct exec_bo *high = create_in(test, &bulk, 15, EXEC_BO_SIZE, TTM_PL_SYSTEM);

	KUNIT_EXPECT_EQ(test, exec_lock_and_validate(f, high, &ctx, false), -ENOMEM);
	KUNIT_EXPECT_EQ(test, exec_lock_and_validate(f, high, &ctx, true), -ENOMEM);
	KUNIT_EXPECT_EQ(test, exec_bo_mem_type(low), TTM_PL_VRAM);
}

static void another_bulk_move_is_out_of_reach(struct kunit *test)
{
	struct exec_fixture *f = test->priv;
	struct exec_bo *low, *none, *high;

	low = create_in(test, &other_bulk, 0, EXEC_VRAM_SIZE / 2, TTM_PL_VRAM);
	none = exec_bo_create(test, EXEC_VRAM_SIZE / 2, TTM_PL_VRAM, &f->shared);
	high = create_in(test, &bulk, 15, EXEC_BO_SIZE, TTM_PL_SYSTEM);

	KUNIT_EXPECT_EQ(test, trade(test, high, false), -ENOMEM);
	KUNIT_EXPECT_EQ(test, trade(test, high, true), -ENOMEM);
	KUNIT_EXPECT_EQ(test, exec_bo_mem_type(low), TTM_PL_VRAM);
	KUNIT_EXPECT_EQ(test, exec_bo_mem_type(none), TTM_PL_VRAM);
}

static void what_is_pinned_stays(struct kunit *test)
{
	struct exec_fixture *f = test->priv;
	struct exec_bo *low = create_in(test, &bulk, 0, EXEC_VRAM_SIZE, TTM_PL_VRAM);
	struct exec_bo *high = create_in(test, &bulk, 15, EXEC_BO_SIZE, TTM_PL_SYSTEM);

	dma_resv_lock(&f->shared, NULL);
	ttm_bo_pin(&low->tbo);
	dma_resv_unlock(&f->shared);
	KUNIT_EXPECT_EQ(test, trade(test, high, true), -ENOMEM);

	/* Its priority may change meanwhile, and counts when it is back. */
	dma_resv_lock(&f->shared, NULL);
	ttm_bo_set_bulk_priority(&low->tbo, 14);
	ttm_bo_unpin(&low->tbo);
	/* Only that brings the only one back to the LRU list. */
	spin_lock(&f->bdev.lru_lock);
	ttm_lru_bulk_move_tail(&bulk);
	spin_unlock(&f->bdev.lru_lock);
	dma_resv_unlock(&f->shared);
	KUNIT_EXPECT_EQ(test, low->tbo.resource->bulk_level, 14);
	KUNIT_EXPECT_EQ(test, trade(test, high, true), 0);
	KUNIT_EXPECT_EQ(test, exec_bo_mem_type(low), TTM_PL_SYSTEM);
}

static struct kunit_case bulk_priority_cases[] = {
	KUNIT_CASE(random_operations_match_the_naive_list),
	KUNIT_CASE(cursors_survive_changes_of_priority),
	KUNIT_CASE(others_evict_from_the_lowest_priority_up),
	KUNIT_CASE(a_bo_pushes_out_lower_ones_beside_it_only),
	KUNIT_CASE(without_permission_nobody_trades),
	KUNIT_CASE(another_bulk_move_is_out_of_reach),
	KUNIT_CASE(what_is_pinned_stays),
	{}
};

static struct kunit_suite bulk_priority_suite = {
	.name = "ttm_bulk_priority",
	.init = bulk_priority_init,
	.exit = bulk_priority_exit,
	.test_cases = bulk_priority_cases,
};

kunit_test_suites(&bulk_priority_suite);
