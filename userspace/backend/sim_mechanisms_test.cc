// SPDX-License-Identifier: MIT
// The patches' mechanisms as a client sees them.
#include "backend/sim_mechanisms_fixture.h"

using namespace vramlab;
using namespace vramlab::backend;

namespace {

using mechanisms = sim_mechanisms;

TEST_F(mechanisms, mainline_s_state_knows_nothing_of_throttles)
{
    use("mainline-7.3.4");
    EXPECT_EQ(line("throttle"), "(none)");
    use("throttle");
    EXPECT_EQ(line("throttle 1"), "throttle 1 evicted - displaced");
}

TEST_F(mechanisms, a_loser_leaves_its_bos_in_gtt_and_recovers_them_by_priority)
{
    use("throttle");
    for (const u32 priority : {3u, 12u, 7u, 0u})
        create(1, 10 + priority, 4, bo_vm_private, priority);
    create(2, 1, 15, 0); // evicts them all
    sleep_ms(1);
    EXPECT_EQ(submit(1), 0); // strong: nothing moves
    for (const u64 tag : {10, 13, 17, 22})
        EXPECT_FALSE(in_vram(tag)) << tag;
    EXPECT_EQ(line("vm 1"), "vm 1 seqno 1 evicted");
    EXPECT_EQ(line("throttle 1").substr(0, 20), "throttle 1 evicted 0") << line("throttle 1");
    EXPECT_NE(line("throttle 1").find("displaced 22 17 13"), std::string::npos) << line("throttle 1");

    sleep_ms(60); // weak: VRAM is full, and nobody is evicted
    EXPECT_EQ(submit(1), 0);
    EXPECT_FALSE(in_vram(22));
    EXPECT_TRUE(in_vram(1));

    create(2, 2, 8, 0, priority_default, domain_gtt);
    EXPECT_EQ(run({.kind = request_kind::bo_destroy, .vm = 2, .bo = 1}), 0);
    create(2, 3, 8, 0); // leaves room for two
    sleep_ms(1);
    EXPECT_EQ(submit(1), 0);
    EXPECT_TRUE(in_vram(22));
    EXPECT_TRUE(in_vram(17));
    EXPECT_FALSE(in_vram(13));
    EXPECT_FALSE(in_vram(10));
    EXPECT_NE(line("throttle 1").find("displaced 13"), std::string::npos) << line("throttle 1");

    // Priority 0 stays where it is though there is room, until it has another.
    EXPECT_EQ(run({.kind = request_kind::bo_destroy, .vm = 2, .bo = 3}), 0);
    sleep_ms(1);
    EXPECT_EQ(submit(1), 0);
    EXPECT_TRUE(in_vram(13));
    EXPECT_FALSE(in_vram(10));
}

TEST_F(mechanisms, a_change_of_priority_changes_the_order_of_recovery)
{
    use("throttle");
    create(1, 1, 8, bo_vm_private, 3);
    create(1, 2, 8, bo_vm_private, 7);
    create(2, 9, 15, 0);
    sleep_ms(1);
    EXPECT_EQ(submit(1), 0);
    EXPECT_NE(line("throttle 1").find("displaced 2 1"), std::string::npos);
    EXPECT_EQ(run({.kind = request_kind::bo_set_priority, .vm = 1, .bo = 1, .priority = 9}), 0);
    EXPECT_NE(line("throttle 1").find("displaced 1 2"), std::string::npos);
    EXPECT_EQ(run({.kind = request_kind::bo_set_priority, .vm = 1, .bo = 1, .priority = 0}), 0);
    EXPECT_EQ(line("throttle 1").substr(line("throttle 1").find("displaced")), "displaced 2");
    EXPECT_EQ(run({.kind = request_kind::bo_destroy, .vm = 1, .bo = 2}), 0);
    EXPECT_EQ(line("throttle 1").substr(line("throttle 1").find("displaced")), "displaced");
}

// A pin has brought it into VRAM: the next submission finds that out, not the change of priority.
TEST_F(mechanisms, a_displaced_bo_that_is_pinned_stays_in_its_list)
{
    use("throttle");
    create(1, 1, 4, bo_vm_private, 3);
    create(2, 9, 15, 0);
    sleep_ms(1);
    EXPECT_EQ(submit(1), 0);
    EXPECT_EQ(run({.kind = request_kind::pin, .vm = 1, .bo = 1}), 0);
    EXPECT_TRUE(in_vram(1));
    EXPECT_EQ(run({.kind = request_kind::bo_set_priority, .vm = 1, .bo = 1, .priority = 9}), 0);
    EXPECT_NE(line("throttle 1").find("displaced 1"), std::string::npos);
    sleep_ms(60);
    EXPECT_EQ(submit(1), 0);
    EXPECT_EQ(line("throttle 1").substr(line("throttle 1").find("displaced")), "displaced");
}

// Case E1: after a suspend everything comes back, at the pace of the byte budget.
TEST_F(mechanisms, after_evict_all_everything_comes_back)
{
    use("throttle");
    for (u64 tag = 1; tag <= 4; tag++)
        create(1, tag, 4, bo_vm_private);
    ASSERT_EQ(submit(1), 0);
    ASSERT_EQ(b->evict_all(), 0);
    for (u64 tag = 1; tag <= 4; tag++)
        EXPECT_FALSE(in_vram(tag));
    EXPECT_EQ(line("throttle 1").substr(0, 20), "throttle 1 evicted -");
    EXPECT_EQ(submit(1), 0);
    for (u64 tag = 1; tag <= 4; tag++)
        EXPECT_TRUE(in_vram(tag));
}

// A listed BO that its creator's VM lost counts as the creator's loss, also if another VM lists it.
TEST_F(mechanisms, a_shared_bo_is_its_creator_s)
{
    use("throttle");
    create(1, 1, 8, 0);
    create(2, 2, 15, 0);
    EXPECT_NE(line("throttle 1").find("evicted 0"), std::string::npos);
    EXPECT_NE(line("throttle 2").find("evicted -"), std::string::npos);
    sleep_ms(1);
    EXPECT_EQ(submit(1, {1}), 0);
    EXPECT_FALSE(in_vram(1));
    EXPECT_TRUE(in_vram(2));
    sleep_ms(10000); // normal again, and with a budget: it fights
    EXPECT_EQ(submit(1, {1}), 0);
    EXPECT_TRUE(in_vram(1));
}

// The protected wait, too, in the weak phase; afterwards protection gets its memory.
TEST_F(mechanisms, protection_evicts_after_the_weak_phase_only)
{
    for (const char *name : {"throttle", "throttle-protected"}) {
        system_config s = small_system();
        s.cgroups = {{"bg", 0, 0, ~u64{0}}, {"fg", 0, 16 * MiB, ~u64{0}}};
        s.processes[0].cgroup = "fg";
        s.processes[1].cgroup = "bg";
        use(name, s);
        create(1, 1, 15, 0, priority_default, domain_vram | domain_gtt);
        create(2, 2, 8, 0); // must be in VRAM, so it evicts the protected one
        ASSERT_EQ(run({.kind = request_kind::pin, .vm = 2, .bo = 2}), 0);
        ASSERT_EQ(run({.kind = request_kind::unpin, .vm = 2, .bo = 2}), 0);
        EXPECT_FALSE(in_vram(1));
        sleep_ms(60);
        EXPECT_EQ(submit(1, {1}), 0);
        EXPECT_EQ(in_vram(1), std::string_view(name) == "throttle-protected") << name;
        sleep_ms(250);
        EXPECT_EQ(submit(1, {1}), 0);
        EXPECT_TRUE(in_vram(1)) << name;
    }
}

} // namespace
