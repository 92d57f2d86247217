// SPDX-License-Identifier: MIT
// Policies and cgroups: what differs from mainline, and what protection does in it.
#include "backend/sim_policy_fixture.h"

using namespace vramlab;
using namespace vramlab::backend;

namespace {

TEST_F(sim_policy, names)
{
    for (const std::string_view name : driver::policy_names())
        EXPECT_EQ(driver::make_policy(name)->name(), name);
    EXPECT_EQ(driver::make_policy("best"), nullptr);
}

TEST_F(sim_policy, no_migration_leaves_bos_where_they_are_allowed)
{
    use("no-migration");
    make(1, 1, 8);
    make(1, 2, 8, 0, domain_vram);
    make(2, 3, 15);
    EXPECT_EQ(where(1), "gtt");
    EXPECT_EQ(where(2), "gtt");
    EXPECT_EQ(submit_to(1, {1, 2}), 0);
    EXPECT_EQ(where(1), "gtt");
    EXPECT_EQ(where(2), "vram"); // must be
}

TEST_F(sim_policy, all_gtt_uses_vram_for_what_must_be_there)
{
    use("all-gtt");
    make(1, 1, 4, bo_vm_private);
    make(1, 2, 4, 0, domain_vram);
    EXPECT_EQ(where(1), "gtt");
    EXPECT_EQ(where(2), "vram");
    EXPECT_NE(other->state().find("vm 1 seqno 0 evicted 1\n"),
              std::string::npos); // not in a preferred domain
    EXPECT_EQ(submit_to(1, {2}), 0);
    EXPECT_EQ(where(1), "gtt");
    EXPECT_NE(other->state().find("vm 1 seqno 1 evicted\n"), std::string::npos);
}

TEST_F(sim_policy, random_victims_depend_on_the_seed_only)
{
    std::vector<std::string> results;
    for (const u64 seed : {1, 1, 2, 3, 4, 5}) {
        use("random-victim", small_system(), seed);
        for (u64 tag = 1; tag <= 24; tag++)
            make(1, tag, 1);
        std::string w;
        for (u64 tag = 1; tag <= 24; tag++)
            w += where(tag)[0];
        EXPECT_EQ(std::count(w.begin(), w.end(), 'v'), 16);
        results.push_back(w);
    }
    EXPECT_EQ(results[0], results[1]);
    EXPECT_NE(results[0], results[2]);
    EXPECT_NE(results[0], "gggggggg" + std::string(16, 'v')); // which is LRU
}

system_config protected_system()
{
    system_config s = small_system();
    s.cgroups = {{"bg", 0, 0, ~u64{0}}, {"fg", 0, 16 * MiB, ~u64{0}}};
    s.processes[0].cgroup = "bg";
    s.processes[1].cgroup = "fg";
    return s;
}

// Case F1: a protected allocation evicts unprotected memory, although GTT would do; without protection it
// takes GTT.
TEST_F(sim_policy, protection_is_what_protection_off_takes_away)
{
    for (const char *name : {"mainline-7.3.4", "protection-off"}) {
        use(name, protected_system());
        for (u64 tag = 1; tag <= 4; tag++)
            make(1, tag, 4);
        const request r{.kind = request_kind::bo_create,
                        .vm = 2,
                        .bo = 9,
                        .size_bytes = 4 * MiB,
                        .preferred = domain_vram | domain_gtt};
        EXPECT_EQ(do_it(r).error, 0);
        const bool on = std::string_view(name) != "protection-off";
        EXPECT_EQ(where(9), on ? "vram" : "gtt");
        EXPECT_EQ(where(1), on ? "gtt" : "vram");
        const std::string charges =
            on ? "charge bg 12582912\ncharge fg 4194304\n" : "charge bg 16777216\ncharge fg 0\n";
        EXPECT_NE(other->state().find(charges), std::string::npos) << other->state();
    }
}

TEST_F(sim_policy, a_lower_maximum_reclaims)
{
    use("mainline-7.3.4", protected_system());
    for (u64 tag = 1; tag <= 4; tag++)
        make(1, tag, 4);
    EXPECT_EQ(other->set_limits({"bg", 0, 0, 8 * MiB}), 0);
    EXPECT_EQ(other->query_usage().vram_usage_bytes, 8 * MiB);
    EXPECT_EQ(where(2), "gtt");
    EXPECT_EQ(where(3), "vram");
    EXPECT_EQ(other->set_limits({"no", 0, 0, 0}), -ENOENT);
    // At its maximum a group evicts its own.
    make(1, 5, 4);
    EXPECT_EQ(where(5), "vram");
    EXPECT_EQ(where(3), "gtt");
}

TEST_F(sim_policy, unknown_cgroup_of_a_process)
{
    system_config s = small_system();
    s.processes[0].cgroup = "none";
    EXPECT_THROW(b.reset(s), std::runtime_error);
}

} // namespace
