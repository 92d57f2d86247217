// SPDX-License-Identifier: MIT
// Creation, eviction, pins, destruction, sharing: where BOs end up.
#include "backend/sim_fixture.h"

using namespace vramlab;
using namespace vramlab::backend;

namespace {

class sim_memory : public sim_test {};

TEST_F(sim_memory, bad_arguments_of_create)
{
    EXPECT_EQ(create(1, 1, 0), -EINVAL);
    EXPECT_EQ(run({.kind = request_kind::bo_create,
                   .vm = 1,
                   .bo = 1,
                   .size_bytes = 4097,
                   .preferred = domain_vram}),
              -EINVAL);
    EXPECT_EQ(create(1, 1, 1, 0, 0), -EINVAL);
    EXPECT_EQ(create(1, 1, 1, 0, 8), -EINVAL);
    EXPECT_EQ(create(1, 1, 1, 8), -EINVAL);
    EXPECT_EQ(create(1, 1, 1, 0, domain_vram, domain_gtt), -EINVAL); // allowed is no superset
    EXPECT_EQ(run({.kind = request_kind::bo_create,
                   .vm = 1,
                   .bo = 1,
                   .size_bytes = MiB,
                   .preferred = 4,
                   .priority = 16}),
              -EINVAL);
    EXPECT_EQ(run({.kind = request_kind::bo_create,
                   .process = 1,
                   .vm = 2,
                   .bo = 1,
                   .size_bytes = MiB,
                   .preferred = 4}),
              -ENOENT); // another process's VM
    EXPECT_EQ(line("bo 1"), "(none)");
}

TEST_F(sim_memory, allowed_domains_by_default)
{
    ASSERT_EQ(create(1, 1, 1), 0);
    EXPECT_EQ(bo(1, "allowed"), "6");
    ASSERT_EQ(create(1, 2, 1, 0, domain_gtt), 0);
    EXPECT_EQ(bo(2, "allowed"), "2");
    ASSERT_EQ(create(1, 3, 1, 0, domain_gtt | domain_vram), 0);
    EXPECT_EQ(bo(3, "allowed"), "6");
    EXPECT_EQ(bo(2, "mem"), "gtt");
    EXPECT_EQ(bo(3, "mem"), "vram");
}

TEST_F(sim_memory, vram_is_given_from_the_top_and_cleared)
{
    ASSERT_EQ(create(1, 1, 4), 0);
    EXPECT_EQ(places(1), "12582912+4194304");
    EXPECT_EQ(bo(1, "busy"), "1");
    // ceil(4 MiB / 256 GiB/s) + 5 us
    EXPECT_EQ(line("engine copy"), "end 20259 running 1 queued 0");
    EXPECT_EQ(b.next_event_ns(), 20259u);
    b.advance(20258);
    EXPECT_EQ(bo(1, "busy"), "1");
    b.advance(20259);
    EXPECT_EQ(bo(1, "busy"), "0");
    EXPECT_EQ(b.next_event_ns(), never_ns);
}

TEST_F(sim_memory, create_evicts_the_least_recently_used)
{
    for (u64 tag = 1; tag <= 5; tag++)
        ASSERT_EQ(create(1, tag, 4), 0);
    EXPECT_EQ(bo(1, "mem"), "gtt");
    EXPECT_EQ(line("lru vram 1"), "2 3 4 5");
    EXPECT_EQ(line("lru gtt 1"), "1");
    EXPECT_EQ(line("moves"), "1");            // the eviction is pipelined
    EXPECT_EQ(places(5), "12582912+4194304"); // where 1 was
    idle();
    EXPECT_EQ(line("moves"), "0");
    EXPECT_EQ(b.query_usage().evictions, 1u);
    EXPECT_EQ(b.query_usage().bytes_moved, 4 * MiB);
}

// With VRAM full of pinned memory, a BO that prefers VRAM alone comes to prefer GTT as well, for good.
TEST_F(sim_memory, create_falls_back_to_gtt)
{
    ASSERT_EQ(create(1, 1, 12), 0);
    ASSERT_EQ(pin(1, 1), 0);
    ASSERT_EQ(create(2, 2, 8, bo_vm_private), 0);
    EXPECT_EQ(bo(2, "mem"), "gtt");
    EXPECT_EQ(bo(2, "pref"), "6");
    EXPECT_EQ(line("vm 2"), "seqno 0 evicted"); // it is in a preferred domain
    EXPECT_EQ(create(2, 3, 8, 0, domain_vram, domain_vram), -ENOMEM);
    EXPECT_EQ(line("bo 3"), "(none)");
    EXPECT_EQ(create(2, 4, 64, 0, domain_vram), -ENOMEM); // the size of GTT is too much
}

// amdgpu_bo_validate_size() wants less than the domain's size, and looks at GTT alone once that is preferred
// too.
TEST_F(sim_memory, a_bo_as_large_as_vram)
{
    ASSERT_EQ(create(1, 1, 16), 0);
    EXPECT_EQ(bo(1, "mem"), "vram");
    EXPECT_EQ(bo(1, "pref"), "6");
    EXPECT_EQ(create(1, 2, 16, 0, domain_vram, domain_vram), -ENOMEM);
}

TEST_F(sim_memory, evicted_private_bos_go_to_the_head_of_the_list)
{
    b.set_event_sink(&log);
    for (u64 tag = 1; tag <= 3; tag++)
        ASSERT_EQ(create(1, tag, 4, bo_vm_private), 0);
    for (u64 tag = 11; tag <= 14; tag++)
        ASSERT_EQ(create(2, tag, 4), 0);
    EXPECT_EQ(line("vm 1"), "seqno 0 evicted 3 2 1");
    EXPECT_EQ(count(events::event_type::evicted_list), 3u);
    ASSERT_EQ(destroy(1, 2), 0);
    EXPECT_EQ(line("vm 1"), "seqno 0 evicted 3 1");
}

TEST_F(sim_memory, pin_makes_one_range)
{
    for (u64 tag = 1; tag <= 8; tag++)
        ASSERT_EQ(create(1, tag, 2), 0);
    idle();
    ASSERT_EQ(destroy(1, 1), 0);
    ASSERT_EQ(destroy(1, 3), 0);
    ASSERT_EQ(create(2, 9, 4), 0);
    EXPECT_EQ(places(9), "10485760+2097152 14680064+2097152"); // the holes
    idle();
    ASSERT_EQ(pin(2, 9), 0);
    EXPECT_EQ(places(9).find(' '), std::string::npos) << places(9);
    EXPECT_EQ(bo(9, "flags"), "2");
    EXPECT_EQ(bo(9, "cpu"), "1"); // it was in VRAM before
    EXPECT_EQ(bo(9, "pin"), "1");
    EXPECT_EQ(line("lru unevictable"), "9");
    EXPECT_EQ(line("budget").substr(line("budget").find("pinned")), "pinned 4194304");
}

TEST_F(sim_memory, pins_are_counted_for_each_file)
{
    ASSERT_EQ(create(1, 1, 4, 0, domain_gtt), 0);
    ASSERT_EQ(share(1, 1, 2), 0);
    EXPECT_EQ(unpin(1, 1), -EINVAL);
    ASSERT_EQ(pin(1, 1), 0);
    EXPECT_EQ(bo(1, "mem"), "vram"); // whatever it prefers
    EXPECT_EQ(bo(1, "cpu"), "0");    // the move has cleared it
    ASSERT_EQ(pin(1, 1), 0);
    ASSERT_EQ(pin(2, 1), 0);
    EXPECT_EQ(bo(1, "pin"), "3");
    EXPECT_EQ(b.query_usage().vram_pinned_bytes, 4 * MiB);
    ASSERT_EQ(destroy(1, 1), 0); // with both of its pins
    EXPECT_EQ(bo(1, "pin"), "1");
    ASSERT_EQ(close(2), 0);
    EXPECT_EQ(b.query_usage().vram_pinned_bytes, 0u);
    idle();
    EXPECT_EQ(b.query_usage().vram_usage_bytes, 0u);
}

TEST_F(sim_memory, a_failed_pin_leaves_its_flags)
{
    ASSERT_EQ(create(1, 1, 12), 0);
    ASSERT_EQ(pin(1, 1), 0);
    ASSERT_EQ(create(1, 2, 8), 0);
    EXPECT_EQ(pin(1, 2), -ENOMEM);
    EXPECT_EQ(bo(2, "flags"), "2");
    EXPECT_EQ(bo(2, "cpu"), "1");
    EXPECT_EQ(bo(2, "pin"), "0");
    EXPECT_EQ(pin(1, 3), -ENOENT);
}

TEST_F(sim_memory, sharing)
{
    ASSERT_EQ(create(1, 1, 1), 0);
    ASSERT_EQ(create(1, 2, 1, bo_vm_private), 0);
    EXPECT_EQ(share(1, 2, 2), -EPERM);
    EXPECT_EQ(share(1, 3, 2), -ENOENT);
    EXPECT_EQ(share(1, 1, 7), -ENOENT);
    ASSERT_EQ(share(1, 1, 2), 0);
    ASSERT_EQ(share(1, 1, 2), 0); // the same handle
    ASSERT_EQ(destroy(2, 1), 0);
    EXPECT_EQ(destroy(2, 1), -EINVAL);
    EXPECT_EQ(bo(1, "mem"), "vram");
    ASSERT_EQ(share(1, 1, 2), 0);
    ASSERT_EQ(destroy(1, 1), 0);
    EXPECT_EQ(bo(1, "mem"), "vram"); // the other's is left
    EXPECT_EQ(run({.kind = request_kind::bo_set_priority, .vm = 2, .bo = 1, .priority = 3}), -EINVAL);
    EXPECT_EQ(run({.kind = request_kind::bo_set_priority, .vm = 1, .bo = 2, .priority = 3}), 0);
    EXPECT_EQ(bo(2, "prio"), "3");
}

TEST_F(sim_memory, a_deleted_bo_is_a_zombie_until_it_is_idle)
{
    ASSERT_EQ(create(1, 1, 4, bo_vm_private), 0);
    ASSERT_EQ(destroy(1, 1), 0);
    EXPECT_EQ(line("bo 1"), "(none)");
    EXPECT_EQ(line("lru vram 1"), "zombie:1");
    b.advance(b.next_event_ns());
    EXPECT_EQ(line("lru vram 1"), "(none)");
    EXPECT_EQ(line("free"), "0+16777216");
}

TEST_F(sim_memory, closing_a_vm_waits_for_its_jobs)
{
    ASSERT_EQ(create(1, 1, 4, bo_vm_private), 0);
    ASSERT_EQ(create(1, 2, 4), 0);
    ASSERT_EQ(submit(1, {2}, 3 * ns_per_ms), 0);
    ASSERT_EQ(submit(1, {2}, 3 * ns_per_ms), 0);
    EXPECT_FALSE(b.signaled(1, 1));
    ASSERT_EQ(close(1), 0);
    EXPECT_EQ(b.now_ns(), 2 * 20259 + 6 * ns_per_ms);
    EXPECT_EQ(b.query_usage().vram_usage_bytes, 0u);
    EXPECT_EQ(line("vm 1"), "(none)");
    EXPECT_TRUE(b.signaled(1, 2));
    EXPECT_EQ(close(1), -ENOENT);
}

TEST_F(sim_memory, evict_all_leaves_pinned_ones_and_waits)
{
    for (u64 tag = 1; tag <= 3; tag++)
        ASSERT_EQ(create(1, tag, 4), 0);
    ASSERT_EQ(pin(1, 2), 0);
    EXPECT_EQ(b.evict_all(), 0);
    EXPECT_EQ(b.query_usage().vram_usage_bytes, 4 * MiB);
    EXPECT_EQ(line("lru gtt 1"), "1 3");
    EXPECT_EQ(line("moves"), "0");
}

TEST_F(sim_memory, swapout_takes_a_bo_out_of_its_lists)
{
    EXPECT_EQ(b.swapout(), 0); // nothing there
    ASSERT_EQ(create(1, 1, 4, 0, domain_gtt), 0);
    EXPECT_EQ(b.swapout(), 0);
    EXPECT_EQ(bo(1, "mem"), "system");
    EXPECT_EQ(line("lru unevictable"), "1");
    ASSERT_EQ(submit(1, {1}), 0);
    EXPECT_EQ(bo(1, "mem"), "gtt");
    EXPECT_EQ(line("lru gtt 1"), "1");
}

} // namespace
