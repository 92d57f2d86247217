// SPDX-License-Identifier: MIT
// What is left behind by moves and deletions: ghosts, zombies, fences of pipelined evictions, and when is the
// memory free?
#include "kmd/ttm_test_gpu.h"

namespace vramlab::kmd::test {
namespace {

using events::event_type;

class move_test : public gpu_test {
protected:
    move_test() : gpu_test(8, 64) { async_copies = true; }
};

TEST_F(move_test, a_move_leaves_a_ghost_until_its_fence)
{
    test_bo *a = create(4, {in_gtt});
    EXPECT_EQ(validate(a, {in_vram}), 0);
    EXPECT_EQ(where(a), TTM_PL_VRAM);
    EXPECT_EQ(a->ttm, nullptr); // with the ghost
    EXPECT_EQ(gtt.usage, 4 * PAGE_SIZE);
    EXPECT_EQ(lru(TTM_PL_TT), "g4");
    EXPECT_EQ(a->kref, 2u);
    EXPECT_EQ(count_events(event_type::ghost), 1u);

    ttm_device_reap(&bdev);
    EXPECT_EQ(lru(TTM_PL_TT), "g4");
    signal_all();
    EXPECT_EQ(lru(TTM_PL_TT), "g4"); // nobody has looked yet
    ttm_device_reap(&bdev);
    EXPECT_EQ(lru(TTM_PL_TT), "");
    EXPECT_EQ(gtt.usage, 0u);
    EXPECT_EQ(bdev.glob->pages_allocated, 0u);
    EXPECT_EQ(a->kref, 1u);
    ASSERT_EQ(log.events().back().type, event_type::reaped);
    EXPECT_EQ(log.events().back().bo, a->tag);
    destroy(a);
}

TEST_F(move_test, a_ghost_is_out_of_the_bulk_move_and_a_victim_like_others)
{
    dma_resv vm;
    ttm_lru_bulk_move bulk;
    ttm_lru_bulk_move_init(&bulk);
    test_bo *b = create(8, {in_gtt}, &vm);
    bulk_move(b, &bulk);
    ASSERT_EQ(dma_resv_lock(vm, nullptr), 0);
    EXPECT_EQ(validate_locked(b, {in_vram}), 0);
    dma_resv_unlock(vm);
    EXPECT_EQ(bulk.pos[TTM_PL_TT][0].first, nullptr);
    EXPECT_EQ(bulk.pos[TTM_PL_VRAM][0].first, b->resource);
    EXPECT_EQ(lru(TTM_PL_TT), "g8");

    // Somebody needs the whole of GTT: waits for the ghost's fence and frees it there and then.
    test_bo *c = create(64, {in_gtt});
    EXPECT_EQ(where(c), TTM_PL_TT);
    EXPECT_TRUE(pending.empty());
    EXPECT_EQ(lru(TTM_PL_TT), "2");
    ttm_device_reap(&bdev);
    bulk_move(b, nullptr);
    destroy(b);
    destroy(c);
}

TEST_F(move_test, an_eviction_from_vram_is_pipelined)
{
    test_bo *a = create(8, {in_vram});
    test_bo *b = create(8, {in_vram});
    // The memory is b's already; b has a's copy to wait for.
    EXPECT_EQ(where(a), TTM_PL_TT);
    EXPECT_EQ(lru(TTM_PL_VRAM), "2");
    EXPECT_TRUE(bdev.zombies.empty());
    ASSERT_NE(vram.eviction_fences[0], nullptr);
    EXPECT_EQ(vram.eviction_fences[1], nullptr);
    EXPECT_FALSE(dma_resv_test_signaled(*a->resv, dma_resv_usage::kernel));
    EXPECT_FALSE(dma_resv_test_signaled(*b->resv, dma_resv_usage::kernel));

    // A later one of the same context takes the slot, one of another context the next.
    const dma_fence *first = vram.eviction_fences[0];
    test_bo *c = create(8, {in_vram});
    EXPECT_NE(vram.eviction_fences[0], first);
    EXPECT_EQ(vram.eviction_fences[1], nullptr);
    copy_context = 2;
    test_bo *d = create(8, {in_vram});
    EXPECT_NE(vram.eviction_fences[1], nullptr);
    EXPECT_EQ(count_events(event_type::ghost), 0u);
    for (test_bo *bo : {a, b, c, d})
        destroy(bo);
}

TEST_F(move_test, an_older_fence_does_not_replace_a_younger_one)
{
    test_bo *a = create(8, {in_vram});
    const fence_ref old_fence(make_fence(1));
    fence_ref young(make_fence(1));
    vram.eviction_fences[0] = dma_fence_get(young.get());
    lock(a);
    ASSERT_EQ(dma_resv_reserve_fences(*a->resv, 1), 0);
    const ttm_place system = in_gtt;
    ttm_resource *mem = nullptr;
    ASSERT_EQ(ttm_resource_alloc(a, &system, &mem, nullptr), 0);
    ASSERT_EQ(ttm_bo_move_accel_cleanup(a, old_fence.get(), true, true, mem), 0);
    unlock(a);
    EXPECT_EQ(vram.eviction_fences[0], young.get());
    EXPECT_EQ(vram.usage, 0u);
    destroy(a);
}

TEST_F(move_test, an_eviction_from_system_pages_waits)
{
    test_bo *a = create(8, {in_vram});
    lock(a);
    ASSERT_EQ(dma_resv_reserve_fences(*a->resv, 1), 0);
    const ttm_place place = in_gtt;
    ttm_resource *mem = nullptr;
    ASSERT_EQ(ttm_resource_alloc(a, &place, &mem, nullptr), 0);
    const fence_ref fence(make_fence(1));
    ASSERT_EQ(ttm_bo_move_accel_cleanup(a, fence.get(), true, false, mem), 0); // not pipelined
    EXPECT_TRUE(fence->signaled);
    unlock(a);
    destroy(a);
}

TEST_F(move_test, a_busy_bo_dies_late)
{
    test_bo *a = create(4, {in_vram});
    add_fence(a, make_fence(7), dma_resv_usage::read);
    destroy(a);
    EXPECT_EQ(live_bos, 1u);
    EXPECT_EQ(lru(TTM_PL_VRAM), "z1");
    ttm_device_reap(&bdev);
    EXPECT_EQ(lru(TTM_PL_VRAM), "z1");
    signal_all();
    ttm_device_reap(&bdev);
    EXPECT_EQ(live_bos, 0u);
    EXPECT_EQ(vram.usage, 0u);
    EXPECT_EQ(count_events(event_type::reaped), 1u);
}

TEST_F(move_test, a_zombie_waits_for_its_own_copies_of_the_fences)
{
    dma_resv vm;
    test_bo *a = create(2, {in_vram}, &vm);
    test_bo *b = create(2, {in_vram}, &vm);
    add_fence(a, make_fence(7), dma_resv_usage::bookkeep);
    ASSERT_EQ(dma_resv_lock(vm, nullptr), 0);
    destroy(a); // nobody minds that the VM's resv is held
    EXPECT_EQ(a->resv, &a->_resv);
    dma_resv_unlock(vm);
    add_fence(b, make_fence(8), dma_resv_usage::bookkeep); // comes after a's death: not a's business
    const fence_ref first = pending.front();
    pending.pop_front();
    dma_fence_signal(*first);
    ttm_device_reap(&bdev);
    EXPECT_EQ(lru(TTM_PL_VRAM), "2");
    signal_all();
    destroy(b);
}

TEST_F(move_test, a_locked_zombie_stays)
{
    test_bo *a = create(4, {in_vram});
    add_fence(a, make_fence(7), dma_resv_usage::read);
    destroy(a);
    signal_all();
    ASSERT_EQ(dma_resv_lock(a->_resv, nullptr), 0);
    ttm_device_reap(&bdev);
    EXPECT_EQ(live_bos, 1u);
    dma_resv_unlock(a->_resv);
    ttm_device_reap(&bdev);
    EXPECT_EQ(live_bos, 0u);
}

TEST_F(move_test, a_zombie_is_a_victim_and_is_waited_for)
{
    test_bo *a = create(8, {in_vram});
    add_fence(a, make_fence(7), dma_resv_usage::read);
    destroy(a);
    test_bo *b = create(8, {in_vram});
    ASSERT_NE(b, nullptr);
    EXPECT_EQ(where(b), TTM_PL_VRAM);
    EXPECT_EQ(gtt.usage, 0u);           // not moved
    EXPECT_EQ(bdev.zombies.size(), 1u); // the rest of it
    ttm_device_reap(&bdev);
    EXPECT_EQ(live_bos, 1u);
    destroy(b);
}

// A ghost is the last to know its BO.
TEST_F(move_test, a_ghost_keeps_its_bo)
{
    test_bo *a = create(4, {in_gtt});
    EXPECT_EQ(validate(a, {in_vram}), 0);
    destroy(a); // the ghost has a reference
    EXPECT_EQ(live_bos, 1u);
    EXPECT_EQ(lru(TTM_PL_VRAM), "1");
    signal_all();
    ttm_device_reap(&bdev); // ghost, then the BO, idle by now
    EXPECT_EQ(live_bos, 0u);
    EXPECT_EQ(vram.usage, 0u);
}

TEST_F(move_test, reaping_in_the_order_of_deletion)
{
    for (int i = 0; i < 5; i++) {
        test_bo *a = create(1, {in_vram});
        add_fence(a, make_fence(static_cast<u64>(10 + i)), dma_resv_usage::read);
        destroy(a);
    }
    log.clear();
    // The middle one first, then the others.
    dma_fence_signal(*pending[2]);
    ttm_device_reap(&bdev);
    EXPECT_EQ(lru(TTM_PL_VRAM), "z1 z2 z4 z5");
    pending.erase(pending.begin() + 2);
    signal_all();
    ttm_device_reap(&bdev);
    std::string order_of_death;
    for (const events::event &e : log.events())
        if (e.type == event_type::reaped)
            order_of_death += std::to_string(e.bo) + ' ';
    EXPECT_EQ(order_of_death, "3 1 2 4 5 ");
}

// For whoever has to wait for all of them, at the end of the device.
TEST_F(move_test, the_oldest_zombie_is_known_whatever_it_waits_for)
{
    EXPECT_EQ(bdev.zombies.oldest(), nullptr);
    test_bo *a = create(1, {in_vram}), *b = create(1, {in_vram}), *c = create(1, {in_vram});
    for (test_bo *bo : {a, b, c})
        add_fence(bo, make_fence(bo == b ? 8 : 7), dma_resv_usage::read);
    destroy(b);
    destroy(a);
    EXPECT_EQ(bdev.zombies.oldest(), b);
    ttm_device_reap(&bdev); // now it is known what they wait for
    EXPECT_EQ(bdev.zombies.oldest(), b);
    destroy(c); // not looked at yet
    EXPECT_EQ(bdev.zombies.oldest(), b);
    dma_fence_signal(*pending[1]);
    ttm_device_reap(&bdev);
    EXPECT_EQ(bdev.zombies.oldest(), a);
    pending.erase(pending.begin() + 1);
    dma_fence_signal(*pending[0]);
    ttm_device_reap(&bdev);
    EXPECT_EQ(bdev.zombies.oldest(), c);
    pending.pop_front();
    signal_all();
    ttm_device_reap(&bdev);
    EXPECT_EQ(bdev.zombies.oldest(), nullptr);
}

TEST_F(move_test, gutting_a_busy_bo_leaves_a_ghost_with_its_pages)
{
    test_bo *a = create(4, {in_gtt});
    const ttm_tt *old = a->ttm;
    add_fence(a, make_fence(7), dma_resv_usage::read);
    lock(a);
    EXPECT_EQ(validate_locked(a, {}), 0);
    EXPECT_EQ(a->resource, nullptr);
    EXPECT_NE(a->ttm, old);
    EXPECT_FALSE(ttm_tt_is_populated(a->ttm));
    EXPECT_EQ(bdev.glob->pages_allocated, 4u);
    EXPECT_EQ(lru(TTM_PL_TT), "g4");
    unlock(a);
    signal_all();
    ttm_device_reap(&bdev);
    EXPECT_EQ(bdev.glob->pages_allocated, 0u);
    destroy(a);
}

TEST_F(move_test, hops_count_their_bytes_and_free_their_places)
{
    test_bo *a = create(4, {in_vram});
    ctx.bytes_moved = 0;
    EXPECT_EQ(validate(a, {in_system}), 0);
    EXPECT_EQ(where(a), TTM_PL_SYSTEM);
    EXPECT_EQ(ctx.bytes_moved, 8 * PAGE_SIZE);
    signal_all();
    ttm_device_reap(&bdev);
    EXPECT_EQ(gtt.usage, 0u);
    EXPECT_EQ(validate(a, {in_vram}), 0);
    EXPECT_EQ(where(a), TTM_PL_VRAM);
    signal_all();
    ttm_device_reap(&bdev);
    EXPECT_EQ(gtt.usage, 0u);
    EXPECT_EQ(bdev.sysman.usage, 0u);
    destroy(a);
}

} // namespace
} // namespace vramlab::kmd::test
