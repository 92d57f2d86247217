// SPDX-License-Identifier: MIT
// Several operations at a time: park points, wait-die, results, what mainline makes of a deadlock.
#include "backend/sim_fixture.h"

#include "base/rng.h"

using namespace vramlab;
using namespace vramlab::backend;

namespace {

class sim_tasks : public sim_test {
protected:
    // Steps processes in turn until all are idle; at most `limit` steps.
    void finish(std::vector<u32> order, u32 limit = 1000)
    {
        for (u32 i = 0; i < limit; i++) {
            bool under_way = false;
            for (const u32 p : order) {
                under_way |= b.state_of(p) != task_state::idle;
                if (b.state_of(p) == task_state::parked) {
                    b.step(p);
                    break;
                }
            }
            std::rotate(order.begin(), order.begin() + 1, order.end());
            if (!under_way)
                return;
        }
        FAIL() << "the tasks do not end";
    }
    u32 steps_to_end(u32 process)
    {
        u32 n = 0;
        for (; b.state_of(process) == task_state::parked; n++)
            b.step(process);
        return n;
    }
};

TEST_F(sim_tasks, parks_before_each_lock)
{
    ASSERT_EQ(create(1, 1, 1), 0);
    ASSERT_EQ(create(1, 2, 1), 0);
    EXPECT_EQ(b.begin(submission(1, {1, 2})), task_state::parked);
    EXPECT_EQ(line("task 1"), "parked");
    EXPECT_EQ(steps_to_end(1), 3u); // the VM and two BOs
    EXPECT_EQ(b.take_result(1), (result{0, 1}));
    EXPECT_THROW(b.take_result(1), std::runtime_error);
    EXPECT_THROW(b.step(1), std::runtime_error);

    // Creating a private BO locks the VM, a shared one nothing.
    EXPECT_EQ(b.begin({.kind = request_kind::bo_create,
                       .process = 1,
                       .vm = 1,
                       .bo = 3,
                       .size_bytes = MiB,
                       .preferred = 4}),
              task_state::idle);
    EXPECT_EQ(b.begin({.kind = request_kind::bo_create,
                       .process = 1,
                       .vm = 1,
                       .bo = 4,
                       .size_bytes = MiB,
                       .preferred = 4,
                       .flags = bo_vm_private}),
              task_state::parked);
    EXPECT_EQ(steps_to_end(1), 1u);
    EXPECT_EQ(b.begin({.kind = request_kind::pin, .process = 1, .vm = 1, .bo = 1}), task_state::parked);
    EXPECT_EQ(steps_to_end(1), 1u);
    // The pin that goes with the handle.
    EXPECT_EQ(b.begin({.kind = request_kind::bo_destroy, .process = 1, .vm = 1, .bo = 1}),
              task_state::parked);
    EXPECT_EQ(steps_to_end(1), 1u);
    // A pin that the file does not hold: found out with the lock held.
    EXPECT_EQ(b.begin({.kind = request_kind::unpin, .process = 1, .vm = 1, .bo = 2}), task_state::parked);
    EXPECT_EQ(steps_to_end(1), 1u);
    EXPECT_EQ(b.take_result(1).error, -EINVAL);
}

TEST_F(sim_tasks, one_operation_a_process)
{
    ASSERT_EQ(create(1, 1, 1), 0);
    const request r = submission(1, {1});
    b.begin(r);
    EXPECT_THROW(b.begin(r), std::runtime_error);
    EXPECT_THROW(b.begin({.kind = request_kind::wait, .process = 9, .vm = 1}), std::runtime_error);
    reset(small_system()); // ends what is under way
    EXPECT_EQ(b.state_of(1), task_state::idle);
}

TEST_F(sim_tasks, the_younger_one_dies_and_comes_back)
{
    ASSERT_EQ(create(1, 1, 1), 0);
    ASSERT_EQ(create(1, 2, 1), 0);
    ASSERT_EQ(share(1, 1, 2), 0);
    ASSERT_EQ(share(1, 2, 2), 0);
    idle();
    const request one = submission(1, {1, 2}), two = submission(2, {2, 1});
    b.set_event_sink(&log);
    b.begin(one); // older
    b.begin(two);
    b.step(1); // VM 1
    b.step(2); // VM 2
    b.step(1); // BO 1
    b.step(2); // BO 2
    EXPECT_EQ(b.step(2),
              task_state::parked); // BO 1 is held by an older one: dies, drops all, is about to wait for it
    EXPECT_EQ(count(events::event_type::lock_deadlk), 1u);
    EXPECT_EQ(count(events::event_type::backoff), 1u);
    EXPECT_EQ(b.step(2), task_state::blocked);
    EXPECT_EQ(line("task 2"), "blocked");
    EXPECT_EQ(b.step(1), task_state::idle); // BO 2 is free again: to the end, which wakes the other
    EXPECT_EQ(b.state_of(2), task_state::parked);
    EXPECT_EQ(steps_to_end(2), 3u); // BO 1 it has, VM 2, BO 2
    EXPECT_EQ(b.take_result(1), (result{0, 1}));
    EXPECT_EQ(b.take_result(2), (result{0, 1}));
    for (const events::event &e : log.events()) {
        if (e.type == events::event_type::lock_deadlk) {
            EXPECT_EQ(e.bo, 1u);
        }
    }
}

TEST_F(sim_tasks, an_older_one_waits)
{
    ASSERT_EQ(create(1, 1, 1), 0);
    ASSERT_EQ(create(1, 2, 1), 0);
    ASSERT_EQ(share(1, 1, 2), 0);
    ASSERT_EQ(share(1, 2, 2), 0);
    const request one = submission(1, {1}), two = submission(2, {1, 2});
    b.set_event_sink(&log);
    b.begin(one); // has its ticket
    b.begin(two);
    b.step(2); // VM 2
    b.step(2); // BO 1
    b.step(1); // VM 1
    EXPECT_EQ(b.step(1), task_state::blocked);
    EXPECT_EQ(count(events::event_type::lock_contended), 1u);
    EXPECT_EQ(b.step(2), task_state::idle); // BO 2, and done
    EXPECT_EQ(b.state_of(1), task_state::parked);
    EXPECT_EQ(steps_to_end(1), 1u);
    EXPECT_EQ(count(events::event_type::backoff), 0u);
}

// The device goes on while a task is parked.
TEST_F(sim_tasks, time_passes_while_a_task_is_parked)
{
    ASSERT_EQ(create(1, 1, 4), 0);
    b.begin(submission(1, {1}));
    b.step(1);
    b.advance(ns_per_ms);
    EXPECT_EQ(bo(1, "busy"), "0");
    steps_to_end(1);
    EXPECT_EQ(b.take_result(1).error, 0);
}

// The younger one has to evict what the older one has locked: mainline turns the deadlock into -ENOMEM, where
// nothing but VRAM will do. (Case A5.)
TEST_F(sim_tasks, opposed_evictions_fail_in_mainline)
{
    ASSERT_EQ(create(1, 4, 1, 0, domain_gtt), 0);
    for (u64 tag = 1; tag <= 3; tag++)
        ASSERT_EQ(create(1, tag, 3, 0, domain_vram, domain_vram), 0);
    for (u64 tag = 11; tag <= 13; tag++)
        ASSERT_EQ(create(2, tag, 3, 0, domain_vram, domain_vram), 0);
    idle();
    // 15 of 16 MiB; one of the first process's is out.
    ASSERT_EQ(bo(1, "mem"), "gtt");
    ASSERT_EQ(submit(1, {2, 3, 1}), 0);
    idle();
    ASSERT_EQ(bo(11, "mem"), "gtt");
    const request one = submission(1, {1, 2, 3, 4}), two = submission(2, {11, 12, 13});
    b.set_event_sink(&log);
    b.begin(one);
    for (u32 i = 0; i < 4; i++)
        EXPECT_EQ(b.step(1), task_state::parked); // VM 1 and what is in VRAM
    b.begin(two);
    steps_to_end(2);
    EXPECT_EQ(b.take_result(2).error, -ENOMEM);
    EXPECT_GT(count(events::event_type::error_converted), 0u);
    finish({1});
    EXPECT_EQ(b.take_result(1).error, 0);
    // With nobody in the way it works.
    EXPECT_EQ(submit(2, {11, 12, 13}), 0);
    EXPECT_EQ(bo(11, "mem"), "vram");
}

// Random steps of random operations: whatever happens, tasks end and everything is given back.
TEST_F(sim_tasks, random_interleavings_end)
{
    for (u64 seed = 1; seed <= 20; seed++) {
        system_config s = small_system();
        s.processes.push_back({3, "three", ""});
        reset(s);
        rng r(seed);
        for (u32 vm = 1; vm <= 3; vm++) {
            for (u64 i = 0; i < 4; i++)
                create(vm, vm * 10 + i, r.between(1, 3), r.below(2) ? bo_vm_private : 0, domain_vram,
                       r.below(3) ? 0 : domain_vram);
            for (u32 other = 1; other <= 3; other++)
                for (u64 i = 0; i < 4; i++)
                    if (other != vm)
                        share(vm, vm * 10 + i, other);
        }
        for (u32 round = 0; round < 30; round++) {
            const u32 p = static_cast<u32>(r.between(1, 3));
            if (b.state_of(p) == task_state::parked) {
                b.step(p);
            } else if (b.state_of(p) == task_state::idle) {
                std::vector<u64> bos;
                for (u64 i = r.below(5); i > 0; i--)
                    bos.push_back(r.between(1, 3) * 10 + r.below(4));
                if (r.below(4) == 0)
                    b.begin({.kind = request_kind::pin, .process = p, .vm = p, .bo = p * 10 + r.below(4)});
                else
                    b.begin(submission(p, bos, r.below(100'000)));
            }
            if (r.below(4) == 0)
                b.advance(b.now_ns() + r.below(200'000));
        }
        finish({1, 2, 3});
        for (u32 vm = 1; vm <= 3; vm++)
            ASSERT_EQ(close(vm), 0);
        idle();
        EXPECT_EQ(b.query_usage().vram_usage_bytes, 0u);
        EXPECT_EQ(b.query_usage().gtt_usage_bytes, 0u);
        EXPECT_EQ(b.query_usage().vram_pinned_bytes, 0u);
        EXPECT_EQ(line("free"), "0+16777216");
    }
}

} // namespace
