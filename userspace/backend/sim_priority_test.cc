// SPDX-License-Identifier: MIT
// Priorities within a VM as a client sees them.
#include "backend/sim_mechanisms_fixture.h"

using namespace vramlab;
using namespace vramlab::backend;

namespace {

class priorities : public sim_mechanisms {
protected:
    int set_priority(u32 vm, u64 tag, u32 priority)
    {
        return run({.kind = request_kind::bo_set_priority, .vm = vm, .bo = tag, .priority = priority});
    }
    void sleep_until_normal() { sleep_ms(10000); } // there is a move budget, and no throttle
};

TEST_F(priorities, of_one_vm_the_lowest_priority_leaves_first)
{
    for (const char *name : {"mainline-7.3.4", "priority"}) {
        use(name);
        create(1, 1, 4, bo_vm_private, 12);
        create(1, 2, 4, bo_vm_private, 3);
        create(1, 3, 4, bo_vm_private, 7);
        create(2, 9, 8, 0); // 4 MiB are free, 4 have to go
        const bool by_priority = std::string_view(name) == "priority";
        EXPECT_EQ(in_vram(1), by_priority) << name;
        EXPECT_EQ(in_vram(2), !by_priority) << name;
        EXPECT_TRUE(in_vram(3)) << name;
    }
}

// A change counts at once, for who leaves next.
TEST_F(priorities, a_change_of_priority_changes_who_leaves)
{
    use("priority");
    create(1, 1, 4, bo_vm_private, 7);
    create(1, 2, 4, bo_vm_private, 7);
    create(1, 3, 4, bo_vm_private, 7);
    EXPECT_EQ(line("lru vram 1"), "lru vram 1 1 2 3");
    EXPECT_EQ(set_priority(1, 3, 2), 0);
    EXPECT_EQ(line("lru vram 1"), "lru vram 1 3 1 2");
    EXPECT_EQ(set_priority(1, 1, 9), 0);
    EXPECT_EQ(line("lru vram 1"), "lru vram 1 3 2 1");
    create(2, 9, 8, 0);
    EXPECT_FALSE(in_vram(3));
    EXPECT_TRUE(in_vram(1));
    EXPECT_TRUE(in_vram(2));
}

// The game alone: what it wants in VRAM replaces what it wants less, and nothing of the same priority.
TEST_F(priorities, a_vm_trades_lower_bos_for_higher_ones)
{
    for (const char *name : {"mainline-7.3.4", "priority"}) {
        use(name);
        create(1, 1, 8, bo_vm_private, 12);
        create(1, 2, 7, bo_vm_private, 7);
        create(1, 3, 8, bo_vm_private, 7); // evicts one: the oldest, or the one of lower priority
        sleep_until_normal();
        EXPECT_EQ(submit(1), 0);
        const bool by_priority = std::string_view(name) == "priority";
        EXPECT_EQ(in_vram(1), by_priority) << name;
        EXPECT_EQ(in_vram(2), !by_priority) << name;
        EXPECT_TRUE(in_vram(3)) << name;

        // What is raised is tried again, and takes the place of the lower one.
        EXPECT_EQ(set_priority(1, 2, 9), 0);
        sleep_until_normal();
        EXPECT_EQ(submit(1), 0);
        EXPECT_TRUE(in_vram(2)) << name;
        EXPECT_EQ(in_vram(1), by_priority) << name;
        EXPECT_EQ(in_vram(3), !by_priority) << name;
        EXPECT_EQ(line("vm 1"), "vm 1 seqno 2 evicted") << name;
    }
}

// All of them were evicted: the highest are validated first, and nobody moves twice.
TEST_F(priorities, evicted_bos_come_back_from_the_highest_priority_down)
{
    use("priority");
    for (const u32 priority : {3u, 12u, 7u, 9u, 5u})
        create(1, priority, 4, bo_vm_private, priority);
    ASSERT_EQ(b->evict_all(), 0);
    EXPECT_EQ(line("vm 1"), "vm 1 seqno 0 evicted 12 9 7 5 3");
    sleep_until_normal();
    log.clear();
    EXPECT_EQ(submit(1), 0);
    for (const u64 tag : {12, 9, 7})
        EXPECT_TRUE(in_vram(tag)) << tag;
    u32 moves = 0;
    for (const events::event &e : log.events())
        moves += e.type == events::event_type::move;
    EXPECT_EQ(moves, 4u);
    EXPECT_FALSE(in_vram(3));
}

TEST_F(priorities, priority_zero_is_never_moved_back)
{
    use("priority");
    create(1, 1, 4, bo_vm_private, 0);
    create(1, 2, 4, bo_vm_private, 1);
    ASSERT_EQ(b->evict_all(), 0);
    sleep_until_normal();
    EXPECT_EQ(submit(1), 0);
    EXPECT_FALSE(in_vram(1));
    EXPECT_TRUE(in_vram(2));
    EXPECT_EQ(line("vm 1"), "vm 1 seqno 1 evicted");
    EXPECT_EQ(set_priority(1, 1, 1), 0); // it has another one now
    EXPECT_EQ(submit(1), 0);
    EXPECT_TRUE(in_vram(1));
}

// What must be in VRAM is moved there whatever its priority.
TEST_F(priorities, priority_zero_moves_back_if_it_is_allowed_nowhere_else)
{
    use("priority");
    ASSERT_EQ(run({.kind = request_kind::bo_create,
                   .vm = 1,
                   .bo = 1,
                   .size_bytes = 4 * MiB,
                   .preferred = domain_vram,
                   .allowed = domain_vram,
                   .flags = bo_vm_private,
                   .priority = 0}),
              0);
    ASSERT_EQ(b->evict_all(), 0);
    EXPECT_EQ(submit(1), 0);
    EXPECT_TRUE(in_vram(1));
}

// Neither the order in which shared BOs are evicted nor what a submission of them may evict.
TEST_F(priorities, shared_bos_have_none)
{
    use("priority");
    create(1, 1, 4, 0, 15);
    create(1, 2, 4, 0, 0);
    create(1, 3, 4, bo_vm_private, 0);
    EXPECT_EQ(line("lru vram 1"), "lru vram 1 1 2 3");
    EXPECT_EQ(set_priority(1, 1, 3), -EINVAL);
    create(2, 9, 8, 0);
    EXPECT_FALSE(in_vram(1));
    EXPECT_TRUE(in_vram(2));
    sleep_until_normal();
    EXPECT_EQ(submit(1, {1}), 0); // takes from others, not from its own
    EXPECT_TRUE(in_vram(3));
}

// A high priority buys nothing from another VM: there, who submitted first goes first.
TEST_F(priorities, between_vms_only_the_last_submission_counts)
{
    use("priority");
    create(1, 1, 8, bo_vm_private, 15);
    create(2, 2, 7, bo_vm_private, 1);
    ASSERT_EQ(submit(1), 0);
    ASSERT_EQ(submit(2), 0);
    create(2, 9, 8, 0);
    EXPECT_FALSE(in_vram(1));
    EXPECT_TRUE(in_vram(2));
}

// GTT would do, so room is made only by what protection entitles to: low doesn't to one's own, min does.
TEST_F(priorities, trades_keep_to_the_rules_of_cgroups)
{
    for (const std::string_view protection : {"none", "low", "min"}) {
        system_config s = small_system();
        s.cgroups = {
            {"game", protection == "min" ? 32 * MiB : 0, protection == "low" ? 32 * MiB : 0, ~u64{0}}};
        s.processes[0].cgroup = "game";
        use("priority", s);
        create(1, 1, 8, bo_vm_private, 12, domain_vram | domain_gtt);
        create(1, 2, 12, bo_vm_private, 3); // forced, it evicts the other one
        ASSERT_FALSE(in_vram(1)) << protection;
        sleep_until_normal();
        EXPECT_EQ(submit(1), 0);
        EXPECT_EQ(in_vram(1), protection == "min") << protection;
        EXPECT_EQ(in_vram(2), protection != "min") << protection;
    }
}

} // namespace
