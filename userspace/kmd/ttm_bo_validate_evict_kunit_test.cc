// SPDX-License-Identifier: GPL-2.0 AND MIT
// TTM's KUnit suite ttm_bo_validate, restated, second half (swapout and eviction):
// drivers/gpu/drm/ttm/tests/ttm_bo_validate_test.c. See Documentation/kunit-restated.rst.
#include "kmd/ttm_kunit_helpers.h"

namespace vramlab::kmd::kunit {
namespace {

constexpr u64 BO_SIZE = SZ_4K;
constexpr u64 MANAGER_SIZE = SZ_1M;

class ttm_bo_validate_evict_suite : public ttm_device_all_test {
protected:
    // Placed, locked if so asked.
    ttm_buffer_object *bo_placed(u64 size_bytes, u32 mem_type, bool keep_locked = false)
    {
        ttm_buffer_object *bo = bo_alloc(size_bytes);
        EXPECT_EQ(ttm_bo_init_reserved(ttm_dev, bo, ttm_bo_type_device,
                                       ttm_placement_kunit_init({{0, 0, mem_type, 0}}), PAGE_SIZE, &ctx_init,
                                       nullptr, &dummy_ttm_bo_destroy),
                  0);
        if (!keep_locked)
            unlock(bo);
        return bo;
    }
    // A BO without a place, validated.
    ttm_buffer_object *bo_validated(u64 size_bytes, u32 mem_type, int expected)
    {
        ttm_buffer_object *bo = ttm_bo_kunit_init(size_bytes);
        EXPECT_EQ(ttm_bo_reserve(bo, false, false, nullptr), 0);
        EXPECT_EQ(ttm_bo_validate(bo, ttm_placement_kunit_init({{0, 0, mem_type, 0}}), &ctx_val), expected);
        ttm_bo_unreserve(bo);
        return bo;
    }
    void unpin(ttm_buffer_object *bo)
    {
        lock(bo);
        ttm_bo_unpin(bo);
        unlock(bo);
    }
    ttm_operation_ctx ctx_init, ctx_val;
};

TEST_F(ttm_bo_validate_evict_suite, ttm_bo_validate_swapout)
{
    ttm_mock_manager *man = ttm_mock_manager_init(TTM_PL_TT, MANAGER_SIZE);
    ttm_buffer_object *bo = bo_placed(MANAGER_SIZE, TTM_PL_TT);

    EXPECT_EQ(ttm_bo_swapout(ttm_dev, &ctx_init, man, MANAGER_SIZE / PAGE_SIZE),
              static_cast<s64>(MANAGER_SIZE / PAGE_SIZE));
    EXPECT_EQ(bo->resource->mem_type, TTM_PL_SYSTEM);
    EXPECT_TRUE(bo->ttm->page_flags & TTM_TT_FLAG_SWAPPED);

    ttm_bo_fini(bo);
    ttm_mock_manager_fini(TTM_PL_TT);
}

TEST_F(ttm_bo_validate_evict_suite, ttm_bo_validate_happy_evict)
{
    constexpr u64 small = SZ_8K, medium = SZ_512K, big = MANAGER_SIZE - (small + medium);
    ttm_mock_manager_init(TTM_PL_VRAM, MANAGER_SIZE);
    ttm_mock_manager_init(TTM_PL_TT, MANAGER_SIZE);
    ttm_buffer_object *bos[3];
    const u64 sizes[3] = {small, medium, big};
    for (int i = 0; i < 3; i++)
        bos[i] = bo_placed(sizes[i], TTM_PL_VRAM);

    ttm_buffer_object *bo_val = bo_validated(BO_SIZE, TTM_PL_VRAM, 0);

    EXPECT_EQ(bos[0]->resource->mem_type, TTM_PL_SYSTEM);
    EXPECT_TRUE(bos[0]->ttm->page_flags & TTM_TT_FLAG_ZERO_ALLOC);
    EXPECT_TRUE(bos[0]->ttm->page_flags & TTM_TT_FLAG_PRIV_POPULATED);
    EXPECT_EQ(ctx_val.bytes_moved, small * 2 + BO_SIZE);
    EXPECT_EQ(bos[1]->resource->mem_type, TTM_PL_VRAM);

    for (ttm_buffer_object *bo : bos)
        ttm_bo_fini(bo);
    ttm_bo_fini(bo_val);
    ttm_mock_manager_fini(TTM_PL_VRAM);
    ttm_mock_manager_fini(TTM_PL_TT);
}

TEST_F(ttm_bo_validate_evict_suite, ttm_bo_validate_all_pinned_evict)
{
    ttm_mock_manager_init(TTM_PL_VRAM, MANAGER_SIZE);
    ttm_mock_manager_init(TTM_PL_TT, MANAGER_SIZE);
    ttm_buffer_object *bo_big = bo_placed(MANAGER_SIZE, TTM_PL_VRAM, true);
    ttm_bo_pin(bo_big);
    unlock(bo_big);

    ttm_buffer_object *bo_small = bo_validated(BO_SIZE, TTM_PL_VRAM, -ENOMEM);

    ttm_bo_fini(bo_small);
    unpin(bo_big);
    ttm_bo_fini(bo_big);
    ttm_mock_manager_fini(TTM_PL_VRAM);
    ttm_mock_manager_fini(TTM_PL_TT);
}

TEST_F(ttm_bo_validate_evict_suite, ttm_bo_validate_allowed_only_evict)
{
    ttm_mock_manager_init(TTM_PL_VRAM, MANAGER_SIZE);
    ttm_mock_manager_init(TTM_PL_TT, MANAGER_SIZE);
    ttm_buffer_object *bo_pinned = bo_placed(SZ_512K, TTM_PL_VRAM, true);
    ttm_bo_pin(bo_pinned);
    unlock(bo_pinned);
    ttm_buffer_object *bo_evictable = bo_placed(SZ_512K, TTM_PL_VRAM);

    ttm_buffer_object *bo = bo_validated(BO_SIZE, TTM_PL_VRAM, 0);

    EXPECT_EQ(bo->resource->mem_type, TTM_PL_VRAM);
    EXPECT_EQ(bo_pinned->resource->mem_type, TTM_PL_VRAM);
    EXPECT_EQ(bo_evictable->resource->mem_type, TTM_PL_SYSTEM);
    EXPECT_EQ(ctx_val.bytes_moved, SZ_512K * 2 + BO_SIZE);

    ttm_bo_fini(bo);
    ttm_bo_fini(bo_evictable);
    unpin(bo_pinned);
    ttm_bo_fini(bo_pinned);
    ttm_mock_manager_fini(TTM_PL_VRAM);
    ttm_mock_manager_fini(TTM_PL_TT);
}

TEST_F(ttm_bo_validate_evict_suite, ttm_bo_validate_deleted_evict)
{
    constexpr u64 small = SZ_8K, big = MANAGER_SIZE - BO_SIZE;
    ttm_mock_manager *man = ttm_mock_manager_init(TTM_PL_VRAM, MANAGER_SIZE);
    ttm_buffer_object *bo_big = bo_placed(big, TTM_PL_VRAM);
    EXPECT_EQ(ttm_resource_manager_usage(man), big);
    bo_big->deleted = true;

    ttm_buffer_object *bo_small = bo_validated(small, TTM_PL_VRAM, 0);

    EXPECT_EQ(bo_small->resource->mem_type, TTM_PL_VRAM);
    EXPECT_EQ(ttm_resource_manager_usage(man), small);
    EXPECT_EQ(bo_big->ttm, nullptr);
    EXPECT_EQ(bo_big->resource, nullptr);

    ttm_bo_fini(bo_small);
    ttm_bo_fini(bo_big);
    ttm_mock_manager_fini(TTM_PL_VRAM);
}

TEST_F(ttm_bo_validate_evict_suite, ttm_bo_validate_busy_domain_evict)
{
    ttm_device_fini(ttm_dev);
    ttm_dev = ttm_device_kunit_init(0, &ttm_dev_funcs_bad_evict);
    ttm_mock_manager_init(TTM_PL_VRAM, MANAGER_SIZE);
    ttm_busy_manager_init(TTM_PL_MOCK1, MANAGER_SIZE);
    ttm_buffer_object *bo_init = bo_placed(MANAGER_SIZE, TTM_PL_VRAM);

    ttm_buffer_object *bo_val = bo_validated(BO_SIZE, TTM_PL_VRAM, -ENOMEM);

    EXPECT_EQ(bo_init->resource->mem_type, TTM_PL_VRAM);
    EXPECT_EQ(bo_val->resource, nullptr);

    ttm_bo_fini(bo_init);
    ttm_bo_fini(bo_val);
    ttm_mock_manager_fini(TTM_PL_VRAM);
    ttm_bad_manager_fini(TTM_PL_MOCK1);
}

TEST_F(ttm_bo_validate_evict_suite, ttm_bo_validate_evict_gutting)
{
    ttm_mock_manager_init(TTM_PL_MOCK1, MANAGER_SIZE);
    ttm_buffer_object *bo_evict = bo_placed(MANAGER_SIZE, TTM_PL_MOCK1);

    ttm_buffer_object *bo = bo_validated(BO_SIZE, TTM_PL_MOCK1, 0);

    EXPECT_EQ(bo->resource->mem_type, TTM_PL_MOCK1);
    EXPECT_EQ(bo_evict->resource, nullptr);
    EXPECT_TRUE(bo_evict->ttm->page_flags & TTM_TT_FLAG_ZERO_ALLOC);

    ttm_bo_fini(bo_evict);
    ttm_bo_fini(bo);
    ttm_mock_manager_fini(TTM_PL_MOCK1);
}

TEST_F(ttm_bo_validate_evict_suite, ttm_bo_validate_recrusive_evict)
{
    ttm_mock_manager_init(TTM_PL_TT, MANAGER_SIZE);
    ttm_mock_manager_init(TTM_PL_MOCK2, MANAGER_SIZE);
    ttm_buffer_object *bo_tt = bo_placed(MANAGER_SIZE, TTM_PL_TT);
    ttm_buffer_object *bo_mock = bo_placed(MANAGER_SIZE, TTM_PL_MOCK2);

    ttm_buffer_object *bo_val = bo_validated(BO_SIZE, TTM_PL_TT, 0);

    ttm_mock_manager_fini(TTM_PL_TT);
    ttm_mock_manager_fini(TTM_PL_MOCK2);
    ttm_bo_fini(bo_val);
    ttm_bo_fini(bo_tt);
    ttm_bo_fini(bo_mock);
}

} // namespace
} // namespace vramlab::kmd::kunit
