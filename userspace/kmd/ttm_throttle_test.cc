// SPDX-License-Identifier: MIT
// Who is throttled, for how long, and from what.
#include "kmd/ttm_test_gpu.h"

namespace vramlab::kmd::test {
namespace {

class throttle_test : public gpu_test {
protected:
    throttle_test() : gpu_test(8, 64)
    {
        bdev.mechanisms.throttle = true;
        bdev.mechanisms.throttle_strong_ns = 10;
        bdev.mechanisms.throttle_weak_ns = 100;
        vram.use_throttle = true;
    }
    test_bo *create_for(ttm_throttle &owner, u64 pages, std::vector<ttm_place> places)
    {
        ctx.throttle = &owner;
        test_bo *bo = create(pages, std::move(places));
        if (bo)
            bo->throttle = &owner;
        return bo;
    }
    int validate_for(ttm_throttle &owner, test_bo *bo, std::vector<ttm_place> places)
    {
        ctx.throttle = &owner;
        return validate(bo, std::move(places));
    }
    ttm_throttle_phase phase(const ttm_throttle &t) const { return ttm_throttle_phase_of(&bdev, &t); }

    ttm_throttle game, other;
};

TEST_F(throttle_test, phases_follow_an_eviction_by_another)
{
    now_ns = 1000;
    test_bo *victim = create_for(game, 8, {in_vram});
    EXPECT_EQ(phase(game), ttm_throttle_phase::normal);
    test_bo *bo = create_for(other, 4, {in_vram});
    EXPECT_EQ(where(victim), TTM_PL_TT);
    EXPECT_EQ(phase(other), ttm_throttle_phase::normal);
    for (const auto &[ns, expected] : {std::pair{1000, ttm_throttle_phase::strong},
                                       {1009, ttm_throttle_phase::strong},
                                       {1010, ttm_throttle_phase::weak},
                                       {1109, ttm_throttle_phase::weak},
                                       {1110, ttm_throttle_phase::normal}}) {
        now_ns = static_cast<u64>(ns);
        EXPECT_EQ(phase(game), expected) << ns;
    }
    EXPECT_EQ(ttm_throttle_phase_of(&bdev, nullptr), ttm_throttle_phase::normal);
    bdev.mechanisms.throttle = false;
    now_ns = 1000;
    EXPECT_EQ(phase(game), ttm_throttle_phase::normal);
    destroy(victim);
    destroy(bo);
}

TEST_F(throttle_test, who_evicts_its_own_is_not_throttled_but_reclaim_throttles)
{
    test_bo *a = create_for(game, 8, {in_vram});
    test_bo *b = create_for(game, 4, {in_vram});
    EXPECT_EQ(where(a), TTM_PL_TT);
    EXPECT_EQ(phase(game), ttm_throttle_phase::normal);
    ttm_operation_ctx reclaim;
    EXPECT_EQ(ttm_bo_evict_first(&bdev, &vram, &reclaim), 0);
    EXPECT_EQ(where(b), TTM_PL_TT);
    EXPECT_EQ(phase(game), ttm_throttle_phase::strong);
    ttm_throttle_reset(game);
    EXPECT_EQ(phase(game), ttm_throttle_phase::normal);
    destroy(a);
    destroy(b);
}

TEST_F(throttle_test, an_eviction_from_gtt_throttles_nobody)
{
    test_bo *a = create_for(game, 8, {in_gtt});
    ttm_operation_ctx reclaim;
    EXPECT_EQ(ttm_bo_evict_first(&bdev, &gtt, &reclaim), 0);
    EXPECT_EQ(where(a), TTM_PL_SYSTEM);
    EXPECT_EQ(phase(game), ttm_throttle_phase::normal);
    destroy(a);
}

// In the strong phase nothing moves that is in one of its places, though VRAM is free; in the weak one it
// moves into what is free; then it evicts again.
TEST_F(throttle_test, what_each_phase_allows)
{
    test_bo *bo = create_for(game, 4, {in_gtt});
    test_bo *full = create_for(other, 4, {in_vram});
    game.evicted = true;
    game.evicted_at_ns = now_ns = 1000;
    EXPECT_EQ(validate_for(game, bo, {in_vram, in_gtt_fallback}), 0);
    EXPECT_EQ(where(bo), TTM_PL_TT);
    now_ns = 1010;
    EXPECT_EQ(validate_for(game, bo, {in_vram, in_gtt_fallback}), 0);
    EXPECT_EQ(where(bo), TTM_PL_VRAM);

    EXPECT_EQ(validate_for(game, bo, {in_gtt}), 0);
    test_bo *rest = create_for(other, 4, {in_vram});
    EXPECT_EQ(validate_for(game, bo, {in_vram_desired, in_gtt}), 0);
    EXPECT_EQ(where(bo), TTM_PL_TT);
    EXPECT_EQ(where(full), TTM_PL_VRAM);
    destroy(bo);
    destroy(full);
    destroy(rest);
}

TEST_F(throttle_test, what_must_be_in_vram_is_exempt)
{
    test_bo *bo = create_for(game, 4, {in_gtt});
    test_bo *full = create_for(other, 8, {in_vram});
    game.evicted = true;
    game.evicted_at_ns = now_ns = 1000;
    EXPECT_EQ(validate_for(game, bo, {in_vram}), 0);
    EXPECT_EQ(where(bo), TTM_PL_VRAM);
    EXPECT_EQ(where(full), TTM_PL_TT);
    EXPECT_EQ(phase(other), ttm_throttle_phase::strong);
    destroy(bo);
    destroy(full);
}

} // namespace
} // namespace vramlab::kmd::test
