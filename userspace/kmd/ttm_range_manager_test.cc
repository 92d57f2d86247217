// SPDX-License-Identifier: MIT
// Does the range manager choose drm_mm's holes?
#include "kmd/ttm_range_manager.h"
#include "kmd/ttm_test_gpu.h"

#include <random>

namespace vramlab::kmd::test {
namespace {

constexpr u32 mem_type = TTM_PL_PRIV;
constexpr ttm_place bottom{0, 0, mem_type, 0};
constexpr ttm_place top{0, 0, mem_type, TTM_PL_FLAG_TOPDOWN};

class range_manager_test : public gpu_test {
protected:
    range_manager_test() { ttm_range_man_init(&bdev, mem_type, true, 16); }
    ~range_manager_test() override { EXPECT_EQ(ttm_range_man_fini(&bdev, mem_type), 0); }
    static u32 start(const test_bo *bo) { return bo->resource->start; }
};

TEST_F(range_manager_test, best_fit_from_the_bottom_topdown_from_the_top)
{
    test_bo *a = create(4, {bottom}), *b = create(2, {bottom}), *c = create(4, {bottom}),
            *d = create(1, {top});
    EXPECT_EQ(start(a), 0u);
    EXPECT_EQ(start(b), 4u);
    EXPECT_EQ(start(c), 6u);
    EXPECT_EQ(start(d), 15u);
    destroy(b); // holes: 4+2 and 10+5
    test_bo *e = create(2, {bottom});
    EXPECT_EQ(start(e), 4u); // the smallest that fits, not the largest
    destroy(a);
    test_bo *f = create(5, {bottom});
    EXPECT_EQ(start(f), 10u);
    for (test_bo *bo : {c, d, e, f})
        destroy(bo);
    test_bo *all = create(16, {bottom}); // holes have merged
    ASSERT_NE(all, nullptr);
    destroy(all);
}

TEST_F(range_manager_test, of_equal_holes_the_one_made_last)
{
    std::vector<test_bo *> bos;
    for (int i = 0; i < 8; i++)
        bos.push_back(create(2, {bottom}));
    destroy(bos[5]);
    destroy(bos[1]);
    destroy(bos[3]);
    bos[3] = create(2, {bottom});
    bos[1] = create(2, {bottom});
    bos[5] = create(2, {bottom});
    EXPECT_EQ(start(bos[3]), 6u);
    EXPECT_EQ(start(bos[1]), 2u);
    EXPECT_EQ(start(bos[5]), 10u);
    for (test_bo *bo : bos)
        destroy(bo);
}

TEST_F(range_manager_test, range_and_what_intersects_it)
{
    test_bo *a = create(4, {{8, 12, mem_type, 0}});
    EXPECT_EQ(start(a), 8u);
    ctx.no_wait_gpu = true;
    EXPECT_EQ(create(4, {{10, 14, mem_type, 0}, in_gtt})->resource->mem_type, TTM_PL_TT);

    const ttm_place below{0, 8, mem_type, 0}, around{4, 16, mem_type, 0}, above{12, 0, mem_type, 0};
    EXPECT_FALSE(ttm_resource_intersects(&bdev, a->resource, &below, 4 * PAGE_SIZE));
    EXPECT_TRUE(ttm_resource_intersects(&bdev, a->resource, &around, 4 * PAGE_SIZE));
    EXPECT_FALSE(ttm_resource_intersects(&bdev, a->resource, &above, 4 * PAGE_SIZE));
    const ttm_placement compatible{1, &around}, not_compatible{1, &below};
    EXPECT_TRUE(ttm_resource_compatible(a->resource, &compatible, false));
    EXPECT_FALSE(ttm_resource_compatible(a->resource, &not_compatible, false));

    destroy(a);
    ttm_resource *in_gtt_res = ttm_lru_first_res_or_null(&gtt.lru[0]);
    destroy(static_cast<test_bo *>(in_gtt_res->bo));
}

TEST_F(range_manager_test, never_overlaps_and_never_loses_pages)
{
    std::mt19937_64 rng(3);
    std::vector<test_bo *> bos;
    for (int step = 0; step < 3000; step++) {
        if (rng() % 2) {
            test_bo *bo = create(1 + rng() % 5, {rng() % 2 ? bottom : top});
            if (bo)
                bos.push_back(bo);
        } else if (!bos.empty()) {
            std::swap(bos[rng() % bos.size()], bos.back());
            destroy(bos.back());
            bos.pop_back();
        }
        u32 owner[16] = {};
        for (test_bo *bo : bos) {
            if (!bo->resource || bo->resource->mem_type != mem_type)
                continue; // evicted for another
            for (u64 p = 0; p < bo->size / PAGE_SIZE; p++) {
                ASSERT_LT(start(bo) + p, 16u);
                ASSERT_EQ(owner[start(bo) + p], 0u);
                owner[start(bo) + p] = 1;
            }
        }
    }
    for (test_bo *bo : bos)
        destroy(bo);
}

} // namespace
} // namespace vramlab::kmd::test
