// SPDX-License-Identifier: MIT
// Are the limits of the dmem controller kept, whatever mechanism is at work, in nested cgroups too? Runs in
// the guest.
#include "backend/kernel_backend_cgroup.h"
#include "tests/vttm_virtual.h"

namespace vramlab::tests {
namespace {

constexpr char region[] = "drm/vttm/vram";
constexpr u64 vram_size = 40 * MiB;
constexpr u64 bo_size = 4 * MiB;
constexpr u64 no_limit = ~u64{0};

// 40 MiB of VRAM, in BOs of 4 MiB. What is created is charged to the cgroup that the process is in then.
// Below the root itself nothing is protected, so all groups are in "all".
class dmem_test : public virtual_test {
protected:
    void SetUp() override
    {
        set_up(vram_size);
        if (IsSkipped())
            return;
        groups_ = std::make_unique<backend::dmem_cgroups>(region);
    }
    void TearDown() override
    {
        close_clients();
        if (groups_)
            groups_->attach(getpid(), "");
        groups_.reset();
        virtual_test::TearDown();
    }
    void use_groups(std::vector<cgroup_config> groups)
    {
        names_ = std::move(groups);
        groups_->set_up(names_);
    }
    void enter(const char *group) { groups_->attach(getpid(), group); }
    u64 mib_of(const char *group)
    {
        for (std::size_t i = 0; i < names_.size(); i++)
            if (names_[i].path == group)
                return groups_->current(i) / MiB;
        ADD_FAILURE() << "no group " << group;
        return 0;
    }
    // BOs of a client in a group.
    std::vector<u32> create_in(const char *group, client &c, u64 mib)
    {
        enter(group);
        return c.create_many(static_cast<u32>(mib * MiB / bo_size), mib * MiB);
    }
    std::unique_ptr<backend::dmem_cgroups> groups_;

private:
    std::vector<cgroup_config> names_;
};

// Mainline, each mechanism alone, and all of them.
class vttm_dmem : public dmem_test, public testing::WithParamInterface<const char *> {
protected:
    void SetUp() override
    {
        dmem_test::SetUp();
        if (IsSkipped())
            return;
        const std::string_view wanted = GetParam();
        for (const char *name : all_switches)
            ASSERT_TRUE(set_switch(name, wanted == "all" || wanted == name));
    }
    // Whoever is throttled doesn't try.
    void sleep_until_normal() { sleep_ms(number_of("throttle_strong_ms") + number_of("throttle_weak_ms")); }
    // A rival takes what it can get, by creation, by submission and for scanout.
    void compete(client &rival, const char *group)
    {
        const std::vector<u32> wanted = create_in(group, rival, 40);
        for (u32 round = 0; round < 3; round++) {
            EXPECT_EQ(rival.file.submit(wanted), 0);
            sleep_until_normal();
        }
        for (u32 image : {wanted[0], wanted[5]}) {
            EXPECT_EQ(rival.file.pin(image), 0);
            EXPECT_EQ(rival.file.pin(image, DRM_VTTM_PIN_UNPIN), 0);
        }
        // More than there is besides what the game is promised.
        const u32 large = rival.create(28 * MiB, 0, DRM_VTTM_PRIORITY_DEFAULT, true);
        if (large) {
            EXPECT_EQ(rival.file.close_handle(large), 0);
        }
        sleep_ms(1);
    }
};

INSTANTIATE_TEST_SUITE_P(mechanism, vttm_dmem,
                         testing::Values("none", "exec_retry", "throttle", "bo_priority", "contig_range",
                                         "all"),
                         [](const auto &p) { return std::string(p.param); });

TEST_P(vttm_dmem, min_is_never_evicted)
{
    use_groups({{"all"}, {"all/game", 16 * MiB}, {"all/rival"}});
    client &game = open(), &rival = open();
    const std::vector<u32> games = create_in("all/game", game, 16);
    compete(rival, "all/rival");
    EXPECT_EQ(game.count_in_vram(games), games.size());
    EXPECT_EQ(mib_of("all/game"), 16u);
}

TEST_P(vttm_dmem, what_exceeds_min_is_evicted)
{
    use_groups({{"all"}, {"all/game", 16 * MiB}, {"all/rival"}});
    client &game = open(), &rival = open();
    create_in("all/game", game, 32);
    compete(rival, "all/rival");
    EXPECT_EQ(mib_of("all/game"), 16u);
}

// The outer group has 12 MiB, however much is promised within.
TEST_P(vttm_dmem, a_nested_min_is_no_more_than_the_outer_one)
{
    use_groups(
        {{"all"}, {"all/user", 12 * MiB}, {"all/user/game", 32 * MiB}, {"all/user/shell"}, {"all/rival"}});
    client &game = open(), &rival = open();
    create_in("all/user/game", game, 32);
    compete(rival, "all/rival");
    EXPECT_EQ(mib_of("all/user/game"), 12u);
}

// Between the two of them the outer group counts for nothing, and the game's own min does.
TEST_P(vttm_dmem, between_siblings_their_own_min_counts)
{
    use_groups({{"all"}, {"all/user"}, {"all/user/game", 16 * MiB}, {"all/user/shell"}});
    client &game = open(), &shell = open();
    const std::vector<u32> games = create_in("all/user/game", game, 16);
    compete(shell, "all/user/shell");
    EXPECT_EQ(game.count_in_vram(games), games.size());
}

TEST_P(vttm_dmem, low_is_the_last_resort)
{
    use_groups({{"all"}, {"all/game", 0, 16 * MiB}, {"all/other"}, {"all/rival"}});
    client &game = open(), &other = open(), &rival = open();
    const std::vector<u32> games = create_in("all/game", game, 16); // first in the LRU
    const std::vector<u32> others = create_in("all/other", other, 24);
    enter("all/rival");
    // What must be in VRAM takes from the others, though they come later, and then from the game.
    const u32 first = rival.create(24 * MiB, 0, DRM_VTTM_PRIORITY_DEFAULT, true);
    EXPECT_EQ(game.count_in_vram(games), games.size());
    EXPECT_EQ(other.count_in_vram(others), 0u);
    const u32 second = rival.create(4 * MiB, 0, DRM_VTTM_PRIORITY_DEFAULT, true);
    EXPECT_EQ(game.count_in_vram(games), games.size()) << "the rival's own comes before";
    EXPECT_EQ(rival.file.submit({first, second}), 0);
    EXPECT_EQ(game.count_in_vram(games), games.size() - 1);
}

TEST_P(vttm_dmem, a_lowered_max_evicts_its_own)
{
    use_groups({{"all"}, {"all/game"}, {"all/other"}});
    client &game = open(), &other = open();
    create_in("all/game", game, 20);
    const std::vector<u32> others = create_in("all/other", other, 16);
    EXPECT_EQ(groups_->set_limits({"all/game", 0, 0, 8 * MiB}), 0);
    EXPECT_EQ(mib_of("all/game"), 8u);
    EXPECT_EQ(other.count_in_vram(others), others.size());
    // And it stays there.
    enter("all/game");
    EXPECT_EQ(game.count_in_vram(game.create_many(3, 12 * MiB)), 2u);
    EXPECT_EQ(mib_of("all/game"), 8u);
    EXPECT_EQ(other.count_in_vram(others), others.size());
}

// Protection entitles to evict, but nobody who has just lost memory: that is how two programs take turns.
class vttm_dmem_throttle : public dmem_test {
protected:
    // Somebody's scanout needs what the protected game has. Then that is unpinned.
    void lose()
    {
        use_groups({{"all"}, {"all/game", 0, 40 * MiB}, {"all/rival"}});
        game = &open();
        rival = &open();
        enter("all/game");
        bo = game->create(36 * MiB);
        ASSERT_TRUE(game->in_vram(bo));
        enter("all/rival");
        image = rival->create(16 * MiB);
        ASSERT_EQ(rival->file.pin(image), 0);
        ASSERT_EQ(rival->file.pin(image, DRM_VTTM_PIN_UNPIN), 0);
        ASSERT_FALSE(game->in_vram(bo));
        enter("all/game");
    }
    client *game = nullptr, *rival = nullptr;
    u32 bo = 0, image = 0;
};

TEST_F(vttm_dmem_throttle, protection_waits_for_the_weak_phase_to_end)
{
    lose();
    sleep_ms(number_of("throttle_strong_ms") + number_of("throttle_weak_ms") - 1);
    EXPECT_EQ(game->file.submit({bo}), 0);
    EXPECT_FALSE(game->in_vram(bo));
    EXPECT_TRUE(rival->in_vram(image));
    sleep_ms(1);
    EXPECT_EQ(game->file.submit({bo}), 0);
    EXPECT_TRUE(game->in_vram(bo));
    EXPECT_FALSE(rival->in_vram(image));
}

} // namespace
} // namespace vramlab::tests
