// SPDX-License-Identifier: MIT
// Does a program that has lost memory to others leave them alone for as long as it is told, and lose nothing
// by that when nobody competes? Runs in the guest.
#include "tests/vttm_virtual.h"

namespace vramlab::tests {
namespace {

// A game loses a BO to a rival that fills VRAM; the rival's memory stays, or goes at once.
class vttm_throttle : public virtual_test {
protected:
    void SetUp() override
    {
        set_up(40 * MiB);
        strong_ms = number_of("throttle_strong_ms");
        weak_ms = number_of("throttle_weak_ms");
    }
    // The game's BO, evicted; strong until lost_at + strong_ms.
    void lose(u32 flags)
    {
        game = &open();
        rival = &open();
        bo = game->create(12 * MiB, flags);
        ASSERT_TRUE(game->in_vram(bo));
        rivals = rival->create_many(9, 36 * MiB);
        ASSERT_FALSE(game->in_vram(bo));
        private_bo = flags & DRM_VTTM_GEM_VM_PRIVATE;
        lost_at = now();
    }
    // Asks for the BO; is it in VRAM then?
    bool wins_back()
    {
        EXPECT_EQ(game->file.submit(private_bo ? std::vector<u32>{} : std::vector<u32>{bo}), 0);
        return game->in_vram(bo);
    }
    u64 after_strong() const { return lost_at + strong_ms * ns_per_ms; }
    u64 after_weak() const { return after_strong() + weak_ms * ns_per_ms; }

