// SPDX-License-Identifier: MIT
// Swapout: does a bulk move forget what is swapped out, does the walk end, do pages stay within their limit?
#include "kmd/ttm_test_gpu.h"

namespace vramlab::kmd::test {
namespace {

class swapout_test : public gpu_test {
protected:
    swapout_test() : gpu_test(8, 128) { ttm_lru_bulk_move_init(&bulk); }
    s64 swapout_all()
    {
        s64 pages = 0;
        for (int ret; (ret = ttm_device_swapout(&bdev, &ctx)) > 0;)
            pages += ret;
        return pages;
    }
    dma_resv vm;
    ttm_lru_bulk_move bulk;
};

// Field case: the range kept pointing at BOs that were swapped out, and then at freed memory.
TEST_F(swapout_test, swapped_out_bos_leave_their_bulk_move)
{
    std::vector<test_bo *> bos;
    for (int i = 0; i < 32; i++) {
        bos.push_back(create(1, {in_gtt}, &vm));
        bulk_move(bos.back(), &bulk);
        if (i % 4 == 0)
            create(1, {in_gtt}); // others' in between
    }
    EXPECT_EQ(swapout_all(), 40);
    EXPECT_EQ(bulk.pos[TTM_PL_TT][0].first, nullptr);
    EXPECT_EQ(bulk.pos[TTM_PL_SYSTEM][0].first, nullptr);
    EXPECT_EQ(bulk.pos[TTM_PL_SYSTEM][0].last, nullptr);
    EXPECT_EQ(lru(TTM_PL_TT), "");
    EXPECT_EQ(lru(TTM_PL_SYSTEM), "");
    EXPECT_EQ(list_count_nodes(bdev.unevictable), 40u);
    EXPECT_EQ(bdev.glob->pages_allocated, 0u);

    // The last one dies, then the VM submits.
    bulk_move(bos.back(), nullptr);
    destroy(bos.back());
    bos.pop_back();
    ASSERT_EQ(dma_resv_lock(vm, nullptr), 0);
    EXPECT_EQ(validate_locked(bos[0], {in_gtt}), 0);
    EXPECT_EQ(validate_locked(bos[5], {in_gtt}), 0);
    EXPECT_EQ(bulk.pos[TTM_PL_TT][0].first, bos[0]->resource);
    EXPECT_EQ(bulk.pos[TTM_PL_TT][0].last, bos[5]->resource);
    ttm_lru_bulk_move_tail(&bulk);
    dma_resv_unlock(vm);

    for (test_bo *bo : bos) {
        bulk_move(bo, nullptr);
        destroy(bo);
    }
    EXPECT_EQ(bulk.pos[TTM_PL_TT][0].first, nullptr);
    while (ttm_resource *res = ttm_lru_first_res_or_null(&bdev.unevictable))
        destroy(static_cast<test_bo *>(res->bo));
}

TEST_F(swapout_test, swapped_in_again_it_is_evictable_and_in_its_bulk_move)
{
    test_bo *a = create(1, {in_system}, &vm);
    bulk_move(a, &bulk);
    ASSERT_EQ(dma_resv_lock(vm, nullptr), 0);
    ASSERT_EQ(ttm_bo_populate(a, &ctx), 0);
    dma_resv_unlock(vm);
    EXPECT_EQ(ttm_device_swapout(&bdev, &ctx), 1);
    EXPECT_TRUE(a->ttm->page_flags & TTM_TT_FLAG_SWAPPED);
    EXPECT_EQ(ttm_device_swapout(&bdev, &ctx), 0); // nothing left

    ASSERT_EQ(dma_resv_lock(vm, nullptr), 0);
    ASSERT_EQ(ttm_bo_populate(a, &ctx), 0);
    EXPECT_FALSE(ttm_tt_is_swapped(a->ttm));
    EXPECT_EQ(bulk.pos[TTM_PL_SYSTEM][0].last, a->resource);
    // As in the kernel, the only member of a range gets onto the LRU with the next bulk move.
    EXPECT_EQ(order(bdev.unevictable), "1");
    ttm_lru_bulk_move_tail(&bulk);
    EXPECT_EQ(lru(TTM_PL_SYSTEM), "1");
    EXPECT_EQ(order(bdev.unevictable), "");
    dma_resv_unlock(vm);
    bulk_move(a, nullptr);
    destroy(a);
}

TEST_F(swapout_test, what_cannot_be_swapped_out_is_visited_once)
{
    std::vector<test_bo *> bos;
    for (int i = 0; i < 8; i++)
        bos.push_back(create(1, {in_gtt}));
    ctx.no_wait_gpu = true;
    for (test_bo *bo : bos)
        add_fence(bo, make_fence(3), dma_resv_usage::bookkeep);
    EXPECT_EQ(ttm_device_swapout(&bdev, &ctx), 0);
    EXPECT_EQ(ttm_device_prepare_hibernation(&bdev), 0); // waits for them
    EXPECT_EQ(lru(TTM_PL_TT), "");
    EXPECT_TRUE(pending.empty());
    ctx.no_wait_gpu = false;
    for (test_bo *bo : bos)
        destroy(bo);
}

TEST_F(swapout_test, external_pinned_and_unpopulated_bos_are_left_alone)
{
    test_bo *unpopulated = create(1, {in_system});
    test_bo *pinned = create(1, {in_gtt});
    test_bo *locked = create(1, {in_gtt});
    test_bo *external = create(1, {in_gtt});
    lock(pinned);
    ttm_bo_pin(pinned);
    unlock(pinned);
    lock(locked);
    external->ttm->page_flags |= TTM_TT_FLAG_EXTERNAL;
    EXPECT_EQ(ttm_device_swapout(&bdev, &ctx), 0);
    external->ttm->page_flags &= ~TTM_TT_FLAG_EXTERNAL;
    unlock(locked);
    lock(pinned);
    ttm_bo_unpin(pinned);
    unlock(pinned);
    for (test_bo *bo : {unpopulated, pinned, locked, external})
        destroy(bo);
}

TEST_F(swapout_test, the_pages_limit_makes_room_by_swapping_out)
{
    bdev.glob->pages_limit = 10;
    std::vector<test_bo *> bos;
    for (int i = 0; i < 6; i++)
        bos.push_back(create(4, {in_gtt}));
    EXPECT_EQ(bdev.glob->pages_allocated, 8u);
    EXPECT_EQ(lru(TTM_PL_TT), "5 6");
    EXPECT_EQ(order(bdev.unevictable), "1 2 3 4");

    // Comes back in, for others.
    EXPECT_EQ(validate(bos[0], {in_gtt}), 0);
    EXPECT_EQ(bdev.glob->pages_allocated, 8u);
    EXPECT_EQ(lru(TTM_PL_TT), "6 1");
    EXPECT_EQ(order(bdev.unevictable), "2 3 4 5");
    for (test_bo *bo : bos)
        destroy(bo);
}

TEST_F(swapout_test, a_zombie_gives_its_pages_back)
{
    test_bo *a = create(4, {in_gtt});
    add_fence(a, make_fence(3), dma_resv_usage::bookkeep);
    destroy(a);
    EXPECT_EQ(ttm_device_swapout(&bdev, &ctx), 4);
    EXPECT_EQ(bdev.glob->pages_allocated, 0u);
    EXPECT_EQ(gtt.usage, 0u);
    ttm_device_reap(&bdev);
}

TEST_F(swapout_test, devices_take_turns)
{
    ttm_global glob;
    ttm_device first, second;
    ttm_device_init(&first, bdev.funcs, 0, &glob);
    ttm_device_init(&second, bdev.funcs, 0, &glob);
    ttm_tt tt;
    test_bo bo;
    bo.size = PAGE_SIZE;
    ttm_tt_init(&tt, &bo, 0, ttm_cached, 0);
    glob.pages_limit = 0;
    EXPECT_EQ(ttm_tt_populate(&first, &tt, &ctx), 0); // nothing to swap out: goes above the limit
    EXPECT_EQ(glob.pages_allocated, 1u);
    ttm_tt_unpopulate(&first, &tt);
    EXPECT_EQ(glob.pages_allocated, 0u);
    ttm_device_fini(&second);
    ttm_device_fini(&first);
}

TEST_F(swapout_test, clear_dma_mappings_takes_all_pages_away)
{
    test_bo *a = create(4, {in_gtt}), *b = create(4, {in_gtt}), *c = create(4, {in_vram});
    lock(b);
    ttm_bo_pin(b);
    unlock(b);
    ttm_device_clear_dma_mappings(&bdev);
    EXPECT_EQ(bdev.glob->pages_allocated, 0u);
    EXPECT_EQ(lru(TTM_PL_TT), "");
    EXPECT_EQ(order(bdev.unevictable), "");
    lock(b);
    ttm_bo_unpin(b);
    unlock(b);
    for (test_bo *bo : {a, b, c})
        destroy(bo);
}

} // namespace
} // namespace vramlab::kmd::test
