// SPDX-License-Identifier: MIT
// Eviction with a ticket: what waits, what dies, and into which error that turns.
#include "kmd/task.h"
#include "kmd/ttm_test_gpu.h"

namespace vramlab::kmd::test {
namespace {

using events::event_type;

class ticketlock_test : public gpu_test {
protected:
    ticketlock_test() : gpu_test(8, 64) {}
    ~ticketlock_test() override { ww_reset_stamps(); }

    // Runs t to its end or until it blocks.
    static task::state run(task &t)
    {
        while (t.current_state() == task::state::parked)
            t.step();
        return t.current_state();
    }
    // Validates bo, held by the ticket, into VRAM.
    int submit(test_bo *bo, ww_acquire_ctx &ticket, std::vector<ttm_place> places)
    {
        int ret = dma_resv_lock(*bo->resv, &ticket);
        if (ret)
            return ret;
        ttm_operation_ctx c;
        c.interruptible = true;
        c.resv = bo->resv;
        const ttm_placement placement{static_cast<u32>(places.size()), places.data()};
        ret = ttm_bo_validate(bo, &placement, &c);
        dma_resv_unlock(*bo->resv);
        return ret;
    }
    task one{1}, two{2};
};

TEST_F(ticketlock_test, waits_for_a_lock_and_then_evicts)
{
    test_bo *victim = create(8, {in_vram});
    test_bo *bo = create(4, {in_gtt});
    int ret = 1;

    one.begin([&] {
        dma_resv_lock(*victim->resv, nullptr);
        task::current()->park();
        dma_resv_unlock(*victim->resv);
    });
    one.step();
    two.begin([&] {
        ww_acquire_ctx ticket;
        ww_acquire_init(ticket);
        ret = submit(bo, ticket, {in_vram});
        ww_acquire_fini(ticket);
    });
    EXPECT_EQ(run(two), task::state::blocked);
    EXPECT_EQ(where(victim), TTM_PL_VRAM);
    EXPECT_GE(count_events(event_type::evict_skipped, "locked"), 1u); // the first pass
    EXPECT_EQ(run(one), task::state::idle);
    EXPECT_EQ(run(two), task::state::idle);

    EXPECT_EQ(ret, 0);
    EXPECT_EQ(where(bo), TTM_PL_VRAM);
    EXPECT_EQ(where(victim), TTM_PL_TT);
    destroy(victim);
    destroy(bo);
}

TEST_F(ticketlock_test, without_a_ticket_it_does_not_wait)
{
    test_bo *victim = create(8, {in_vram});
    test_bo *bo = create(4, {in_gtt});
    lock(victim);
    EXPECT_EQ(validate(bo, {in_vram}), -ENOMEM);
    unlock(victim);
    destroy(victim);
    destroy(bo);
}

// The younger one dies in the middle of its eviction, and all that user space sees is -ENOMEM.
TEST_F(ticketlock_test, edeadlk_becomes_enospc_and_then_enomem)
{
    test_bo *victim = create(8, {in_vram});
    test_bo *bo = create(4, {in_gtt});
    int ret = 1;
    ww_acquire_ctx older;
    ww_acquire_init(older);

    one.begin([&] {
        dma_resv_lock(*victim->resv, &older);
        task::current()->park();
        dma_resv_unlock(*victim->resv);
    });
    one.step();
    log.clear();
    two.begin([&] {
        ww_acquire_ctx ticket;
        ww_acquire_init(ticket);
        ret = submit(bo, ticket, {in_vram});
        ww_acquire_fini(ticket);
    });
    EXPECT_EQ(run(two), task::state::idle);
    EXPECT_EQ(ret, -ENOMEM);
    EXPECT_EQ(where(bo), TTM_PL_TT);
    EXPECT_EQ(vram.usage, 8 * PAGE_SIZE);

    std::vector<std::pair<int, int>> conversions;
    for (const events::event &e : log.events())
        if (e.type == event_type::error_converted)
            conversions.emplace_back(-static_cast<int>(e.a), e.error);
    const std::vector<std::pair<int, int>> expected{{-EDEADLK, -ENOSPC}, {-ENOSPC, -ENOMEM}};
    EXPECT_EQ(conversions, expected);

    run(one);
    ww_acquire_fini(older);
    destroy(victim);
    destroy(bo);
}

TEST_F(ticketlock_test, another_place_is_not_tried_after_edeadlk)
{
    test_bo *victim = create(8, {in_vram});
    test_bo *bo = create(4, {in_system});
    int ret = 1;
    ww_acquire_ctx older;
    ww_acquire_init(older);

    one.begin([&] {
        dma_resv_lock(*victim->resv, &older);
        task::current()->park();
        dma_resv_unlock(*victim->resv);
    });
    one.step();
    two.begin([&] {
        ww_acquire_ctx ticket;
        ww_acquire_init(ticket);
        ret = submit(bo, ticket, {in_vram, in_gtt_fallback});
        ww_acquire_fini(ticket);
    });
    EXPECT_EQ(run(two), task::state::idle);
    EXPECT_EQ(ret, -ENOMEM); // although GTT is empty
    EXPECT_EQ(where(bo), TTM_PL_SYSTEM);

    run(one);
    ww_acquire_fini(older);
    destroy(victim);
    destroy(bo);
}

TEST_F(ticketlock_test, one_ticketlock_a_walk)
{
    test_bo *a = create(4, {in_vram}), *b = create(4, {in_vram});
    test_bo *bo = create(8, {in_gtt});
    int ret = 1;
    one.begin([&] {
        dma_resv_lock(*a->resv, nullptr);
        dma_resv_lock(*b->resv, nullptr);
        task::current()->park();
        dma_resv_unlock(*a->resv);
        task::current()->park();
        dma_resv_unlock(*b->resv);
    });
    one.step();
    one.step();
    two.begin([&] {
        ww_acquire_ctx ticket;
        ww_acquire_init(ticket);
        ret = submit(bo, ticket, {in_vram});
        ww_acquire_fini(ticket);
    });
    EXPECT_EQ(run(two), task::state::blocked); // on a
    one.step();
    EXPECT_EQ(run(two), task::state::blocked); // a is evicted, b skipped; the next walk sleeps on b
    EXPECT_EQ(where(a), TTM_PL_TT);
    EXPECT_EQ(run(one), task::state::idle);
    EXPECT_EQ(run(two), task::state::idle);
    EXPECT_EQ(ret, 0);
    EXPECT_EQ(where(bo), TTM_PL_VRAM);
    EXPECT_EQ(where(b), TTM_PL_TT);
    for (test_bo *x : {a, b, bo})
        destroy(x);
}

// The victim moves away, or dies, while its lock is waited for.
TEST_F(ticketlock_test, a_victim_that_is_gone_is_left)
{
    test_bo *a = create(4, {in_vram}), *b = create(4, {in_vram});
    test_bo *bo = create(4, {in_gtt});
    int ret = 1;
    one.begin([&] {
        dma_resv_lock(*a->resv, nullptr);
        dma_resv_lock(*b->resv, nullptr);
        task::current()->park();
        EXPECT_EQ(validate_locked(a, {in_gtt}), 0);
        dma_resv_unlock(*a->resv);
        dma_resv_unlock(*b->resv);
        destroy(a);
    });
    one.step();
    one.step();
    two.begin([&] {
        ww_acquire_ctx ticket;
        ww_acquire_init(ticket);
        ret = submit(bo, ticket, {in_vram});
        ww_acquire_fini(ticket);
    });
    EXPECT_EQ(run(two), task::state::blocked);
    run(one);
    EXPECT_EQ(live_bos, 3u); // the walk has a reference
    EXPECT_EQ(run(two), task::state::idle);
    EXPECT_EQ(ret, 0);
    EXPECT_EQ(live_bos, 2u);
    EXPECT_EQ(where(bo), TTM_PL_VRAM);
    destroy(b);
    destroy(bo);
}

TEST_F(ticketlock_test, evict_all_sleeps_for_locks)
{
    test_bo *a = create(4, {in_vram}), *b = create(4, {in_vram});
    one.begin([&] {
        dma_resv_lock(*a->resv, nullptr);
        task::current()->park();
        dma_resv_unlock(*a->resv);
    });
    one.step();
    int ret = 1;
    two.begin([&] { ret = ttm_resource_manager_evict_all(&bdev, &vram); });
    EXPECT_EQ(run(two), task::state::blocked);
    run(one);
    EXPECT_EQ(run(two), task::state::idle);
    EXPECT_EQ(ret, 0);
    EXPECT_EQ(vram.usage, 0u);
    destroy(a);
    destroy(b);
}

} // namespace
} // namespace vramlab::kmd::test
