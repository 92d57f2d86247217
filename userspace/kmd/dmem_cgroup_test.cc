// SPDX-License-Identifier: GPL-2.0 OR MIT
// Whom does the dmem controller charge, stop and protect? Values worked out by hand from the rules in
// mm/page_counter.c.
#include "kmd/dmem_cgroup.h"

#include "kmd/trace.h"

#include <gtest/gtest.h>
#include <stdexcept>
#include <vector>

namespace vramlab::kmd {
namespace {

using pool_state = dmem_cgroup_pool_state;

//   root -- user -- game
//        |       `- editor
//        `- system -- compositor
class dmem_cgroup_tree : public ::testing::Test {
protected:
    dmem_cgroup_tree()
    {
        ops.reclaim = [](pool_state *pool, u64 target_bytes, void *priv) {
            return static_cast<dmem_cgroup_tree *>(priv)->reclaim(pool, target_bytes);
        };
        region = dmem_cgroup_register_region({1000, &ops, this, &root}, "drm/vttm/vram");
    }
    ~dmem_cgroup_tree() override { dmem_cgroup_current = nullptr; }

    pool_state *charge(dmemcg_state &cg, u64 size)
    {
        dmem_cgroup_current = &cg;
        pool_state *pool = nullptr;
        EXPECT_EQ(dmem_cgroup_try_charge(region.get(), size, &pool, nullptr), 0);
        EXPECT_EQ(pool, cg.pool.get());
        return pool;
    }
    // Whose limit is in the way.
    dmemcg_state *limit_of(dmemcg_state &cg, u64 size)
    {
        dmem_cgroup_current = &cg;
        pool_state *pool = nullptr;
        pool_state *limit = nullptr;
        EXPECT_EQ(dmem_cgroup_try_charge(region.get(), size, &pool, &limit), -EAGAIN);
        EXPECT_EQ(pool, nullptr);
        dmem_cgroup_pool_state_put(limit);
        return limit ? limit->cs : nullptr;
    }
    enum class verdict { yes, no, only_if_low_is_ignored };
    static verdict may_evict(pool_state *limit, const dmemcg_state &victim)
    {
        bool hit_low = false;
        if (dmem_cgroup_state_evict_valuable(limit, victim.pool.get(), false, &hit_low))
            return verdict::yes;
        const bool ignoring = dmem_cgroup_state_evict_valuable(limit, victim.pool.get(), true, &hit_low);
        EXPECT_EQ(ignoring, hit_low);
        return ignoring ? verdict::only_if_low_is_ignored : verdict::no;
    }
    int reclaim(pool_state *pool, u64 target_bytes)
    {
        targets.push_back(target_bytes);
        if (reclaim_result)
            return reclaim_result;
        if (reclaim_step == 0)
            return -ENOSPC;
        dmem_cgroup_uncharge(pool, std::min(target_bytes, reclaim_step));
        return 0;
    }

