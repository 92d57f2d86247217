// SPDX-License-Identifier: MIT
// Eviction in a drm_exec's transaction: the contended path first.
#include "kmd/task.h"
#include "kmd/ttm_test_gpu.h"

namespace vramlab::kmd::test {
namespace {

using events::event_type;

class exec_evict_test : public gpu_test {
protected:
    exec_evict_test() : gpu_test(8, 64) {}
    ~exec_evict_test() override { ww_reset_stamps(); }

    static task::state run(task &t)
    {
        while (t.current_state() == task::state::parked)
            t.step();
        return t.current_state();
    }
    // As a submission does it; attempts go to *attempts.
    int submit(test_bo *bo, std::vector<ttm_place> places, u32 *attempts = nullptr,
               bool allow_res_evict = false)
    {
        drm_exec exec(DRM_EXEC_IGNORE_DUPLICATES);
        ttm_operation_ctx c;
        c.resv = bo->resv;
        c.exec = &exec;
        c.allow_res_evict = allow_res_evict;
        const ttm_placement placement{static_cast<u32>(places.size()), places.data()};
        int ret = 0;
        while (exec.cleanup()) {
            ret = exec.prepare_obj(bo, 1);
            if (!ret)
                ret = ttm_bo_validate(bo, &placement, &c);
            if (exec.is_contended())
                continue;
            if (ret)
                break;
        }
        if (attempts)
            *attempts = exec.attempts() + 1;
        moved = c.bytes_moved;
        return ret;
    }
    // Holds bo's lock under an older ticket, until run again.
    void hold_as_older(test_bo *bo)
    {
        ww_acquire_init(older);
        one.begin([this, bo] {
            dma_resv_lock(*bo->resv, &older);
            task::current()->park();
            dma_resv_unlock(*bo->resv);
        });
        one.step();
    }