    u64 strong_ms = 0, weak_ms = 0, lost_at = 0;
    client *game = nullptr, *rival = nullptr;
    u32 bo = 0;
    bool private_bo = false;
    std::vector<u32> rivals;
};

class vttm_throttle_kinds : public vttm_throttle, public testing::WithParamInterface<u32> {};

TEST_P(vttm_throttle_kinds, in_the_strong_phase_nothing_moves_even_into_free_memory)
{
    lose(GetParam());
    EXPECT_EQ(throttle_of(*game).evicted_ns, lost_at);
    EXPECT_EQ(throttle_of(*rival).evicted_ns, std::nullopt) << "it has lost nothing";
    rival->close_all(rivals);
    EXPECT_FALSE(wins_back());
    advance_to(after_strong() - 1);
    EXPECT_FALSE(wins_back());
    EXPECT_EQ(throttle_of(*game).displaced.size(), private_bo ? 1u : 0u);
    advance_to(after_strong());
    EXPECT_TRUE(wins_back());
    EXPECT_TRUE(throttle_of(*game).displaced.empty());
}

TEST_P(vttm_throttle_kinds, in_the_weak_phase_nobody_is_evicted)
{
    lose(GetParam());
    const u64 before = evictions();
    for (u64 time : {after_strong(), after_strong() + 1, after_weak() - 1}) {
        advance_to(time);
        EXPECT_FALSE(wins_back());
    }
    EXPECT_EQ(rival->count_in_vram(rivals), rivals.size());
    EXPECT_EQ(evictions(), before);
    // What comes free meanwhile is taken.
    ASSERT_EQ(rival->file.close_handle(rivals.front()), 0);
    ASSERT_EQ(rival->file.close_handle(rivals.back()), 0);
    EXPECT_TRUE(wins_back());
    EXPECT_EQ(evictions(), before);
}

INSTANTIATE_TEST_SUITE_P(bo, vttm_throttle_kinds, testing::Values(0u, u32{DRM_VTTM_GEM_VM_PRIVATE}),
                         [](const auto &p) { return std::string(p.param ? "private" : "shared"); });

TEST_F(vttm_throttle, after_the_weak_phase_it_competes_again)
{
    lose(0);
    advance_to(after_weak() - 1);
    EXPECT_FALSE(wins_back());
    advance_to(after_weak());
    EXPECT_TRUE(wins_back());
    // It had to evict for that, so now the other one waits.
    EXPECT_LT(rival->count_in_vram(rivals), rivals.size());
    EXPECT_EQ(throttle_of(*rival).evicted_ns, after_weak());
    const u64 before = evictions();
    EXPECT_EQ(rival->file.submit(rivals), 0);
    EXPECT_EQ(evictions(), before);
    EXPECT_TRUE(game->in_vram(bo));
}

TEST_F(vttm_throttle, a_further_loss_starts_over)
{
    lose(0);
    for (u32 i = 0; i < 3; i++, rivals.pop_back())
        ASSERT_EQ(rival->file.close_handle(rivals.back()), 0);
    sleep_ms(1); // until their fills are over
    const u32 second = game->create(12 * MiB);
    ASSERT_TRUE(game->in_vram(second));
    ASSERT_EQ(rival->file.submit(rivals), 0); // so that the game's is the oldest
    advance_to(after_strong() + 1);
    rivals.push_back(rival->create(9 * MiB));
    ASSERT_FALSE(game->in_vram(second));
    lost_at = now();
    EXPECT_EQ(throttle_of(*game).evicted_ns, lost_at);
    rival->close_all(rivals);
    advance_to(after_strong() - 1);
    EXPECT_FALSE(wins_back());
    advance_to(after_strong());
    EXPECT_TRUE(wins_back());
}

// The reason for all of it: two programs with frames of a millisecond and 120 % of VRAM between them.
TEST_F(vttm_throttle, two_programs_do_not_take_turns_in_evicting_each_other)
{
    client &one = open(), &two = open();
    const std::vector<u32> ones = one.create_many(6, 24 * MiB), twos = two.create_many(6, 24 * MiB);
    ASSERT_EQ(one.file.submit(ones), 0);
    ASSERT_EQ(two.file.submit(twos), 0);
    const u64 before = evictions(), moved = control_.info().bytes_moved;
    for (u32 frame = 0; frame + 2 < strong_ms; frame++) {
        EXPECT_EQ(one.file.submit(ones), 0);
        EXPECT_EQ(two.file.submit(twos), 0);
        sleep_ms(1);
    }
    EXPECT_EQ(evictions(), before);
    EXPECT_EQ(control_.info().bytes_moved, moved);
    EXPECT_GE(one.count_in_vram(ones) + two.count_in_vram(twos), 9u) << "and memory is full";
}

// ---- what the mechanism must leave as it is, on and off

TEST_F(vttm_throttle, who_is_alone_is_never_throttled)
{
    client &alone = open();
    const std::vector<u32> bos = alone.create_many(15, 60 * MiB);
    for (u32 frame = 0; frame < 10; frame++) {
        for (std::size_t first : {0, 5}) {
            const std::vector<u32> some(bos.begin() + static_cast<s64>(first),
                                        bos.begin() + static_cast<s64>(first + 10));
            EXPECT_EQ(alone.file.submit(some), 0);
            EXPECT_EQ(alone.count_in_vram(some), some.size());
        }
        sleep_ms(1);
    }
    EXPECT_GT(evictions(), 10u) << "its own";
    EXPECT_EQ(throttle_of(alone).evicted_ns, std::nullopt);
}

TEST_F(vttm_throttle, what_only_vram_can_hold_waits_for_no_phase)
{
    lose(0);
    const u32 wanted = game->create(8 * MiB, 0, DRM_VTTM_PRIORITY_DEFAULT, true);
    EXPECT_TRUE(game->in_vram(wanted));
    EXPECT_EQ(rival->file.submit(rivals), 0);
    EXPECT_EQ(game->file.submit({wanted}), 0);
    EXPECT_TRUE(game->in_vram(wanted));
    EXPECT_EQ(game->file.pin(bo), 0) << "scanout";
    EXPECT_TRUE(game->in_vram(bo));
    EXPECT_EQ(game->file.pin(bo, DRM_VTTM_PIN_UNPIN), 0);
}

TEST_F(vttm_throttle, it_keeps_what_it_has)
{
    game = &open();
    rival = &open();
    const std::vector<u32> bos = game->create_many(8, 32 * MiB);
    const u32 rivals_bo = rival->create(16 * MiB);
    const u32 left = game->count_in_vram(bos);
    ASSERT_EQ(left, 6u);
    for (u64 ms = 0; ms < strong_ms + weak_ms; ms += 10) {
        EXPECT_EQ(game->file.submit(bos), 0);
        EXPECT_GE(game->count_in_vram(bos), left);
        sleep_ms(10);
    }
    EXPECT_NE(rivals_bo, 0u);
}

TEST_F(vttm_throttle, evicting_all_forgets_who_took_what)
{
    lose(0);
    rival->close_all(rivals);
    ASSERT_EQ(control_.lab(DRM_VTTM_LAB_EVICT_ALL), 0);
    EXPECT_EQ(throttle_of(*game).evicted_ns, std::nullopt);
    EXPECT_TRUE(wins_back());
}

} // namespace
} // namespace vramlab::tests
