// SPDX-License-Identifier: MIT
// A walk begins behind what its ticket has locked, if it knows how far that goes and nobody hears of it. Does
// it know when that is no longer so? Each case runs with and without somebody who hears.
#include "kmd/ttm_test_gpu.h"

namespace vramlab::kmd::test {
namespace {

// VRAM is full of a to h, a page each. The ticket holds a, b and c, and x and y, which are in GTT. x comes to
// VRAM and evicts d, so that a to c are known.
class passed_test : public gpu_test, public testing::WithParamInterface<bool> {
protected:
    passed_test() : gpu_test(8, 64) { trace.skipped = GetParam(); }
    ~passed_test() override { trace.skipped = true; }

    void SetUp() override { ww_acquire_init(ticket); }
    void TearDown() override
    {
        while (!locked.empty())
            unlock_last();
        ww_acquire_fini(ticket);
        for (test_bo *bo : bos)
            destroy(bo);
        signal_all();
        ttm_device_reap(&bdev);
    }
    test_bo *make(ttm_place place, dma_resv *resv = nullptr)
    {
        bos.push_back(create(1, {place}, resv));
        return bos.back();
    }
    void fill()
    {
        for (test_bo **bo : {&a, &b, &c, &d, &e, &f, &g, &h})
            *bo = make(in_vram);
    }
    void lock_with_ticket(dma_resv &resv)
    {
        ASSERT_EQ(dma_resv_lock(resv, &ticket), 0);
        locked.push_back(&resv);
    }
    void unlock_last()
    {
        dma_resv_unlock(*locked.back());
        locked.pop_back();
    }
    test_bo *incoming()
    {
        test_bo *bo = make(in_gtt);
        lock_with_ticket(*bo->resv);
        return bo;
    }
    void use(test_bo *bo)
    {
        lock(bo);
        ttm_bo_unreserve(bo);
    }
    int to_vram(test_bo *bo) { return validate_locked(bo, {in_vram}); }
    void begin()
    {
        fill();
        x = incoming();
        y = incoming();
        for (test_bo *bo : {a, b, c})
            lock_with_ticket(*bo->resv);
        ASSERT_EQ(to_vram(x), 0);
        ASSERT_EQ(lru(TTM_PL_VRAM), "1 2 3 5 6 7 8 9");
        EXPECT_EQ(vram.passed[0].last != nullptr, !GetParam());
    }