    dmemcg_state root{"root"}, user{"user", &root}, system{"system", &root};
    dmemcg_state game{"game", &user}, editor{"editor", &user}, compositor{"compositor", &system};
    dmem_cgroup_ops ops;
    std::unique_ptr<dmem_cgroup_region> region;
    std::vector<u64> targets; // of reclaim()
    u64 reclaim_step = 0;     // bytes that one call frees
    int reclaim_result = 0;
};

TEST_F(dmem_cgroup_tree, charges_go_up_to_the_root)
{
    pool_state *pool = charge(game, 100);
    charge(editor, 30);
    EXPECT_EQ(dmem_cgroup_usage(game), 100u);
    EXPECT_EQ(dmem_cgroup_usage(user), 130u);
    EXPECT_EQ(dmem_cgroup_usage(root), 130u);
    EXPECT_EQ(dmem_cgroup_usage(system), 0u);
    EXPECT_EQ(system.pool, nullptr) << "pools are made on demand";
    dmem_cgroup_uncharge(pool, 100);
    EXPECT_EQ(dmem_cgroup_usage(root), 30u);
    EXPECT_EQ(pool->refs, 0u);
    EXPECT_EQ(pool->cnt.watermark, 100u);
    EXPECT_THROW(dmem_cgroup_uncharge(pool, 1), std::logic_error);
}

TEST_F(dmem_cgroup_tree, processes_outside_of_any_cgroup_charge_the_root)
{
    dmem_cgroup_current = nullptr;
    pool_state *pool = nullptr;
    EXPECT_EQ(dmem_cgroup_try_charge(region.get(), 10, &pool, nullptr), 0);
    EXPECT_EQ(pool, root.pool.get());
    EXPECT_EQ(dmem_cgroup_try_charge(nullptr, 10, &pool, nullptr), 0);
    EXPECT_EQ(pool, nullptr) << "a manager without a region";
}

TEST_F(dmem_cgroup_tree, nested_maximum_names_the_first_in_the_way)
{
    dmem_cgroup_set_max(*region, game, 100);
    dmem_cgroup_set_max(*region, user, 120);
    charge(game, 90);
    EXPECT_EQ(limit_of(game, 11), &game);
    EXPECT_EQ(limit_of(editor, 31), &user);
    EXPECT_EQ(dmem_cgroup_usage(game), 90u) << "a failed charge leaves nothing behind";
    EXPECT_EQ(dmem_cgroup_usage(editor), 0u);
    charge(editor, 30);
    EXPECT_EQ(limit_of(game, 1), &user);
}

TEST_F(dmem_cgroup_tree, failed_charge_is_reported)
{
    events::event_log log;
    dmem_cgroup_set_max(*region, game, 100);
    trace.sink = &log;
    limit_of(game, 101);
    trace.sink = nullptr;
    ASSERT_EQ(log.events().size(), 1u);
    EXPECT_EQ(log.events()[0].type, events::event_type::charge_failed);
    EXPECT_EQ(log.events()[0].c, 101u);
    EXPECT_EQ(log.events()[0].error, -EAGAIN);
}

TEST_F(dmem_cgroup_tree, first_level_is_protected_as_declared)
{
    charge(game, 100);
    charge(compositor, 50);
    dmem_cgroup_set_min(*region, system, 60);
    dmem_cgroup_set_low(*region, user, 80);
    EXPECT_EQ(may_evict(nullptr, user), verdict::yes) << "100 used, 80 protected";
    EXPECT_EQ(may_evict(nullptr, system), verdict::no);
    dmem_cgroup_set_low(*region, user, 100);
    EXPECT_EQ(may_evict(nullptr, user), verdict::only_if_low_is_ignored);
    EXPECT_TRUE(dmem_cgroup_below_min(nullptr, system.pool.get()));
    EXPECT_FALSE(dmem_cgroup_below_min(nullptr, user.pool.get()));
    EXPECT_TRUE(dmem_cgroup_below_low(nullptr, user.pool.get())) << "just what is protected";
    dmem_cgroup_set_low(*region, user, 99);
    EXPECT_FALSE(dmem_cgroup_below_low(nullptr, user.pool.get()));
    for (const u64 min : {50, 49}) {
        dmem_cgroup_set_min(*region, system, min);
        EXPECT_EQ(dmem_cgroup_below_min(nullptr, system.pool.get()), min == 50);
        EXPECT_EQ(may_evict(nullptr, system), min == 50 ? verdict::no : verdict::yes);
    }
    EXPECT_FALSE(dmem_cgroup_below_low(nullptr, root.pool.get())) << "the root is not protected";
}

TEST_F(dmem_cgroup_tree, child_has_no_more_than_its_parent)
{
    charge(game, 100);
    dmem_cgroup_set_min(*region, game, 100);
    EXPECT_EQ(may_evict(nullptr, game), verdict::yes) << "the parent declares nothing";
    EXPECT_EQ(game.pool->cnt.emin, 0u);
    dmem_cgroup_set_min(*region, user, 40);
    EXPECT_EQ(may_evict(nullptr, game), verdict::yes);
    EXPECT_EQ(game.pool->cnt.emin, 40u) << "all of the parent's";
    dmem_cgroup_set_min(*region, user, 500);
    EXPECT_EQ(may_evict(nullptr, game), verdict::no);
    EXPECT_EQ(game.pool->cnt.emin, 100u);
}

TEST_F(dmem_cgroup_tree, overcommitted_protection_is_shared_by_use_of_it)
{
    charge(game, 60);
    charge(editor, 60);
    dmem_cgroup_set_min(*region, game, 60);
    dmem_cgroup_set_min(*region, editor, 20);
    dmem_cgroup_set_min(*region, user, 40);
    // 80 claimed and used, 40 to share: 60 * 40 / 80 and 20 * 40 / 80.
    EXPECT_EQ(may_evict(nullptr, editor), verdict::yes);
    EXPECT_EQ(game.pool->cnt.emin, 30u);
    EXPECT_EQ(editor.pool->cnt.emin, 10u);
}

TEST_F(dmem_cgroup_tree, unclaimed_protection_goes_by_unprotected_use)
{
    charge(game, 60);
    charge(editor, 90);
    dmem_cgroup_set_low(*region, game, 30);
    dmem_cgroup_set_low(*region, user, 90);
    // 30 claimed; 60 left for 30 + 90 unprotected bytes: 30 + 60 * 30 / 120 and 60 * 90 / 120.
    EXPECT_EQ(may_evict(nullptr, editor), verdict::yes);
    EXPECT_EQ(game.pool->cnt.elow, 45u);
    EXPECT_EQ(editor.pool->cnt.elow, 45u);
}

TEST_F(dmem_cgroup_tree, siblings_see_declared_protection_only)
{
    // Below their common ancestor the ancestor's own protection counts for nothing.
    charge(game, 60);
    charge(editor, 90);
    dmem_cgroup_set_min(*region, user, 150);
    EXPECT_EQ(may_evict(nullptr, editor), verdict::no);
    pool_state *ancestor = dmem_cgroup_get_common_ancestor(game.pool.get(), editor.pool.get());
    ASSERT_EQ(ancestor, user.pool.get());
    EXPECT_EQ(may_evict(ancestor, editor), verdict::yes);
    dmem_cgroup_set_min(*region, editor, 90);
    EXPECT_EQ(may_evict(ancestor, editor), verdict::no);
    dmem_cgroup_pool_state_put(ancestor);
    EXPECT_EQ(ancestor->refs, 0u);
}

TEST_F(dmem_cgroup_tree, common_ancestor_of_any_two)
{
    for (dmemcg_state *cg : {&game, &editor, &compositor})
        charge(*cg, 1);
    const auto ancestor = [](const dmemcg_state &a, const dmemcg_state &b) {
        pool_state *pool = dmem_cgroup_get_common_ancestor(a.pool.get(), b.pool.get());
        dmem_cgroup_pool_state_put(pool);
        return pool ? pool->cs : nullptr;
    };
    EXPECT_EQ(ancestor(game, compositor), &root);
    EXPECT_EQ(ancestor(game, user), &user);
    EXPECT_EQ(ancestor(user, game), &user);
    EXPECT_EQ(ancestor(game, game), &game);
    EXPECT_EQ(dmem_cgroup_get_common_ancestor(game.pool.get(), nullptr), nullptr);
}

TEST_F(dmem_cgroup_tree, limit_pool_bounds_the_victims)
{
    charge(game, 10);
    charge(editor, 10);
    charge(compositor, 10);
    dmem_cgroup_set_min(*region, user, 100);
    dmem_cgroup_set_min(*region, game, 100);
    EXPECT_EQ(may_evict(user.pool.get(), compositor), verdict::no) << "not below the limit";
    EXPECT_EQ(may_evict(user.pool.get(), editor), verdict::yes);
    EXPECT_EQ(may_evict(user.pool.get(), game), verdict::no);
    EXPECT_EQ(may_evict(game.pool.get(), game), verdict::yes) << "one's own limit";
    EXPECT_EQ(may_evict(root.pool.get(), game), verdict::yes) << "the root's limit knows no protection";
}

TEST_F(dmem_cgroup_tree, unused_protection_protects_nobody_else)
{
    charge(editor, 100);
    dmem_cgroup_set_min(*region, user, 50);
    dmem_cgroup_set_min(*region, game, 50); // uses nothing
    EXPECT_EQ(may_evict(nullptr, editor), verdict::yes);
    EXPECT_EQ(editor.pool->cnt.emin, 50u) << "so its sibling has it";
}

TEST_F(dmem_cgroup_tree, lowered_maximum_reclaims_until_it_fits)
{
    dmem_cgroup_current = &game;
    pool_state *pool = nullptr;
    for (u32 i = 0; i < 10; i++)
        ASSERT_EQ(dmem_cgroup_try_charge(region.get(), 10, &pool, nullptr), 0);
    reclaim_step = 20;
    dmem_cgroup_set_max(*region, game, 50);
    EXPECT_EQ(targets, (std::vector<u64>{50, 30, 10}));
    EXPECT_EQ(dmem_cgroup_usage(game), 50u);

    targets.clear();
    dmem_cgroup_set_max(*region, game, 20, true);
    EXPECT_TRUE(targets.empty()) << "nonblock";
    EXPECT_EQ(limit_of(game, 1), &game) << "but it holds";
}

TEST_F(dmem_cgroup_tree, reclaim_gives_up)
{
    charge(game, 100);
    dmem_cgroup_set_max(*region, game, 50);
    EXPECT_EQ(targets.size(), 17u) << "the first, and 16 retries without progress";
    EXPECT_EQ(game.pool->cnt.max, 50u);
    targets.clear();
    reclaim_result = -EINTR;
    dmem_cgroup_set_max(*region, game, 40);
    EXPECT_EQ(targets.size(), 1u) << "any other error is final";
}

} // namespace
} // namespace vramlab::kmd
