// SPDX-License-Identifier: MIT
// Who is evicted for whom, in which order, and what becomes of errors on the way?
#include "kmd/ttm_test_gpu.h"

namespace vramlab::kmd::test {
namespace {

using events::event_type;

class evict_test : public gpu_test {
protected:
    evict_test() : gpu_test(8, 16) {}
    void destroy_all(std::vector<test_bo *> bos)
    {
        for (test_bo *bo : bos)
            destroy(bo);
    }
};

TEST_F(evict_test, least_recently_used_first_and_no_more_than_needed)
{
    test_bo *a = create(2, {in_vram}), *b = create(2, {in_vram}), *c = create(2, {in_vram}),
            *d = create(2, {in_vram});
    lock(a);
    ttm_bo_unreserve(a); // used again

    test_bo *e = create(4, {in_vram});

    ASSERT_NE(e, nullptr);
    EXPECT_EQ(where(a), TTM_PL_VRAM);
    EXPECT_EQ(where(b), TTM_PL_TT);
    EXPECT_EQ(where(c), TTM_PL_TT);
    EXPECT_EQ(where(d), TTM_PL_VRAM);
    EXPECT_EQ(lru(TTM_PL_VRAM), "4 1 5");
    EXPECT_EQ(lru(TTM_PL_TT), "2 3");
    EXPECT_EQ(count_events(event_type::evict_begin), 2u);
    destroy_all({a, b, c, d, e});
}

TEST_F(evict_test, lower_priority_lists_first)
{
    test_bo *a = create(4, {in_vram}), *b = create(4, {in_vram});
    lock(a);
    a->priority = 3;
    ttm_bo_unreserve(a);
    test_bo *c = create(1, {in_vram});
    EXPECT_EQ(where(a), TTM_PL_VRAM);
    EXPECT_EQ(where(b), TTM_PL_TT);
    destroy_all({a, b, c});
}

TEST_F(evict_test, all_places_are_tried_before_anything_is_evicted)
{
    test_bo *a = create(8, {in_vram});
    test_bo *b = create(4, {in_vram, in_gtt});
    EXPECT_EQ(where(b), TTM_PL_TT);
    EXPECT_EQ(where(a), TTM_PL_VRAM);
    test_bo *c = create(4, {in_vram, in_gtt_fallback}); // GTT only when evicting: then VRAM is first
    EXPECT_EQ(where(c), TTM_PL_VRAM);
    EXPECT_EQ(where(a), TTM_PL_TT);
    test_bo *d =
        create(8, {in_vram_desired, in_gtt_fallback}); // never evicts for VRAM; GTT is full, so that evicts
    EXPECT_EQ(where(d), TTM_PL_TT);
    EXPECT_EQ(where(c), TTM_PL_VRAM);
    destroy_all({a, b, c, d});
}

TEST_F(evict_test, nothing_left_is_enomem_and_says_why)
{
    test_bo *a = create(8, {in_vram});
    lock(a);
    ttm_bo_pin(a);
    unlock(a);
    log.clear();
    EXPECT_EQ(create(1, {in_vram}), nullptr);
    EXPECT_EQ(last_error, -ENOMEM);
    EXPECT_EQ(live_bos, 1u); // destroy() was called
    EXPECT_EQ(count_events(event_type::alloc_failed), 2u);
    EXPECT_EQ(count_events(event_type::error_converted, "ttm_bo_validate"), 1u);
    ASSERT_EQ(log.events().back().type, event_type::validate);
    EXPECT_EQ(log.events().back().error, -ENOMEM);

    bdev.alloc_flags = TTM_ALLOCATION_PROPAGATE_ENOSPC;
    EXPECT_EQ(create(1, {in_vram}), nullptr);
    EXPECT_EQ(last_error, -ENOSPC);
    bdev.alloc_flags = 0;

    lock(a);
    ttm_bo_unpin(a);
    unlock(a);
    destroy(a);
}

// A zombie, too, is released once: when its last reference goes, not when it is reaped.
TEST_F(evict_test, release_is_notified_of_once)
{
    static const ttm_buffer_object *watched;
    static u32 released;
    released = 0;
    const ttm_device_funcs *const usual = bdev.funcs;
    ttm_device_funcs counting = *usual;
    counting.release_notify = [](ttm_buffer_object *bo) { released += bo == watched; };
    bdev.funcs = &counting;
    test_bo *idle = create(1, {in_vram});
    watched = idle;
    destroy(idle);
    EXPECT_EQ(released, 1u);
    test_bo *busy = create(1, {in_vram});
    watched = busy;
    add_fence(busy, make_fence(7), dma_resv_usage::bookkeep);
    destroy(busy);
    EXPECT_EQ(released, 2u);
    EXPECT_EQ(live_bos, 1u);
    signal_all();
    ttm_device_reap(&bdev);
    EXPECT_EQ(released, 2u);
    EXPECT_EQ(live_bos, 0u);
    bdev.funcs = usual;
}

TEST_F(evict_test, a_sink_need_not_hear_of_those_passed_over)
{
    test_bo *a = create(4, {in_vram}), *b = create(4, {in_vram});
    lock(a);
    log.clear();
    trace.skipped = false;
    test_bo *c = create(1, {in_vram});
    trace.skipped = true;
    EXPECT_EQ(count_events(event_type::evict_skipped), 0u);
    EXPECT_EQ(count_events(event_type::evict_begin), 1u);
    EXPECT_EQ(where(b), TTM_PL_TT);
    unlock(a);
    destroy_all({a, b, c});
}

TEST_F(evict_test, locked_ones_are_passed_over)
{
    test_bo *a = create(4, {in_vram}), *b = create(4, {in_vram});
    lock(a);
    log.clear();
    test_bo *c = create(1, {in_vram});
    EXPECT_EQ(where(b), TTM_PL_TT);
    EXPECT_EQ(count_events(event_type::evict_skipped, "locked"), 1u);
    unlock(a);
    destroy_all({a, b, c});
}

TEST_F(evict_test, own_resv_only_if_allowed)
{
    dma_resv vm;
    test_bo *a = create(8, {in_vram}, &vm);
    ASSERT_EQ(dma_resv_lock(vm, nullptr), 0);
    ctx.resv = &vm;
    test_bo *b = create(8, {in_vram}, &vm);
    EXPECT_EQ(b, nullptr);
    EXPECT_EQ(last_error, -ENOMEM);

    ctx.allow_res_evict = true;
    b = create(8, {in_vram}, &vm);
    ASSERT_NE(b, nullptr);
    EXPECT_EQ(where(a), TTM_PL_TT);
    EXPECT_TRUE(dma_resv_is_locked(vm)); // the walk unlocks only what it has locked
    dma_resv_unlock(vm);
    destroy_all({a, b});
}

// The victim has nowhere to go but SYSTEM through GTT: hop by hop, and GTT makes room as well.
TEST_F(evict_test, evictions_nest)
{
    test_bo *in_gtt_bo = create(16, {in_gtt});
    test_bo *a = create(8, {in_vram});
    test_bo *b = create(8, {in_vram});
    EXPECT_EQ(where(b), TTM_PL_VRAM);
    EXPECT_EQ(where(a), TTM_PL_SYSTEM);         // GTT without eviction has no room, SYSTEM always
    EXPECT_EQ(where(in_gtt_bo), TTM_PL_SYSTEM); // for the hop
    destroy_all({in_gtt_bo, a, b});
}

TEST_F(evict_test, a_victim_that_cannot_go_is_passed_over)
{
    test_bo *a = create(8, {in_vram});
    test_bo *pinned = create(16, {in_gtt});
    lock(pinned);
    ttm_bo_pin(pinned);
    unlock(pinned);
    log.clear();
    // SYSTEM needs the hop through GTT, which is full of pinned memory.
    EXPECT_EQ(create(1, {in_vram}), nullptr);
    EXPECT_EQ(last_error, -ENOMEM);
    EXPECT_EQ(where(a), TTM_PL_VRAM);
    EXPECT_EQ(count_events(event_type::evict_skipped, "nowhere to go"), 1u);
    EXPECT_EQ(count_events(event_type::error_converted, "ttm_bo_evict_cb"), 1u);
    EXPECT_EQ(vram.usage, 8 * PAGE_SIZE);
    EXPECT_EQ(bdev.sysman.usage, 0u);
    lock(pinned);
    ttm_bo_unpin(pinned);
    unlock(pinned);
    destroy_all({a, pinned});
}

TEST_F(evict_test, no_wait_gpu_does_not_wait)
{
    async_copies = true;
    test_bo *a = create(8, {in_vram});
    test_bo *b = create(8, {in_vram}); // behind the eviction of a
    EXPECT_EQ(where(b), TTM_PL_VRAM);
    EXPECT_FALSE(dma_resv_test_signaled(*b->resv, dma_resv_usage::kernel));
    test_bo *c = create(8, {in_gtt});
    add_fence(c, make_fence(9), dma_resv_usage::bookkeep);
    ctx.no_wait_gpu = true;
    // c is busy and may not be waited for.
    test_bo *d = create(8, {in_gtt});
    EXPECT_EQ(d, nullptr);
    EXPECT_EQ(last_error, -ENOMEM);
    EXPECT_EQ(where(c), TTM_PL_TT);
    EXPECT_GE(count_events(event_type::evict_skipped, "busy"), 1u);
    ctx.no_wait_gpu = false;
    signal_all();
    destroy_all({a, b, c});
}

TEST_F(evict_test, evict_all_empties_the_manager_and_waits)
{
    async_copies = true;
    test_bo *a = create(4, {in_vram}), *b = create(4, {in_vram});
    EXPECT_EQ(ttm_resource_manager_evict_all(&bdev, &vram), 0);
    EXPECT_EQ(vram.usage, 0u);
    EXPECT_TRUE(pending.empty());
    EXPECT_EQ(lru(TTM_PL_TT), "1 2");
    destroy_all({a, b});
}

TEST_F(evict_test, place_without_manager_and_manager_not_in_use_are_skipped)
{
    vram.use_type = false;
    test_bo *a = create(1, {{0, 0, TTM_PL_PRIV, 0}, in_vram, in_gtt});
    EXPECT_EQ(where(a), TTM_PL_TT);
    vram.use_type = true;
    destroy(a);
}

TEST_F(evict_test, random_victims_are_the_same_for_the_same_seed)
{
    std::string orders[3];
    const u64 seeds[3] = {1, 1, 2};
    for (int run = 0; run < 3; run++) {
        ttm_random_walk policy(seeds[run]);
        bdev.walk_policy = &policy;
        std::vector<test_bo *> bos;
        for (int i = 0; i < 8; i++)
            bos.push_back(create(1, {in_vram}));
        for (int i = 0; i < 6; i++)
            bos.push_back(create(1, {in_vram}));
        for (size_t i = 0; i < bos.size(); i++)
            orders[run] += where(bos[i]) == TTM_PL_VRAM ? 'v' : 't';
        bdev.walk_policy = nullptr;
        destroy_all(bos);
    }
    EXPECT_EQ(orders[0], orders[1]);
    EXPECT_NE(orders[0], orders[2]);
    EXPECT_NE(orders[0], "ttttttvvvvvvvv");
}

// ---- dmem cgroups

class evict_cgroup_test : public evict_test {
protected:
    evict_cgroup_test()
    {
        dmem_cgroup_init init;
        init.size = vram.size;
        init.ops = &ops;
        init.reclaim_priv = &vram;
        init.root = &root;
        region = dmem_cgroup_register_region(init, "test/vram");
        ttm_resource_manager_set_dmem_region(&vram, region.get());
    }
    ~evict_cgroup_test() override { dmem_cgroup_current = nullptr; }
    // When all BOs are gone nobody may hold a pool any more.
    void TearDown() override
    {
        signal_all();
        ttm_device_reap(&bdev);
        for (const dmemcg_state *cg : {&root, &fg, &bg, &user, &game, &browser})
            EXPECT_EQ(cg->pool ? cg->pool->refs : 0, 0u) << "references to the pool of \"" << cg->name << '"';
    }
    test_bo *create_in(dmemcg_state &cg, u64 pages, std::vector<ttm_place> places)
    {
        dmem_cgroup_current = &cg;
        test_bo *bo = create(pages, std::move(places));
        dmem_cgroup_current = nullptr;
        return bo;
    }
    u64 pages_of(const dmemcg_state &cg) { return dmem_cgroup_usage(cg) / PAGE_SIZE; }