    ww_acquire_ctx ticket;
    std::vector<dma_resv *> locked; // last of them first to be unlocked
    std::vector<test_bo *> bos;
    test_bo *a = nullptr, *b = nullptr, *c = nullptr, *d = nullptr, *e = nullptr, *f = nullptr, *g = nullptr,
            *h = nullptr, *x = nullptr, *y = nullptr;
};

INSTANTIATE_TEST_SUITE_P(walk, passed_test, testing::Bool(),
                         [](const auto &p) { return p.param ? "heard" : "unheard"; });

TEST_P(passed_test, the_next_one_behind_is_evicted)
{
    begin();
    EXPECT_EQ(to_vram(y), 0);
    EXPECT_EQ(lru(TTM_PL_VRAM), "1 2 3 6 7 8 9 10");
    EXPECT_EQ(where(e), TTM_PL_TT);
}

TEST_P(passed_test, what_the_ticket_has_released_is_looked_at_again)
{
    begin();
    unlock_last(); // c
    EXPECT_EQ(to_vram(y), 0);
    EXPECT_EQ(where(c), TTM_PL_TT);
    EXPECT_EQ(where(e), TTM_PL_VRAM);
}

TEST_P(passed_test, the_last_of_them_is_used_again)
{
    begin();
    ttm_bo_move_to_lru_tail(c);
    use(e); // comes behind it
    EXPECT_EQ(to_vram(y), 0);
    EXPECT_EQ(lru(TTM_PL_VRAM), "1 2 7 8 9 3 5 10");
}

TEST_P(passed_test, the_last_of_them_is_pinned)
{
    begin();
    ttm_bo_pin(c);
    EXPECT_EQ(to_vram(y), 0);
    EXPECT_EQ(lru(TTM_PL_VRAM), "1 2 6 7 8 9 10");
    ttm_bo_unpin(c);
}

TEST_P(passed_test, the_last_of_them_leaves)
{
    begin();
    EXPECT_EQ(validate_locked(c, {in_gtt}), 0);
    EXPECT_EQ(to_vram(y), 0); // in its place
    EXPECT_EQ(where(e), TTM_PL_VRAM);
    EXPECT_EQ(to_vram(incoming()), 0);
    EXPECT_EQ(lru(TTM_PL_VRAM), "1 2 6 7 8 9 10 11");
}

TEST_P(passed_test, the_last_of_them_loses_its_memory)
{
    begin();
    EXPECT_EQ(validate_locked(c, {}), 0);
    EXPECT_EQ(to_vram(y), 0);
    EXPECT_EQ(to_vram(incoming()), 0);
    EXPECT_EQ(lru(TTM_PL_VRAM), "1 2 6 7 8 9 10 11");
}

TEST_P(passed_test, one_of_them_leaves_a_ghost_behind)
{
    begin();
    async_copies = true;
    EXPECT_EQ(validate_locked(b, {in_gtt}), 0);
    ASSERT_EQ(lru(TTM_PL_VRAM), "1 3 5 6 7 8 9 g1");
    EXPECT_EQ(to_vram(y), 0);
    EXPECT_EQ(lru(TTM_PL_VRAM), "1 3 6 7 8 9 g1 10");
}

TEST_P(passed_test, one_of_them_is_deleted_and_is_its_own)
{
    dma_resv vm;
    test_bo *p = create(1, {in_vram}, &vm);
    for (int i = 0; i < 7; i++)
        make(in_vram);
    x = incoming();
    y = incoming();
    lock_with_ticket(vm);
    ASSERT_EQ(to_vram(x), 0);
    ASSERT_EQ(dma_resv_reserve_fences(vm, 1), 0);
    dma_fence *const busy = make_fence(7);
    dma_resv_add_fence(vm, *busy, dma_resv_usage::bookkeep);
    ASSERT_EQ(lru(TTM_PL_VRAM), "1 3 4 5 6 7 8 9");
    destroy(p);
    ASSERT_EQ(lru(TTM_PL_VRAM), "z1 3 4 5 6 7 8 9");
    EXPECT_EQ(to_vram(y), 0);
    EXPECT_EQ(lru(TTM_PL_VRAM), "3 4 5 6 7 8 9 10");
    unlock_last(); // vm goes
}

TEST_P(passed_test, a_bulk_move_takes_them_to_the_tail)
{
    dma_resv vm;
    ttm_lru_bulk_move bulk;
    ttm_lru_bulk_move_init(&bulk);
    test_bo *p = create(1, {in_vram}, &vm), *q = create(1, {in_vram}, &vm);
    bulk_move(p, &bulk);
    bulk_move(q, &bulk);
    for (int i = 0; i < 6; i++)
        make(in_vram);
    x = incoming();
    y = incoming();
    lock_with_ticket(vm);
    ASSERT_EQ(to_vram(x), 0);
    ASSERT_EQ(lru(TTM_PL_VRAM), "1 2 4 5 6 7 8 9");
    ttm_lru_bulk_move_tail(&bulk);
    use(bos[1]); // comes behind them
    ASSERT_EQ(lru(TTM_PL_VRAM), "5 6 7 8 9 1 2 4");
    EXPECT_EQ(to_vram(y), 0);
    EXPECT_EQ(lru(TTM_PL_VRAM), "6 7 8 9 1 2 4 10");
    unlock_last();
    for (test_bo *bo : {p, q}) {
        bulk_move(bo, nullptr);
        destroy(bo);
    }
}

// Another ticket at the same address, with other locks.
TEST_P(passed_test, another_ticket_knows_nothing)
{
    begin();
    while (!locked.empty())
        unlock_last();
    ww_acquire_fini(ticket);
    ww_acquire_init(ticket);
    lock_with_ticket(*y->resv);
    EXPECT_EQ(to_vram(y), 0);
    EXPECT_EQ(where(a), TTM_PL_TT);
}

} // namespace
} // namespace vramlab::kmd::test
