// SPDX-License-Identifier: GPL-2.0 AND MIT
// TTM's KUnit suite ttm_bo, restated: drivers/gpu/drm/ttm/tests/ttm_bo_test.c. See
// Documentation/kunit-restated.rst.
#include "kmd/ttm_kunit_helpers.h"

namespace vramlab::kmd::kunit {
namespace {

constexpr u64 BO_SIZE = SZ_8K;

class ttm_bo_suite : public ttm_test {};

struct ttm_bo_case {
    const char *description;
    bool interruptible;
    bool no_wait;
};

class ttm_bo_reserve_suite : public ttm_test, public testing::WithParamInterface<ttm_bo_case> {};

TEST_P(ttm_bo_reserve_suite, ttm_bo_reserve_optimistic_no_ticket)
{
    ttm_buffer_object *bo = ttm_bo_kunit_init(BO_SIZE);

    ASSERT_EQ(ttm_bo_reserve(bo, GetParam().interruptible, GetParam().no_wait, nullptr), 0);
    unlock(bo);
}
INSTANTIATE_TEST_SUITE_P(ttm_bo, ttm_bo_reserve_suite,
                         testing::Values(ttm_bo_case{"Cannot be interrupted and sleeps", false, false},
                                         ttm_bo_case{"Cannot be interrupted, locks straight away", false,
                                                     true},
                                         ttm_bo_case{"Can be interrupted, sleeps", true, false}));

TEST_F(ttm_bo_suite, ttm_bo_reserve_locked_no_sleep)
{
    ttm_buffer_object *bo = ttm_bo_kunit_init(BO_SIZE);

    lock(bo);
    EXPECT_EQ(ttm_bo_reserve(bo, false, true, nullptr), -EBUSY);
    unlock(bo);
}

TEST_F(ttm_bo_suite, ttm_bo_reserve_no_wait_ticket)
{
    ttm_buffer_object *bo = ttm_bo_kunit_init(BO_SIZE);
    ww_acquire_ctx ctx;

    ww_acquire_init(ctx);
    EXPECT_EQ(ttm_bo_reserve(bo, false, true, &ctx), -EBUSY);
    ww_acquire_fini(ctx);
}

TEST_F(ttm_bo_suite, ttm_bo_reserve_double_resv)
{
    ttm_buffer_object *bo = ttm_bo_kunit_init(BO_SIZE);
    ww_acquire_ctx ctx;

    ww_acquire_init(ctx);
    ASSERT_EQ(ttm_bo_reserve(bo, false, false, &ctx), 0);
    EXPECT_EQ(ttm_bo_reserve(bo, false, false, &ctx), -EALREADY);
    unlock(bo);
    ww_acquire_fini(ctx);
}

// Does -EDEADLK arrive? An older context holds bo2, by forgery.
TEST_F(ttm_bo_suite, ttm_bo_reserve_deadlock)
{
    ttm_buffer_object *bo1 = ttm_bo_kunit_init(BO_SIZE);
    ttm_buffer_object *bo2 = ttm_bo_kunit_init(BO_SIZE);
    ww_acquire_ctx ctx1, ctx2;

    ww_acquire_init(ctx1);
    ctx2 = ctx1;
    ctx2.stamp--;
    bo2->resv->lock.locked = true;
    bo2->resv->lock.ctx = &ctx2;

    ASSERT_EQ(ttm_bo_reserve(bo1, false, false, &ctx1), 0);
    EXPECT_EQ(ttm_bo_reserve(bo2, false, false, &ctx1), -EDEADLK);

    unlock(bo1);
    ww_acquire_fini(ctx1);
}

TEST_F(ttm_bo_suite, ttm_bo_unreserve_basic)
{
    ttm_dev = ttm_device_kunit_init();
    const ttm_place *place = ttm_place_kunit_init(TTM_PL_SYSTEM, 0);
    ttm_buffer_object *bo = ttm_bo_kunit_init(BO_SIZE);
    bo->priority = TTM_MAX_BO_PRIORITY - 1;
    ttm_resource *res1, *res2;
    ASSERT_EQ(ttm_resource_alloc(bo, place, &res1, nullptr), 0);
    bo->resource = res1;
    ASSERT_EQ(ttm_resource_alloc(bo, place, &res2, nullptr), 0);

    lock(bo);
    ttm_bo_unreserve(bo);

    EXPECT_TRUE(list_is_last(*res1, ttm_manager_type(ttm_dev, TTM_PL_SYSTEM)->lru[bo->priority]));

    ttm_resource_free(bo, &res2);
    ttm_resource_free(bo, &res1);
}

TEST_F(ttm_bo_suite, ttm_bo_unreserve_pinned)
{
    ttm_dev = ttm_device_kunit_init();
    const ttm_place *place = ttm_place_kunit_init(TTM_PL_SYSTEM, 0);
    ttm_buffer_object *bo = ttm_bo_kunit_init(BO_SIZE);
    ttm_resource *res1, *res2;

    lock(bo);
    ttm_bo_pin(bo);
    ASSERT_EQ(ttm_resource_alloc(bo, place, &res1, nullptr), 0);
    bo->resource = res1;
    ASSERT_EQ(ttm_resource_alloc(bo, place, &res2, nullptr), 0);
    EXPECT_TRUE(list_is_last(*res2, ttm_dev->unevictable));

    ttm_bo_unreserve(bo);
    EXPECT_TRUE(list_is_last(*res1, ttm_dev->unevictable));

    ttm_resource_free(bo, &res1);
    ttm_resource_free(bo, &res2);
}

TEST_F(ttm_bo_suite, ttm_bo_unreserve_bulk)
{
    ttm_dev = ttm_device_kunit_init();
    const ttm_place *place = ttm_place_kunit_init(TTM_PL_SYSTEM, 0);
    ttm_lru_bulk_move bulk;
    ttm_lru_bulk_move_init(&bulk);
    dma_resv resv;
    ttm_buffer_object *bos[2];
    ttm_resource *res[2];
    for (int i = 0; i < 2; i++) {
        bos[i] = ttm_bo_kunit_init(BO_SIZE, &resv);
        lock(bos[i]);
        ttm_bo_set_bulk_move(bos[i], &bulk);
        unlock(bos[i]);
        ASSERT_EQ(ttm_resource_alloc(bos[i], place, &res[i], nullptr), 0);
        bos[i]->resource = res[i];
    }

    ASSERT_EQ(ttm_bo_reserve(bos[0], false, false, nullptr), 0);
    ttm_bo_unreserve(bos[0]);

    EXPECT_EQ(bulk.pos[TTM_PL_SYSTEM][0].last, res[0]);

    ttm_resource_free(bos[0], &res[0]);
    ttm_resource_free(bos[1], &res[1]);
}

TEST_F(ttm_bo_suite, ttm_bo_fini_basic)
{
    ttm_dev = ttm_device_kunit_init();
    ttm_buffer_object *bo = ttm_bo_kunit_init(BO_SIZE);
    bo->type = ttm_bo_type_device;
    ASSERT_EQ(ttm_resource_alloc(bo, ttm_place_kunit_init(TTM_PL_SYSTEM, 0), &bo->resource, nullptr), 0);
    lock(bo);
    EXPECT_EQ(ttm_tt_create(bo, false), 0);
    unlock(bo);

    ttm_bo_fini(bo);

    EXPECT_EQ(bo->resource, nullptr);
    EXPECT_EQ(bo->ttm, nullptr);
}

TEST_F(ttm_bo_suite, ttm_bo_fini_shared_resv)
{
    ttm_dev = ttm_device_kunit_init();
    dma_resv external_resv;
    dma_fence *fence = alloc_mock_fence();
    ASSERT_EQ(dma_resv_lock(external_resv, nullptr), 0);
    ASSERT_EQ(dma_resv_reserve_fences(external_resv, 1), 0);
    dma_resv_add_fence(external_resv, *fence, dma_resv_usage::bookkeep);
    dma_resv_unlock(external_resv);
    dma_fence_signal(*fence);
    ttm_buffer_object *bo = ttm_bo_kunit_init(BO_SIZE);
    bo->type = ttm_bo_type_device;
    bo->resv = &external_resv;

    ttm_bo_fini(bo);

    EXPECT_FALSE(bo->deleted); // idle: no zombie
    EXPECT_EQ(bo->resv, &bo->_resv);
}

TEST_F(ttm_bo_suite, ttm_bo_pin_basic)
{
    ttm_dev = ttm_device_kunit_init();
    ttm_buffer_object *bo = ttm_bo_kunit_init(BO_SIZE);

    for (int i = 0; i < 3; i++) {
        lock(bo);
        ttm_bo_pin(bo);
        unlock(bo);
    }
    EXPECT_EQ(bo->pin_count, 3);
}

TEST_F(ttm_bo_suite, ttm_bo_pin_unpin_resource)
{
    ttm_dev = ttm_device_kunit_init();
    ttm_lru_bulk_move bulk;
    ttm_lru_bulk_move_init(&bulk);
    const ttm_lru_bulk_move_pos *pos = &bulk.pos[TTM_PL_SYSTEM][0];
    ttm_buffer_object *bo = ttm_bo_kunit_init(BO_SIZE);
    ttm_resource *res;
    ASSERT_EQ(ttm_resource_alloc(bo, ttm_place_kunit_init(TTM_PL_SYSTEM, 0), &res, nullptr), 0);
    bo->resource = res;

    lock(bo);
    ttm_bo_set_bulk_move(bo, &bulk);
    ttm_bo_pin(bo);
    unlock(bo);
    EXPECT_EQ(bo->pin_count, 1);
    EXPECT_EQ(pos->first, nullptr);
    EXPECT_EQ(pos->last, nullptr);

    lock(bo);
    ttm_bo_unpin(bo);
    unlock(bo);
    EXPECT_EQ(pos->last, res);
    EXPECT_EQ(bo->pin_count, 0);

    ttm_resource_free(bo, &res);
}

TEST_F(ttm_bo_suite, ttm_bo_multiple_pin_one_unpin)
{
    ttm_dev = ttm_device_kunit_init();
    ttm_lru_bulk_move bulk;
    ttm_lru_bulk_move_init(&bulk);
    const ttm_lru_bulk_move_pos *pos = &bulk.pos[TTM_PL_SYSTEM][0];
    ttm_buffer_object *bo = ttm_bo_kunit_init(BO_SIZE);
    ttm_resource *res;
    ASSERT_EQ(ttm_resource_alloc(bo, ttm_place_kunit_init(TTM_PL_SYSTEM, 0), &res, nullptr), 0);
    bo->resource = res;

    lock(bo);
    ttm_bo_set_bulk_move(bo, &bulk);
    ttm_bo_pin(bo);
    ttm_bo_pin(bo);
    EXPECT_EQ(bo->pin_count, 2);
    EXPECT_EQ(pos->first, nullptr);
    EXPECT_EQ(pos->last, nullptr);

    ttm_bo_unpin(bo);
    EXPECT_EQ(bo->pin_count, 1);
    EXPECT_EQ(pos->first, nullptr);
    EXPECT_EQ(pos->last, nullptr);

    ttm_bo_unpin(bo);
    unlock(bo);
    ttm_resource_free(bo, &res);
}

} // namespace
} // namespace vramlab::kmd::kunit
