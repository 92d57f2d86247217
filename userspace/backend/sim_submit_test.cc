// SPDX-License-Identifier: MIT
// Submissions: what is validated and moved, for how much of the budget, what they wait for, how long they
// take.
#include "backend/sim_fixture.h"

using namespace vramlab;
using namespace vramlab::backend;

namespace {

constexpr u64 fill_4mib_ns = 20259;
constexpr u64 copy_4mib_ns = 249141; // 5 us + ceil(4 MiB / 16 GiB/s)

class sim_submit : public sim_test {
protected:
    u64 threshold() const // of the last submission
    {
        u64 bytes = ~u64{0};
        for (const events::event &e : log.events())
            bytes = e.type == events::event_type::budget ? e.a : bytes;
        return bytes;
    }
};

TEST_F(sim_submit, names_that_do_not_exist)
{
    ASSERT_EQ(create(1, 1, 1, bo_vm_private), 0);
    ASSERT_EQ(create(1, 2, 1), 0);
    ASSERT_EQ(create(2, 3, 1), 0);
    EXPECT_EQ(submit(1, {2, 3}), -ENOENT); // not shared with this VM
    EXPECT_EQ(submit(1, {1}), -EINVAL);    // private ones are not listed
    EXPECT_EQ(submit(1, {1, 3}), -EINVAL); // the first one decides
    EXPECT_EQ(submit(1, {3, 1}), -ENOENT);
    EXPECT_EQ(submit(1, {}, 0, {{2, 1, 1}}), -EINVAL); // touched, but not listed
    EXPECT_EQ(submit(1, {2}, 0, {{3, 1, 1}}), -ENOENT);
    EXPECT_EQ(submit(1, {2}, 0, {{1, 1, 1}, {2, 1, 1}}), 0);
    EXPECT_EQ(run({.kind = request_kind::submit, .vm = 1, .list = 9}), -ENOENT);
    EXPECT_EQ(run({.kind = request_kind::list_define, .vm = 1, .id = 0}), -EINVAL);
    EXPECT_EQ(line("vm 1"), "seqno 1 evicted");
    EXPECT_EQ(wait(1, 2), -EINVAL);
    EXPECT_EQ(wait(2), 0);
}

TEST_F(sim_submit, a_list_follows_its_handles)
{
    ASSERT_EQ(create(1, 1, 1), 0);
    list(1, 1, {1});
    const request r{.kind = request_kind::submit, .vm = 1, .list = 1};
    EXPECT_EQ(run(r), 0);
    ASSERT_EQ(destroy(1, 1), 0);
    EXPECT_EQ(run(r), -ENOENT);
}

TEST_F(sim_submit, duplicates_are_locked_once)
{
    ASSERT_EQ(create(1, 1, 1), 0);
    EXPECT_EQ(submit(1, {1, 1, 1}), 0);
}

TEST_F(sim_submit, evicted_private_bos_come_back_in_the_order_of_the_list_as_the_budget_allows)
{
    for (u64 tag = 1; tag <= 3; tag++)
        ASSERT_EQ(create(1, tag, 4, bo_vm_private), 0);
    ASSERT_EQ(create(2, 8, 15), 0);
    ASSERT_EQ(line("vm 1"), "seqno 0 evicted 3 2 1");
    idle();
    ASSERT_EQ(destroy(2, 8), 0);
    ASSERT_EQ(create(2, 9, 8), 0);
    b.set_event_sink(&log);
    // 8 MiB are free, so a quarter of that, 2 MiB, may be moved: with one BO that is spent.
    ASSERT_EQ(submit(1), 0);
    EXPECT_EQ(threshold(), 2 * MiB);
    EXPECT_EQ(bo(3, "mem"), "vram");
    EXPECT_EQ(bo(2, "mem"), "vram"); // GTT is allowed, but a fallback only, and there is room
    EXPECT_EQ(bo(1, "mem"), "gtt");
    EXPECT_EQ(line("vm 1"), "seqno 1 evicted");
    EXPECT_EQ(line("budget"), "accum_us -786432 last_us 1000000 pinned 0"); // 262,144 - 1,048,576
    // It left the list: nobody looks at it again.
    ASSERT_EQ(destroy(2, 9), 0);
    idle();
    ASSERT_EQ(submit(1), 0);
    EXPECT_EQ(bo(1, "mem"), "gtt");
}

TEST_F(sim_submit, free_vram_is_used_without_a_budget)
{
    ASSERT_EQ(create(1, 1, 8), 0);
    ASSERT_EQ(create(1, 2, 12), 0);
    ASSERT_EQ(bo(1, "mem"), "gtt");
    idle();
    ASSERT_EQ(destroy(1, 2), 0);
    // GTT is a fallback only, so that the first look at allowed domains goes to VRAM where there is room.
    b.set_event_sink(&log);
    ASSERT_EQ(submit(1, {1}), 0);
    EXPECT_EQ(bo(1, "mem"), "vram");
}

TEST_F(sim_submit, over_the_budget_nobody_is_evicted)
{
    ASSERT_EQ(create(1, 1, 8), 0);
    ASSERT_EQ(create(2, 2, 12), 0);
    b.set_event_sink(&log);
    ASSERT_EQ(submit(1, {1}), 0);
    EXPECT_EQ(threshold(), 4 * MiB / 4); // 4 MiB are free, which is more than an eighth
    EXPECT_EQ(bo(1, "mem"), "vram");     // one move is always possible
    EXPECT_EQ(bo(2, "mem"), "gtt");
    // 20 MiB moved, the eviction included: 2,621,440 us less than the 131,072 us that the threshold was.
    EXPECT_EQ(line("budget"), "accum_us -2490368 last_us 0 pinned 0");
    log.clear();
    ASSERT_EQ(create(1, 3, 7), 0);
    ASSERT_EQ(submit(2, {2}), 0);
    EXPECT_EQ(threshold(), 0u);
    EXPECT_EQ(bo(2, "mem"), "gtt");
}

TEST_F(sim_submit, what_must_be_in_vram_evicts_over_the_budget_or_fails)
{
    ASSERT_EQ(create(1, 1, 8, 0, domain_vram, domain_vram), 0);
    ASSERT_EQ(create(2, 2, 14), 0);
    ASSERT_EQ(bo(1, "mem"), "gtt"); // evicted, though not allowed there
    ASSERT_EQ(pin(2, 2), 0);
    EXPECT_EQ(submit(1, {1}), -ENOMEM);
    EXPECT_EQ(line("vm 1"), "seqno 0 evicted"); // no number for a failure
    ASSERT_EQ(unpin(2, 2), 0);
    EXPECT_EQ(submit(1, {1}), 0);
    EXPECT_EQ(bo(1, "mem"), "vram");
}

TEST_F(sim_submit, listed_bos_go_to_the_tail_in_order_and_private_ones_behind)
{
    ASSERT_EQ(create(1, 1, 1, bo_vm_private), 0);
    for (u64 tag = 2; tag <= 5; tag++)
        ASSERT_EQ(create(1, tag, 1), 0);
    ASSERT_EQ(submit(1, {5, 2}), 0);
    EXPECT_EQ(line("lru vram 1"), "3 4 5 2 1");
}

TEST_F(sim_submit, job_durations_depend_on_where_bos_are)
{
    ASSERT_EQ(create(1, 1, 4), 0);
    ASSERT_EQ(create(1, 2, 4, 0, domain_gtt), 0);
    idle();
    // 1 s + 2 s of VRAM at 256 GiB/s + 3 s of the link at 16 GiB/s
    ASSERT_EQ(submit(1, {1, 2}, ns_per_s, {{1, 512 * GiB, 7}, {2, 7, 48 * GiB}}), 0);
    EXPECT_EQ(b.next_event_ns(), b.now_ns() + 6 * ns_per_s);
    EXPECT_EQ(submit(1, {}, ~u64{0}), -EINVAL); // longer than 36 years
    EXPECT_EQ(submit(1, {1}, 0, {{1, ~u64{0}, 0}, {1, 1, 0}}), -EINVAL);
}

TEST_F(sim_submit, jobs_wait_for_the_moves_of_their_bos)
{
    ASSERT_EQ(create(1, 1, 4), 0);
    ASSERT_EQ(submit(1, {1}, 100), 0);
    ASSERT_EQ(submit(2, {}, 100), 0); // not this one
    EXPECT_EQ(line("engine gfx"), "end 100 running 1 queued 1");
    b.advance(100);
    EXPECT_EQ(line("engine gfx"), "end 100 running 0 queued 1");
    EXPECT_TRUE(b.signaled(2, 1));
    ASSERT_EQ(wait(1), 0);
    EXPECT_EQ(b.now_ns(), fill_4mib_ns + 100);
}

TEST_F(sim_submit, implicit_synchronisation_between_vms)
{
    ASSERT_EQ(create(1, 2, 4, bo_explicit_sync), 0);
    ASSERT_EQ(create(1, 3, 4), 0);
    ASSERT_EQ(share(1, 2, 2), 0);
    ASSERT_EQ(share(1, 3, 2), 0);
    idle();
    const u64 t = b.now_ns();
    const std::string now = std::to_string(t + 1000);
    ASSERT_EQ(create(1, 1, 4), 0);
    ASSERT_EQ(submit(1, {1, 2, 3}, 1000), 0); // waits for the fill of BO 1
    ASSERT_EQ(submit(2, {2}, 1000), 0);
    EXPECT_EQ(line("engine gfx"),
              "end " + now + " running 1 queued 1"); // not with the other's job on an explicit BO
    ASSERT_EQ(submit(2, {3}, 1000), 0);
    EXPECT_EQ(line("engine gfx"), "end " + now + " running 1 queued 2"); // but with it on another
    b.advance(t + fill_4mib_ns);
    EXPECT_EQ(line("engine gfx"), "end " + std::to_string(t + fill_4mib_ns + 1000) + " running 2 queued 0");
}

TEST_F(sim_submit, evictions_are_one_after_another_behind_the_jobs)
{
    ASSERT_EQ(create(1, 1, 4), 0);
    ASSERT_EQ(create(1, 2, 4), 0);
    ASSERT_EQ(share(1, 1, 2), 0);
    idle();
    const u64 t = b.now_ns();
    ASSERT_EQ(submit(1, {1, 2}, 1000), 0);
    ASSERT_EQ(submit(2, {1}, 1000), 0);
    EXPECT_EQ(line("lru vram 1"), "2 1");
    EXPECT_EQ(b.evict_all(), 0); // 2 waits for the first job only, and 1 for 2's copy
    EXPECT_EQ(b.now_ns(), t + 1000 + 2 * copy_4mib_ns);
}

TEST_F(sim_submit, an_eviction_waits_for_the_jobs_that_use_the_bo)
{
    ASSERT_EQ(create(1, 1, 12), 0);
    idle();
    const u64 t = b.now_ns();
    ASSERT_EQ(submit(1, {1}, 5 * ns_per_ms), 0);
    ASSERT_EQ(create(2, 2, 12), 0); // does not wait: pipelined
    EXPECT_EQ(b.now_ns(), t);
    EXPECT_EQ(bo(1, "mem"), "gtt");
    EXPECT_EQ(line("engine copy").substr(line("engine copy").find("running")), "running 0 queued 2");
    EXPECT_EQ(b.next_event_ns(), t + 5 * ns_per_ms);
    b.advance(t + 5 * ns_per_ms);
    EXPECT_EQ(line("engine copy").substr(line("engine copy").find("running")), "running 2 queued 0");
}

TEST_F(sim_submit, waiting_for_a_submission_stops_the_clock_at_its_end)
{
    ASSERT_EQ(submit(1, {}, 1000), 0);
    ASSERT_EQ(submit(1, {}, 1000), 0);
    ASSERT_EQ(submit(2, {}, 0), 0);
    ASSERT_EQ(wait(1, 1), 0);
    EXPECT_EQ(b.now_ns(), 1000u);
    ASSERT_EQ(wait(1), 0);
    EXPECT_EQ(b.now_ns(), 2000u);
    EXPECT_FALSE(b.signaled(2, 1)); // ends at the same moment, but after
    EXPECT_EQ(b.next_event_ns(), 2000u);
    b.advance(2000);
    EXPECT_TRUE(b.signaled(2, 1));
    EXPECT_THROW(b.advance(1999), std::runtime_error);
    EXPECT_THROW(b.signaled(2, 2), std::runtime_error);
}

TEST_F(sim_submit, events_of_a_job)
{
    ASSERT_EQ(create(1, 1, 4, 0, domain_gtt), 0);
    b.set_event_sink(&log);
    ASSERT_EQ(submit(1, {1}, 10, {{1, 5, 4096}}), 0);
    ASSERT_EQ(wait(1), 0);
    const auto &e = log.events();
    const auto start =
        std::find_if(e.begin(), e.end(), [](auto &x) { return x.type == events::event_type::job_start; });
    const auto end =
        std::find_if(e.begin(), e.end(), [](auto &x) { return x.type == events::event_type::job_end; });
    ASSERT_NE(start, e.end());
    ASSERT_NE(end, e.end());
    EXPECT_EQ(start->time_ns, 0u);
    EXPECT_EQ(end->time_ns, 10u + 239u); // ceil(4096 / 16 GiB/s)
    EXPECT_EQ(end->b, 1u);
    EXPECT_EQ(end->c, 4096u);
    EXPECT_EQ(end->vm, 1u);
    EXPECT_EQ(end->process, 1u);
    EXPECT_EQ(e.back().type, events::event_type::fence_wait);
    EXPECT_EQ(e.back().a, 249u);
}

} // namespace