    ww_acquire_ctx older;
    task one{1}, two{2};
    u64 moved = 0;
};

// Where mainline fails with -ENOMEM (ttm_ticketlock_test.cc).
TEST_F(exec_evict_test, the_younger_dies_waits_for_the_contended_victim_and_gets_its_memory)
{
    test_bo *victim = create(8, {in_vram});
    test_bo *bo = create(4, {in_gtt});
    hold_as_older(victim);
    int ret = 1;
    u32 attempts = 0;
    two.begin([&] { ret = submit(bo, {in_vram}, &attempts); });
    EXPECT_EQ(run(two), task::state::blocked); // in the slow lock, with nothing held
    EXPECT_FALSE(dma_resv_is_locked(*bo->resv));
    EXPECT_EQ(count_events(event_type::alloc_backoff), 1u);
    EXPECT_EQ(count_events(event_type::error_converted), 0u);

    EXPECT_EQ(run(one), task::state::idle);
    EXPECT_EQ(run(two), task::state::idle);
    EXPECT_EQ(ret, 0);
    EXPECT_EQ(attempts, 2u);
    EXPECT_EQ(where(bo), TTM_PL_VRAM);
    EXPECT_EQ(where(victim), TTM_PL_TT);
    EXPECT_FALSE(dma_resv_is_locked(*victim->resv));
    EXPECT_EQ(victim->kref, 1u);
    ww_acquire_fini(older);
    destroy(victim);
    destroy(bo);
}

TEST_F(exec_evict_test, the_older_waits_without_starting_over)
{
    test_bo *victim = create(8, {in_vram});
    test_bo *bo = create(4, {in_gtt});
    one.begin([&] {
        dma_resv_lock(*victim->resv, nullptr); // no ticket: nobody dies for it
        task::current()->park();
        dma_resv_unlock(*victim->resv);
    });
    one.step();
    int ret = 1;
    u32 attempts = 0;
    two.begin([&] { ret = submit(bo, {in_vram}, &attempts); });
    EXPECT_EQ(run(two), task::state::blocked);
    run(one);
    EXPECT_EQ(run(two), task::state::idle);
    EXPECT_EQ(ret, 0);
    EXPECT_EQ(attempts, 1u);
    destroy(victim);
    destroy(bo);
}

// What it moved before it died has moved: the next attempt goes on from there, and the bytes add up.
TEST_F(exec_evict_test, bytes_add_up_over_attempts_and_locks_of_victims_are_dropped_between)
{
    test_bo *free_victim = create(4, {in_vram});
    test_bo *held_victim = create(4, {in_vram});
    test_bo *bo = create(8, {in_gtt});
    hold_as_older(held_victim);
    int ret = 1;
    u32 attempts = 0;
    two.begin([&] { ret = submit(bo, {in_vram}, &attempts); });
    EXPECT_EQ(run(two), task::state::blocked);
    EXPECT_EQ(where(free_victim), TTM_PL_TT);
    EXPECT_FALSE(dma_resv_is_locked(*free_victim->resv));
    run(one);
    EXPECT_EQ(run(two), task::state::idle);
    EXPECT_EQ(ret, 0);
    EXPECT_EQ(attempts, 2u);
    EXPECT_EQ(moved, 16 * PAGE_SIZE);
    for (const events::event &e : log.events()) {
        if (e.type == event_type::alloc_backoff) {
            EXPECT_EQ(e.b, 1u);
        }
    }
    ww_acquire_fini(older);
    destroy(free_victim);
    destroy(held_victim);
    destroy(bo);
}

// What a victim has freed is the evictor's: its owner cannot put it back in between.
TEST_F(exec_evict_test, victims_stay_locked_until_the_evictor_has_its_memory)
{
    test_bo *first = create(4, {in_vram});
    test_bo *second = create(4, {in_vram});
    test_bo *bo = create(8, {in_gtt});
    one.begin([&] {
        dma_resv_lock(*second->resv, nullptr);
        task::current()->park();
        EXPECT_EQ(where(first), TTM_PL_TT);
        EXPECT_TRUE(dma_resv_is_locked(*first->resv));
        dma_resv_unlock(*second->resv);
    });
    one.step();
    two.begin([&] { EXPECT_EQ(submit(bo, {in_vram}), 0); });
    EXPECT_EQ(run(two), task::state::blocked);
    run(one);
    run(two);
    EXPECT_EQ(where(bo), TTM_PL_VRAM);
    EXPECT_FALSE(dma_resv_is_locked(*first->resv));
    destroy(first);
    destroy(second);
    destroy(bo);
}

// Private BOs of a VM share a resv: once one is a victim the others are, too.
TEST_F(exec_evict_test, several_victims_of_one_resv)
{
    dma_resv vm;
    dma_resv_lock(vm, nullptr);
    test_bo *a = create(4, {in_vram}, &vm);
    test_bo *b = create(4, {in_vram}, &vm);
    dma_resv_unlock(vm);
    test_bo *bo = create(8, {in_gtt});
    EXPECT_EQ(submit(bo, {in_vram}), 0);
    EXPECT_EQ(where(a), TTM_PL_TT);
    EXPECT_EQ(where(b), TTM_PL_TT);
    EXPECT_FALSE(dma_resv_is_locked(vm));
    destroy(a);
    destroy(b);
    destroy(bo);
}

TEST_F(exec_evict_test, what_the_submission_holds_is_no_victim_unless_allowed)
{
    dma_resv vm;
    dma_resv_lock(vm, nullptr);
    test_bo *mine = create(8, {in_vram}, &vm);
    test_bo *bo = create(4, {in_gtt}, &vm);
    dma_resv_unlock(vm);
    EXPECT_EQ(submit(bo, {in_vram}), -ENOMEM);
    EXPECT_EQ(where(mine), TTM_PL_VRAM);
    EXPECT_GE(count_events(event_type::evict_skipped, "locked by this submission"), 1u);
    EXPECT_EQ(submit(bo, {in_vram}, nullptr, true), 0);
    EXPECT_EQ(where(mine), TTM_PL_TT);
    EXPECT_FALSE(dma_resv_is_locked(vm));
    destroy(mine);
    destroy(bo);
}

TEST_F(exec_evict_test, a_zombie_gives_its_memory_and_goes)
{
    test_bo *zombie = create(8, {in_vram});
    dma_fence *f = make_fence(7);
    add_fence(zombie, f, dma_resv_usage::bookkeep);
    destroy(zombie);
    test_bo *bo = create(4, {in_gtt});
    EXPECT_EQ(submit(bo, {in_vram}), 0);
    EXPECT_EQ(where(bo), TTM_PL_VRAM);
    destroy(bo);
}

// The contended one may be gone by the time that its lock is had.
TEST_F(exec_evict_test, a_contended_victim_that_dies_meanwhile)
{
    test_bo *victim = create(8, {in_vram});
    test_bo *bo = create(4, {in_gtt});
    hold_as_older(victim);
    int ret = 1;
    two.begin([&] { ret = submit(bo, {in_vram}); });
    EXPECT_EQ(run(two), task::state::blocked);
    destroy(victim); // the exec's reference keeps it
    run(one);
    EXPECT_EQ(run(two), task::state::idle);
    EXPECT_EQ(ret, 0);
    EXPECT_EQ(where(bo), TTM_PL_VRAM);
    EXPECT_EQ(live_bos, 1u);
    ww_acquire_fini(older);
    destroy(bo);
}

TEST_F(exec_evict_test, no_space_is_still_enomem)
{
    test_bo *pinned = create(8, {in_vram});
    lock(pinned);
    ttm_bo_pin(pinned);
    unlock(pinned);
    test_bo *bo = create(4, {in_gtt});
    u32 attempts = 0;
    EXPECT_EQ(submit(bo, {in_vram}, &attempts), -ENOMEM);
    EXPECT_EQ(attempts, 1u);
    lock(pinned);
    ttm_bo_unpin(pinned);
    unlock(pinned);
    destroy(pinned);
    destroy(bo);
}

} // namespace
} // namespace vramlab::kmd::test
