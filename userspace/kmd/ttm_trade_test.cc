// SPDX-License-Identifier: MIT
// Priorities within bulk moves: who leaves first, and who may push out whom?
#include "kmd/ttm_bulk_priority_fixture.h"

namespace vramlab::kmd::test {
namespace {

using trade_test = bulk_priority_test;

// Another's eviction takes the lowest first, then who came first; without the mechanism only that counts.
TEST_F(trade_test, others_evict_from_the_lowest_priority_up)
{
    for (const bool on : {true, false}) {
        bdev.mechanisms.priority = on;
        for (u32 priority : {9u, 3u, 7u, 3u, 0u, 15u})
            create_in(priority);
        test_bo *a = bos[0], *b = bos[1], *c = bos[2], *d = bos[3], *e = bos[4], *f = bos[5];
        const std::vector<test_bo *> expected =
            on ? std::vector{e, b, d, c, a, f} : std::vector{a, b, c, d, e, f};
        std::vector<test_bo *> others;
        for (int i = 0; i < 2; i++)
            others.push_back(create(8, {in_vram})); // VRAM is full
        dma_resv_lock(resv, nullptr);
        ttm_lru_bulk_move_tail(&bulk[0]); // the others are older now
        dma_resv_unlock(resv);
        for (test_bo *other : others)
            destroy(other);
        signal_all();
        for (int i = 0; i < 2; i++)
            others[static_cast<std::size_t>(i)] = create(8, {in_vram});
        for (test_bo *gone : expected) {
            EXPECT_EQ(where(gone), TTM_PL_VRAM) << gone->tag;
            others.push_back(create(8, {in_vram}));
            EXPECT_EQ(where(gone), TTM_PL_TT) << gone->tag;
        }
        for (test_bo *other : others)
            destroy(other);
        clear();
        signal_all();
    }
}

// Priorities decide within a bulk move only: another VM's range that was used longer ago goes first.
TEST_F(trade_test, a_high_priority_buys_nothing_from_others)
{
    test_bo *mine = create_in(15, in_vram, 32);
    test_bo *theirs = create(32, {in_vram});
    lock(theirs);
    ttm_bo_set_bulk_priority(theirs, 0);
    ttm_bo_set_bulk_move(theirs, &bulk[1]);
    unlock(theirs);
    bos.push_back(theirs);
    EXPECT_EQ(lru(TTM_PL_VRAM), "1 2");
    test_bo *next = create(32, {in_vram});
    EXPECT_EQ(where(mine), TTM_PL_TT);
    EXPECT_EQ(where(theirs), TTM_PL_VRAM);
    destroy(next);
}

TEST_F(trade_test, a_bo_pushes_out_lower_ones_beside_it_only)
{
    test_bo *high = create_in(9, in_vram, 32);
    test_bo *low = create_in(3, in_vram, 32);
    test_bo *equal = create_in(3, in_gtt, 32);
    test_bo *middle = create_in(5, in_gtt, 32);
    EXPECT_EQ(trade(equal), -ENOMEM);
    EXPECT_EQ(where(low), TTM_PL_VRAM);
    EXPECT_EQ(trade(middle), 0);
    EXPECT_EQ(where(middle), TTM_PL_VRAM);
    EXPECT_EQ(where(low), TTM_PL_TT);
    EXPECT_EQ(trade(low), -ENOMEM); // not back: there is an end to it
    EXPECT_EQ(where(high), TTM_PL_VRAM);
}

TEST_F(trade_test, without_the_mechanism_nobody_trades)
{
    bdev.mechanisms.priority = false;
    test_bo *low = create_in(3, in_vram, 64);
    test_bo *high = create_in(15, in_gtt, 32);
    EXPECT_EQ(trade(high), -ENOMEM);
    EXPECT_EQ(where(low), TTM_PL_VRAM);
}

// What shares the resv but not the bulk move (another VM's, or none) is not in question.
TEST_F(trade_test, another_bulk_move_is_out_of_reach)
{
    test_bo *low = create_in(0, in_vram, 32);
    test_bo *none = create(32, {in_vram}, &resv);
    test_bo *high = create_in(15, in_gtt, 64);
    dma_resv_lock(resv, nullptr);
    ttm_bo_set_bulk_move(low, &bulk[1]);
    dma_resv_unlock(resv);
    EXPECT_EQ(trade(high), -ENOMEM);
    EXPECT_EQ(where(low), TTM_PL_VRAM);
    EXPECT_EQ(where(none), TTM_PL_VRAM);
    destroy(none);
}

// Pinned BOs and those with a fence: a pin is a pin, a fence is waited for by whoever uses the memory next.
TEST_F(trade_test, what_is_pinned_stays)
{
    test_bo *low = create_in(0, in_vram, 64);
    test_bo *high = create_in(15, in_gtt, 32);
    dma_resv_lock(resv, nullptr);
    ttm_bo_pin(low);
    dma_resv_unlock(resv);
    EXPECT_EQ(trade(high), -ENOMEM);
    dma_resv_lock(resv, nullptr);
    ttm_bo_unpin(low);
    ttm_lru_bulk_move_tail(&bulk[0]); // only that brings the only one back to the LRU list
    dma_resv_unlock(resv);
    EXPECT_EQ(trade(high), 0);
    EXPECT_EQ(where(low), TTM_PL_TT);
}

} // namespace
} // namespace vramlab::kmd::test