    static constexpr dmem_cgroup_ops ops{ttm_resource_manager_dmem_reclaim};
    dmemcg_state root{"", nullptr};
    dmemcg_state fg{"fg", &root};
    dmemcg_state bg{"bg", &root};
    dmemcg_state user{"user", &root};
    dmemcg_state game{"game", &user};
    dmemcg_state browser{"browser", &user};
    std::unique_ptr<dmem_cgroup_region> region;
};

TEST_F(evict_cgroup_test, a_protected_cgroup_evicts_the_unprotected_before_it_goes_elsewhere)
{
    dmem_cgroup_set_low(*region, fg, 8 * PAGE_SIZE);
    test_bo *a = create_in(bg, 4, {in_vram}), *b = create_in(bg, 4, {in_vram});
    test_bo *c = create_in(fg, 4, {in_vram, in_gtt});
    EXPECT_EQ(where(c), TTM_PL_VRAM);
    EXPECT_EQ(where(a), TTM_PL_TT);
    test_bo *d = create_in(fg, 4, {in_vram, in_gtt});
    EXPECT_EQ(where(d), TTM_PL_VRAM);
    EXPECT_EQ(pages_of(fg), 8u);
    EXPECT_EQ(pages_of(bg), 0u);
    // And not the other way round.
    test_bo *e = create_in(bg, 1, {in_vram, in_gtt});
    EXPECT_EQ(where(e), TTM_PL_TT);
    destroy_all({a, b, c, d, e});
}

TEST_F(evict_cgroup_test, below_low_it_never_evicts_its_own)
{
    dmem_cgroup_set_low(*region, fg, 64 * PAGE_SIZE);
    test_bo *a = create_in(fg, 8, {in_vram});
    log.clear();
    test_bo *b = create_in(fg, 4, {in_vram, in_gtt});
    EXPECT_EQ(where(a), TTM_PL_VRAM);
    EXPECT_EQ(where(b), TTM_PL_TT);
    EXPECT_GE(count_events(event_type::evict_skipped, "own cgroup"), 1u);
    // If only VRAM will do, it does.
    test_bo *c = create_in(fg, 4, {in_vram});
    EXPECT_EQ(where(c), TTM_PL_VRAM);
    EXPECT_EQ(where(a), TTM_PL_TT);
    destroy_all({a, b, c});
}

TEST_F(evict_cgroup_test, low_is_overridden_by_who_must_have_vram_and_min_is_not)
{
    dmem_cgroup_set_low(*region, game, 8 * PAGE_SIZE);
    test_bo *a = create_in(game, 8, {in_vram});
    test_bo *b = create_in(browser, 4, {in_vram});
    EXPECT_EQ(where(b), TTM_PL_VRAM);
    EXPECT_EQ(where(a), TTM_PL_TT);
    destroy_all({a, b});

    dmem_cgroup_set_min(*region, game, 8 * PAGE_SIZE);
    a = create_in(game, 8, {in_vram});
    EXPECT_EQ(create_in(browser, 4, {in_vram}), nullptr);
    EXPECT_EQ(last_error, -ENOMEM);
    EXPECT_GE(count_events(event_type::evict_skipped, "protected"), 1u);

    bdev.ignore_protection = true;
    b = create_in(browser, 4, {in_vram});
    EXPECT_EQ(where(b), TTM_PL_VRAM);
    bdev.ignore_protection = false;
    destroy_all({a, b});
}

TEST_F(evict_cgroup_test, siblings_are_compared_below_their_parent)
{
    dmem_cgroup_set_low(*region, user, 8 * PAGE_SIZE);
    dmem_cgroup_set_low(*region, game, 6 * PAGE_SIZE);
    test_bo *a = create_in(browser, 5, {in_vram});
    test_bo *b = create_in(bg, 1, {in_vram});
    test_bo *c = create_in(game, 2, {in_vram, in_gtt});
    test_bo *d = create_in(game, 4, {in_vram, in_gtt});
    EXPECT_EQ(where(a), TTM_PL_TT);
    EXPECT_EQ(where(b), TTM_PL_VRAM);
    EXPECT_EQ(where(c), TTM_PL_VRAM);
    EXPECT_EQ(where(d), TTM_PL_VRAM);
    destroy_all({a, b, c, d});
}

// 7.3.4: dmem_cgroup_state_evict_valuable() looks no further if the common ancestor is the root.
TEST_F(evict_cgroup_test, between_children_of_the_root_nothing_is_protected)
{
    dmem_cgroup_set_min(*region, fg, 8 * PAGE_SIZE);
    test_bo *a = create_in(fg, 8, {in_vram});
    test_bo *b = create_in(bg, 4, {in_vram});
    EXPECT_EQ(where(a), TTM_PL_TT);
    EXPECT_EQ(where(b), TTM_PL_VRAM);
    destroy_all({a, b});
}

// A cgroup at its maximum evicts its own, past what it cannot evict; -EAGAIN of the charge never gets out.
TEST_F(evict_cgroup_test, at_the_maximum_it_walks_on_to_its_own)
{
    dmem_cgroup_set_max(*region, fg, 4 * PAGE_SIZE);
    test_bo *other = create_in(bg, 2, {in_vram});
    test_bo *a = create_in(fg, 1, {in_vram}), *b = create_in(fg, 1, {in_vram}),
            *c = create_in(fg, 2, {in_vram});
    lock(a);
    add_fence(b, make_fence(5), dma_resv_usage::bookkeep);
    ctx.no_wait_gpu = false;

    test_bo *d = create_in(fg, 1, {in_vram});
    ASSERT_NE(d, nullptr) << last_error;
    EXPECT_EQ(where(other), TTM_PL_VRAM); // would not help
    EXPECT_EQ(where(a), TTM_PL_VRAM);     // locked
    EXPECT_EQ(pages_of(fg), 4u);

    // With every one of its own in the way: no space, and no -EAGAIN.
    for (test_bo *bo : {b, c, d})
        lock(bo);
    test_bo *e = create_in(fg, 1, {in_vram});
    EXPECT_EQ(e, nullptr);
    EXPECT_EQ(last_error, -ENOMEM);
    e = create_in(fg, 1, {in_vram, in_gtt});
    EXPECT_EQ(where(e), TTM_PL_TT);
    EXPECT_EQ(pages_of(fg), 4u);
    for (test_bo *bo : {a, b, c, d})
        unlock(bo);
    // Larger than the maximum at all.
    EXPECT_EQ(create_in(fg, 5, {in_vram}), nullptr);
    EXPECT_EQ(last_error, -ENOMEM);
    EXPECT_EQ(where(other), TTM_PL_VRAM);
    for (const events::event &ev : log.events())
        EXPECT_FALSE(ev.type == event_type::validate && ev.error == -EAGAIN);
    destroy_all({other, a, b, c, d, e});
    EXPECT_EQ(pages_of(fg), 0u);
    EXPECT_EQ(pages_of(bg), 0u);
}

// Then the first pass evicts nothing at all, and the low protection has to give way.
TEST_F(evict_cgroup_test, lowering_the_maximum_reclaims_what_is_protected)
{
    dmem_cgroup_set_low(*region, user, 8 * PAGE_SIZE);
    dmem_cgroup_set_low(*region, game, 8 * PAGE_SIZE);
    test_bo *a = create_in(game, 4, {in_vram}), *b = create_in(game, 4, {in_vram});
    dmem_cgroup_set_max(*region, user, 4 * PAGE_SIZE);
    EXPECT_EQ(pages_of(user), 4u);
    EXPECT_EQ(where(a), TTM_PL_TT);
    EXPECT_EQ(where(b), TTM_PL_VRAM);
    destroy_all({a, b});
}

TEST_F(evict_cgroup_test, lowering_the_maximum_reclaims)
{
    test_bo *other = create_in(bg, 2, {in_vram});
    test_bo *a = create_in(fg, 2, {in_vram}), *b = create_in(fg, 2, {in_vram}),
            *c = create_in(fg, 2, {in_vram});
    dmem_cgroup_set_max(*region, fg, 3 * PAGE_SIZE);
    EXPECT_EQ(pages_of(fg), 2u);
    EXPECT_EQ(where(a), TTM_PL_TT);
    EXPECT_EQ(where(b), TTM_PL_TT);
    EXPECT_EQ(where(c), TTM_PL_VRAM);
    EXPECT_EQ(where(other), TTM_PL_VRAM);
    destroy_all({other, a, b, c});
}

TEST_F(evict_cgroup_test, every_charge_goes_with_its_resource)
{
    dmem_cgroup_set_max(*region, fg, 6 * PAGE_SIZE);
    async_copies = true;
    test_bo *a = create_in(fg, 4, {in_vram});
    EXPECT_EQ(pages_of(fg), 4u);
    dmem_cgroup_current = &bg; // who evicts is not charged
    test_bo *b = create(8, {in_vram});
    EXPECT_EQ(pages_of(fg), 0u);
    EXPECT_EQ(pages_of(bg), 8u);
    EXPECT_EQ(validate(a, {in_vram}), 0); // charged to whoever brings it back
    EXPECT_EQ(pages_of(bg), 4u);
    EXPECT_EQ(where(b), TTM_PL_TT);
    dmem_cgroup_current = nullptr;
    signal_all();
    destroy_all({a, b});
    ttm_device_reap(&bdev);
    EXPECT_EQ(pages_of(bg), 0u);
}

} // namespace
} // namespace vramlab::kmd::test
