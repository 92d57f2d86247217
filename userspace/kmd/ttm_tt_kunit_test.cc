// SPDX-License-Identifier: GPL-2.0 AND MIT
// TTM's KUnit suites ttm_tt and ttm_pool, restated: drivers/gpu/drm/ttm/tests/{ttm_tt_test,ttm_pool_test}.c.
// See Documentation/kunit-restated.rst.
#include "kmd/ttm_kunit_helpers.h"

#include <algorithm>

namespace vramlab::kmd::kunit {
namespace {

constexpr u64 BO_SIZE = SZ_4K;

class ttm_tt_suite : public ttm_device_all_test {};

struct ttm_tt_case {
    const char *description;
    u64 size_bytes;
    u32 extra_pages;
};

class ttm_tt_init_suite : public ttm_device_all_test, public testing::WithParamInterface<ttm_tt_case> {};

TEST_P(ttm_tt_init_suite, ttm_tt_init_basic)
{
    ttm_tt *tt = tt_alloc();
    ttm_buffer_object *bo = ttm_bo_kunit_init(GetParam().size_bytes);

    ASSERT_EQ(ttm_tt_init(tt, bo, TTM_TT_FLAG_ZERO_ALLOC, ttm_cached, GetParam().extra_pages), 0);

    EXPECT_EQ(tt->num_pages, (GetParam().size_bytes >> PAGE_SHIFT) + GetParam().extra_pages);
    EXPECT_EQ(tt->page_flags, TTM_TT_FLAG_ZERO_ALLOC);
    EXPECT_EQ(tt->caching, ttm_cached);
    EXPECT_FALSE(tt->dma_address);
    EXPECT_FALSE(tt->swap_storage);
}
INSTANTIATE_TEST_SUITE_P(ttm_tt, ttm_tt_init_suite,
                         testing::Values(ttm_tt_case{"Page-aligned size", SZ_4K, 0},
                                         ttm_tt_case{"Extra pages requested", SZ_4K, 1}));

TEST_F(ttm_tt_suite, ttm_tt_init_misaligned)
{
    ttm_tt *tt = tt_alloc();
    ttm_buffer_object *bo = ttm_bo_kunit_init(SZ_8K);
    bo->size += 1;

    ASSERT_EQ(ttm_tt_init(tt, bo, 0, ttm_cached, 0), 0);
    EXPECT_EQ(tt->num_pages, (SZ_8K + SZ_4K) >> PAGE_SHIFT);
}

TEST_F(ttm_tt_suite, ttm_tt_fini_basic)
{
    ttm_tt *tt = tt_alloc();
    ASSERT_EQ(ttm_tt_init(tt, ttm_bo_kunit_init(BO_SIZE), 0, ttm_cached, 0), 0);
    ASSERT_TRUE(tt->pages);

    ttm_tt_fini(tt);
    EXPECT_FALSE(tt->pages);
}

TEST_F(ttm_tt_suite, ttm_tt_fini_sg)
{
    ttm_tt *tt = tt_alloc();
    ASSERT_EQ(ttm_sg_tt_init(tt, ttm_bo_kunit_init(BO_SIZE), 0, ttm_cached), 0);
    ASSERT_TRUE(tt->dma_address);

    ttm_tt_fini(tt);
    EXPECT_FALSE(tt->dma_address);
}

TEST_F(ttm_tt_suite, ttm_tt_fini_shmem)
{
    ttm_tt *tt = tt_alloc();
    ASSERT_EQ(ttm_tt_init(tt, ttm_bo_kunit_init(BO_SIZE), 0, ttm_cached, 0), 0);
    tt->swap_storage = true;

    ttm_tt_fini(tt);
    EXPECT_FALSE(tt->swap_storage);
}

TEST_F(ttm_tt_suite, ttm_tt_create_basic)
{
    ttm_buffer_object *bo = ttm_bo_kunit_init(BO_SIZE);
    bo->type = ttm_bo_type_device;

    lock(bo);
    EXPECT_EQ(ttm_tt_create(bo, false), 0);
    unlock(bo);

    ASSERT_NE(bo->ttm, nullptr);
    ttm_tt_destroy(ttm_dev, bo->ttm);
}

TEST_F(ttm_tt_suite, ttm_tt_create_invalid_bo_type)
{
    ttm_buffer_object *bo = ttm_bo_kunit_init(BO_SIZE);
    bo->type = static_cast<ttm_bo_type>(ttm_bo_type_sg + 1);

    lock(bo);
    EXPECT_EQ(ttm_tt_create(bo, false), -EINVAL);
    unlock(bo);
    EXPECT_EQ(bo->ttm, nullptr);
}

TEST_F(ttm_tt_suite, ttm_tt_create_ttm_exists)
{
    ttm_buffer_object *bo = ttm_bo_kunit_init(BO_SIZE);
    ttm_tt *tt = tt_alloc();
    ASSERT_EQ(ttm_tt_init(tt, bo, 0, ttm_cached, 0), 0);
    bo->ttm = tt;

    lock(bo);
    EXPECT_EQ(ttm_tt_create(bo, false), 0);
    unlock(bo);
    EXPECT_EQ(bo->ttm, tt);
}

TEST_F(ttm_tt_suite, ttm_tt_create_failed)
{
    static ttm_device_funcs empty{};
    empty.ttm_tt_create = [](ttm_buffer_object *, u32) -> ttm_tt * { return nullptr; };
    ttm_dev->funcs = &empty;

    ttm_buffer_object *bo = ttm_bo_kunit_init(BO_SIZE);
    lock(bo);
    EXPECT_EQ(ttm_tt_create(bo, false), -ENOMEM);
    unlock(bo);
}

TEST_F(ttm_tt_suite, ttm_tt_destroy_basic)
{
    ttm_buffer_object *bo = ttm_bo_kunit_init(BO_SIZE);
    lock(bo);
    ASSERT_EQ(ttm_tt_create(bo, false), 0);
    unlock(bo);
    ASSERT_NE(bo->ttm, nullptr);

    ttm_tt_destroy(ttm_dev, bo->ttm);
}

TEST_F(ttm_tt_suite, ttm_tt_populate_null_ttm)
{
    ttm_operation_ctx ctx;
    EXPECT_EQ(ttm_tt_populate(ttm_dev, nullptr, &ctx), -EINVAL);
}

TEST_F(ttm_tt_suite, ttm_tt_populate_populated_ttm)
{
    ttm_operation_ctx ctx;
    ttm_tt *tt = tt_alloc();
    ASSERT_EQ(ttm_tt_init(tt, ttm_bo_kunit_init(BO_SIZE), 0, ttm_cached, 0), 0);

    ASSERT_EQ(ttm_tt_populate(ttm_dev, tt, &ctx), 0);
    const u64 pages = ttm_dev->glob->pages_allocated;
    ASSERT_EQ(pages, 1u);

    // The pages that it has, and no others.
    EXPECT_EQ(ttm_tt_populate(ttm_dev, tt, &ctx), 0);
    EXPECT_EQ(ttm_dev->glob->pages_allocated, pages);
}

TEST_F(ttm_tt_suite, ttm_tt_unpopulate_basic)
{
    ttm_operation_ctx ctx;
    ttm_tt *tt = tt_alloc();
    ASSERT_EQ(ttm_tt_init(tt, ttm_bo_kunit_init(BO_SIZE), 0, ttm_cached, 0), 0);
    ASSERT_EQ(ttm_tt_populate(ttm_dev, tt, &ctx), 0);
    ASSERT_TRUE(ttm_tt_is_populated(tt));

    ttm_tt_unpopulate(ttm_dev, tt);
    EXPECT_FALSE(ttm_tt_is_populated(tt));
    EXPECT_EQ(ttm_dev->glob->pages_allocated, 0u);
}

TEST_F(ttm_tt_suite, ttm_tt_unpopulate_empty_ttm)
{
    ttm_tt *tt = tt_alloc();
    ASSERT_EQ(ttm_tt_init(tt, ttm_bo_kunit_init(BO_SIZE), 0, ttm_cached, 0), 0);

    ttm_tt_unpopulate(ttm_dev, tt);
    EXPECT_EQ(ttm_dev->glob->pages_allocated, 0u);
}

TEST_F(ttm_tt_suite, ttm_tt_swapin_basic)
{
    ttm_operation_ctx ctx;
    ttm_tt *tt = tt_alloc();
    ASSERT_EQ(ttm_tt_init(tt, ttm_bo_kunit_init(BO_SIZE), 0, ttm_cached, 0), 0);
    ASSERT_EQ(ttm_tt_populate(ttm_dev, tt, &ctx), 0);
    ASSERT_TRUE(ttm_tt_is_populated(tt));

    EXPECT_EQ(ttm_tt_swapout(ttm_dev, tt), static_cast<int>(BO_SIZE >> PAGE_SHIFT));
    EXPECT_TRUE(tt->swap_storage);
    EXPECT_TRUE(tt->page_flags & TTM_TT_FLAG_SWAPPED);
    EXPECT_EQ(ttm_dev->glob->pages_allocated, 0u);

    // Swapout took the pages away: new ones first.
    ASSERT_EQ(ttm_pool_alloc(&ttm_dev->pool, tt, &ctx), 0);
    EXPECT_EQ(ttm_tt_swapin(tt), 0);
    EXPECT_FALSE(tt->swap_storage);
    EXPECT_FALSE(tt->page_flags & TTM_TT_FLAG_SWAPPED);
}

class ttm_pool_suite : public ttm_test {
protected:
    ttm_tt *ttm_tt_kunit_init(ttm_caching caching, u64 size_bytes)
    {
        ttm_tt *tt = tt_alloc();
        EXPECT_EQ(ttm_tt_init(tt, ttm_bo_kunit_init(size_bytes), 0, caching, 0), 0);
        return tt;
    }
    // With coherent DMA, and holding the block or blocks of a tt of that size.
    ttm_pool ttm_pool_pre_populated(u64 size_bytes, ttm_caching caching)
    {
        ttm_pool pool;
        ttm_tt *tt = ttm_tt_kunit_init(caching, size_bytes);
        ttm_pool_init(&pool, TTM_ALLOCATION_POOL_USE_DMA_ALLOC);
        EXPECT_EQ(ttm_pool_alloc(&pool, tt, &simple_ctx), 0);
        ttm_pool_free(&pool, tt);
        ttm_tt_fini(tt);
        return pool;
    }
    ttm_operation_ctx simple_ctx;
};

struct ttm_pool_case {
    const char *description;
    u32 order;
    u32 alloc_flags;
};

class ttm_pool_alloc_suite : public ttm_pool_suite, public testing::WithParamInterface<ttm_pool_case> {};

TEST_P(ttm_pool_alloc_suite, ttm_pool_alloc_basic)
{
    const u32 num_pages = 1u << GetParam().order;
    ttm_tt *tt = ttm_tt_kunit_init(ttm_uncached, num_pages * PAGE_SIZE);
    ttm_pool pool;
    ttm_pool_init(&pool, GetParam().alloc_flags);
    EXPECT_EQ(pool.alloc_flags, GetParam().alloc_flags);

    ASSERT_EQ(ttm_pool_alloc(&pool, tt, &simple_ctx), 0);
    EXPECT_EQ(tt->num_pages, num_pages);

    // One block if the order allows it, else the largest ones; the last page begins none.
    const ttm_pool_block first = ttm_pool_find_block(num_pages, 0);
    const ttm_pool_block last = ttm_pool_find_block(num_pages, num_pages - 1);
    EXPECT_EQ(first.order, std::min(MAX_PAGE_ORDER, GetParam().order));
    if (GetParam().order <= MAX_PAGE_ORDER)
        EXPECT_EQ(last.first_page, 0u);
    else
        EXPECT_LT(last.first_page, num_pages - 1);

    ttm_pool_free(&pool, tt);
    ttm_tt_fini(tt);
    ttm_pool_fini(&pool);
}

TEST_P(ttm_pool_alloc_suite, ttm_pool_alloc_basic_dma_addr)
{
    const u32 num_pages = 1u << GetParam().order;
    ttm_tt *tt = tt_alloc();
    ASSERT_EQ(ttm_sg_tt_init(tt, ttm_bo_kunit_init(num_pages * PAGE_SIZE), 0, ttm_uncached), 0);
    ttm_pool pool;
    ttm_pool_init(&pool, TTM_ALLOCATION_POOL_USE_DMA_ALLOC);

    ASSERT_EQ(ttm_pool_alloc(&pool, tt, &simple_ctx), 0);
    EXPECT_EQ(tt->num_pages, num_pages);
    EXPECT_TRUE(tt->dma_address);

    ttm_pool_free(&pool, tt);
    ttm_tt_fini(tt);
    ttm_pool_fini(&pool);
}
INSTANTIATE_TEST_SUITE_P(
    ttm_pool, ttm_pool_alloc_suite,
    testing::Values(ttm_pool_case{"One page", 0, 0}, ttm_pool_case{"More than one page", 2, 0},
                    ttm_pool_case{"Above the allocation limit", MAX_PAGE_ORDER + 1, 0},
                    ttm_pool_case{"One page, with coherent DMA mappings enabled", 0,
                                  TTM_ALLOCATION_POOL_USE_DMA_ALLOC},
                    ttm_pool_case{"Above the allocation limit, with coherent DMA mappings enabled",
                                  MAX_PAGE_ORDER + 1, TTM_ALLOCATION_POOL_USE_DMA_ALLOC}));

TEST_F(ttm_pool_suite, ttm_pool_alloc_order_caching_match)
{
    ttm_pool pool = ttm_pool_pre_populated(PAGE_SIZE, ttm_uncached);
    ASSERT_NE(pool.blocks[ttm_uncached][0], 0u);

    ttm_tt *tt = ttm_tt_kunit_init(ttm_uncached, PAGE_SIZE);
    ASSERT_EQ(ttm_pool_alloc(&pool, tt, &simple_ctx), 0);
    EXPECT_EQ(pool.blocks[ttm_uncached][0], 0u);

    ttm_pool_free(&pool, tt);
    ttm_tt_fini(tt);
}

TEST_F(ttm_pool_suite, ttm_pool_alloc_caching_mismatch)
{
    ttm_pool pool = ttm_pool_pre_populated(PAGE_SIZE, ttm_cached);
    ASSERT_NE(pool.blocks[ttm_cached][0], 0u);
    ASSERT_EQ(pool.blocks[ttm_uncached][0], 0u);

    ttm_tt *tt = ttm_tt_kunit_init(ttm_uncached, PAGE_SIZE);
    ASSERT_EQ(ttm_pool_alloc(&pool, tt, &simple_ctx), 0);
    ttm_pool_free(&pool, tt);
    ttm_tt_fini(tt);

    EXPECT_NE(pool.blocks[ttm_cached][0], 0u);
    EXPECT_NE(pool.blocks[ttm_uncached][0], 0u);
}

TEST_F(ttm_pool_suite, ttm_pool_alloc_order_mismatch)
{
    constexpr u32 order = 2;
    ttm_pool pool = ttm_pool_pre_populated((1u << order) * PAGE_SIZE, ttm_uncached);
    ASSERT_NE(pool.blocks[ttm_uncached][order], 0u);
    ASSERT_EQ(pool.blocks[ttm_uncached][0], 0u);

    ttm_tt *tt = ttm_tt_kunit_init(ttm_uncached, PAGE_SIZE);
    ASSERT_EQ(ttm_pool_alloc(&pool, tt, &simple_ctx), 0);
    ttm_pool_free(&pool, tt);
    ttm_tt_fini(tt);

    EXPECT_NE(pool.blocks[ttm_uncached][order], 0u);
    EXPECT_NE(pool.blocks[ttm_uncached][0], 0u);
}

TEST_F(ttm_pool_suite, ttm_pool_free_dma_alloc)
{
    constexpr u32 order = 2;
    ttm_pool pool;
    ttm_tt *tt = ttm_tt_kunit_init(ttm_uncached, (1u << order) * PAGE_SIZE);
    ttm_pool_init(&pool, TTM_ALLOCATION_POOL_USE_DMA_ALLOC);
    ASSERT_EQ(ttm_pool_alloc(&pool, tt, &simple_ctx), 0);
    ASSERT_EQ(pool.blocks[ttm_uncached][order], 0u);

    ttm_pool_free(&pool, tt);
    ttm_tt_fini(tt);
    EXPECT_NE(pool.blocks[ttm_uncached][order], 0u);
}

TEST_F(ttm_pool_suite, ttm_pool_free_no_dma_alloc)
{
    constexpr u32 order = 2;
    ttm_pool pool;
    ttm_tt *tt = ttm_tt_kunit_init(ttm_uncached, (1u << order) * PAGE_SIZE);
    ttm_pool_init(&pool, 0);
    ASSERT_EQ(ttm_pool_alloc(&pool, tt, &simple_ctx), 0);

    ttm_pool_free(&pool, tt);
    ttm_tt_fini(tt);
    for (const auto &orders : pool.blocks)
        EXPECT_EQ(std::count(orders, orders + NR_PAGE_ORDERS, 0u), static_cast<long>(NR_PAGE_ORDERS));
    ttm_pool_fini(&pool);
}

TEST_F(ttm_pool_suite, ttm_pool_fini_basic)
{
    ttm_pool pool = ttm_pool_pre_populated(PAGE_SIZE, ttm_uncached);
    ASSERT_NE(pool.blocks[ttm_uncached][0], 0u);

    ttm_pool_fini(&pool);
    EXPECT_EQ(pool.blocks[ttm_uncached][0], 0u);
}

} // namespace
} // namespace vramlab::kmd::kunit
