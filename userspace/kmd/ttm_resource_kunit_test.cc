// SPDX-License-Identifier: GPL-2.0 AND MIT
// TTM's KUnit suites ttm_resource and ttm_device, restated:
// drivers/gpu/drm/ttm/tests/{ttm_resource_test,ttm_device_test}.c. See Documentation/kunit-restated.rst.
#include "kmd/ttm_kunit_helpers.h"

#include <algorithm>

namespace vramlab::kmd::kunit {
namespace {

constexpr u64 RES_SIZE = SZ_4K;
constexpr u32 TTM_PRIV_DUMMY_REG = TTM_NUM_MEM_TYPES - 1;

const ttm_resource_manager_func no_funcs{};

class ttm_resource_suite : public ttm_device_all_test {
protected:
    void ttm_init_test_mocks(u32 mem_type, u32 flags)
    {
        bo = ttm_bo_kunit_init(RES_SIZE);
        place = ttm_place_kunit_init(mem_type, flags);
    }
    void ttm_init_test_manager(u32 mem_type)
    {
        manager.func = &no_funcs;
        ttm_resource_manager_init(&manager, ttm_dev, SZ_16K);
        ttm_set_driver_manager(ttm_dev, mem_type, &manager);
        ttm_resource_manager_set_used(&manager, true);
    }
    ttm_buffer_object *bo = nullptr;
    const ttm_place *place = nullptr;
    ttm_resource_manager manager;
    ttm_resource res;
};

struct ttm_resource_case {
    const char *description;
    u32 mem_type;
    u32 flags;
};

class ttm_resource_init_suite : public ttm_resource_suite,
                                public testing::WithParamInterface<ttm_resource_case> {};

TEST_P(ttm_resource_init_suite, ttm_resource_init_basic)
{
    ttm_init_test_mocks(GetParam().mem_type, GetParam().flags);
    if (GetParam().mem_type > TTM_PL_SYSTEM)
        ttm_init_test_manager(GetParam().mem_type);
    ttm_resource_manager *man = ttm_manager_type(ttm_dev, place->mem_type);
    const u64 expected_usage = man->usage + RES_SIZE;
    ASSERT_TRUE(list_empty(man->lru[bo->priority]));

    ttm_resource_init(bo, place, &res);

    EXPECT_EQ(res.start, 0u);
    EXPECT_EQ(ttm_resource_size(&res), RES_SIZE);
    EXPECT_EQ(res.mem_type, place->mem_type);
    EXPECT_EQ(res.placement, place->flags);
    EXPECT_EQ(res.bo, bo);
    EXPECT_EQ(man->usage, expected_usage);
    EXPECT_TRUE(list_is_singular(man->lru[bo->priority]));

    ttm_resource_fini(man, &res);
}
INSTANTIATE_TEST_SUITE_P(
    ttm_resource, ttm_resource_init_suite,
    testing::Values(ttm_resource_case{"Init resource in TTM_PL_SYSTEM", TTM_PL_SYSTEM, 0},
                    ttm_resource_case{"Init resource in TTM_PL_VRAM", TTM_PL_VRAM, 0},
                    ttm_resource_case{"Init resource in a private placement", TTM_PRIV_DUMMY_REG, 0},
                    ttm_resource_case{"Init resource in TTM_PL_SYSTEM, set placement flags", TTM_PL_SYSTEM,
                                      TTM_PL_FLAG_TOPDOWN}));

TEST_F(ttm_resource_suite, ttm_resource_init_pinned)
{
    ttm_init_test_mocks(TTM_PL_SYSTEM, 0);
    ttm_resource_manager *man = ttm_manager_type(ttm_dev, TTM_PL_SYSTEM);
    ASSERT_TRUE(list_empty(ttm_dev->unevictable));

    lock(bo);
    ttm_bo_pin(bo);
    ttm_resource_init(bo, place, &res);
    EXPECT_TRUE(list_is_singular(ttm_dev->unevictable));

    ttm_bo_unpin(bo);
    ttm_resource_fini(man, &res);
    unlock(bo);
    EXPECT_TRUE(list_empty(ttm_dev->unevictable));
}

TEST_F(ttm_resource_suite, ttm_resource_fini_basic)
{
    ttm_init_test_mocks(TTM_PL_SYSTEM, 0);
    ttm_resource_manager *man = ttm_manager_type(ttm_dev, TTM_PL_SYSTEM);

    ttm_resource_init(bo, place, &res);
    ttm_resource_fini(man, &res);

    EXPECT_TRUE(list_empty(res));
    EXPECT_EQ(man->usage, 0u);
}

TEST_F(ttm_resource_suite, ttm_resource_manager_init_basic)
{
    ttm_resource_manager_init(&manager, ttm_dev, SZ_16K);

    EXPECT_EQ(manager.bdev, ttm_dev);
    EXPECT_EQ(manager.size, SZ_16K);
    EXPECT_EQ(manager.usage, 0u);
    for (const dma_fence *fence : manager.eviction_fences)
        EXPECT_EQ(fence, nullptr);
    for (const list_head &lru : manager.lru)
        EXPECT_TRUE(list_empty(lru));
}

TEST_F(ttm_resource_suite, ttm_resource_manager_usage_basic)
{
    ttm_init_test_mocks(TTM_PL_SYSTEM, TTM_PL_FLAG_TOPDOWN);
    ttm_resource_manager *man = ttm_manager_type(ttm_dev, TTM_PL_SYSTEM);

    ttm_resource_init(bo, place, &res);
    EXPECT_EQ(ttm_resource_manager_usage(man), RES_SIZE);
    ttm_resource_fini(man, &res);
}

TEST_F(ttm_resource_suite, ttm_resource_manager_set_used_basic)
{
    ttm_resource_manager *man = ttm_manager_type(ttm_dev, TTM_PL_SYSTEM);
    ASSERT_TRUE(man->use_type);

    ttm_resource_manager_set_used(man, false);
    EXPECT_FALSE(man->use_type);
}

TEST_F(ttm_resource_suite, ttm_sys_man_alloc_basic)
{
    ttm_init_test_mocks(TTM_PL_SYSTEM, 0);
    ttm_resource_manager *man = ttm_manager_type(ttm_dev, TTM_PL_SYSTEM);
    ttm_resource *made = nullptr;

    ASSERT_EQ(man->func->alloc(man, bo, place, &made), 0);
    EXPECT_EQ(ttm_resource_size(made), RES_SIZE);
    EXPECT_EQ(made->mem_type, TTM_PL_SYSTEM);
    EXPECT_EQ(made->bo, bo);

    man->func->free(man, made);
}

TEST_F(ttm_resource_suite, ttm_sys_man_free_basic)
{
    ttm_init_test_mocks(TTM_PL_SYSTEM, 0);
    ttm_resource_manager *man = ttm_manager_type(ttm_dev, TTM_PL_SYSTEM);
    ttm_resource *made = nullptr;
    ASSERT_EQ(ttm_resource_alloc(bo, place, &made, nullptr), 0);

    man->func->free(man, made);

    EXPECT_TRUE(list_empty(man->lru[bo->priority]));
    EXPECT_EQ(man->usage, 0u);
}

class ttm_device_suite : public ttm_test {};

TEST_F(ttm_device_suite, ttm_device_init_basic)
{
    ttm_device *bdev = ttm_device_kunit_init();

    EXPECT_EQ(bdev->funcs, &ttm_dev_funcs);
    ASSERT_NE(bdev->man_drv[TTM_PL_SYSTEM], nullptr);
    EXPECT_TRUE(bdev->sysman.use_tt);
    EXPECT_TRUE(bdev->sysman.use_type);
    EXPECT_NE(bdev->sysman.func, nullptr);

    ttm_device_fini(bdev);
}

TEST_F(ttm_device_suite, ttm_device_init_multiple)
{
    ttm_global glob;
    std::vector<ttm_device *> devices;
    for (int i = 0; i < 3; i++) {
        devices.push_back(ttm_device_kunit_init(0, &ttm_dev_funcs, &glob));
        EXPECT_EQ(devices.back()->funcs, &ttm_dev_funcs);
        EXPECT_NE(devices.back()->man_drv[TTM_PL_SYSTEM], nullptr);
    }

    EXPECT_EQ(list_count_nodes(glob.device_list), devices.size());

    for (ttm_device *bdev : devices)
        ttm_device_fini(bdev);
    EXPECT_TRUE(list_empty(glob.device_list));
}

TEST_F(ttm_device_suite, ttm_device_fini_basic)
{
    ttm_device *bdev = ttm_device_kunit_init();
    ttm_resource_manager *man = ttm_manager_type(bdev, TTM_PL_SYSTEM);
    ASSERT_NE(man, nullptr);

    ttm_device_fini(bdev);

    EXPECT_FALSE(man->use_type);
    EXPECT_TRUE(list_empty(man->lru[0]));
    EXPECT_EQ(bdev->man_drv[TTM_PL_SYSTEM], nullptr);
}

struct ttm_device_case {
    const char *description;
    u32 alloc_flags;
    bool pools_init_expected;
};

class ttm_device_pools_suite : public ttm_test, public testing::WithParamInterface<ttm_device_case> {};

TEST_P(ttm_device_pools_suite, ttm_device_init_pools)
{
    ttm_device *bdev = ttm_device_kunit_init(GetParam().alloc_flags);

    EXPECT_EQ(bdev->pool.alloc_flags, GetParam().alloc_flags);
    EXPECT_EQ(bdev->pool.uses_dma_alloc(), GetParam().pools_init_expected);
    for (const auto &orders : bdev->pool.blocks)
        EXPECT_EQ(std::count(orders, orders + NR_PAGE_ORDERS, 0u), static_cast<long>(NR_PAGE_ORDERS));

    ttm_device_fini(bdev);
}
INSTANTIATE_TEST_SUITE_P(
    ttm_device, ttm_device_pools_suite,
    testing::Values(
        ttm_device_case{"No DMA allocations, no DMA32 required", 0, false},
        ttm_device_case{"DMA allocations, DMA32 required",
                        TTM_ALLOCATION_POOL_USE_DMA_ALLOC | TTM_ALLOCATION_POOL_USE_DMA32, true},
        ttm_device_case{"No DMA allocations, DMA32 required", TTM_ALLOCATION_POOL_USE_DMA32, false},
        ttm_device_case{"DMA allocations, no DMA32 required", TTM_ALLOCATION_POOL_USE_DMA_ALLOC, true}));

} // namespace
} // namespace vramlab::kmd::kunit
