// SPDX-License-Identifier: MIT
// Do tasks give way, sleep and end where they should, and does everything that belongs to a stack stay with
// it?
#include "kmd/task.h"

#include "kmd/dmem_cgroup.h"
#include "kmd/trace.h"

#include <gtest/gtest.h>
#include <stdexcept>
#include <string>
#include <vector>

namespace vramlab::kmd {
namespace {

using state = task::state;

TEST(task, runs_to_park_points_in_turn)
{
    task a(1), b(2);
    std::string order;
    const auto work = [&](char c) {
        return [&order, c] {
            for (int i = 0; i < 3; i++) {
                order += c;
                task::current()->park();
            }
        };
    };
    EXPECT_EQ(a.begin(work('a')), state::parked);
    EXPECT_EQ(b.begin(work('b')), state::parked);
    EXPECT_EQ(task::current(), nullptr);
    for (int i = 0; i < 2; i++) {
        EXPECT_EQ(a.step(), state::parked);
        EXPECT_EQ(b.step(), state::parked);
    }
    EXPECT_EQ(a.step(), state::idle);
    EXPECT_EQ(b.step(), state::idle);
    EXPECT_EQ(order, "ababab");
}

TEST(task, woken_task_is_parked_until_stepped)
{
    task a(1);
    bool ran = false;
    EXPECT_EQ(a.begin([&] {
        task::current()->block();
        ran = true;
    }),
              state::blocked);
    EXPECT_THROW(a.step(), std::logic_error);
    a.wake();
    EXPECT_EQ(a.current_state(), state::parked);
    EXPECT_FALSE(ran);
    EXPECT_THROW(a.wake(), std::logic_error);
    EXPECT_EQ(a.step(), state::idle);
    EXPECT_TRUE(ran);
}

TEST(task, exception_reaches_whoever_runs_the_task)
{
    task a(1);
    EXPECT_THROW(a.begin([] { throw std::runtime_error("at once"); }), std::runtime_error);
    EXPECT_EQ(a.current_state(), state::idle);
    EXPECT_EQ(a.begin([] {
        task::current()->park();
        throw std::runtime_error("later");
    }),
              state::parked);
    EXPECT_THROW(a.step(), std::runtime_error);
    EXPECT_EQ(a.current_state(), state::idle);
    EXPECT_EQ(a.begin([] {}), state::idle) << "usable again";
}

TEST(task, may_park_while_it_handles_an_exception)
{
    struct parks_in_destructor {
        ~parks_in_destructor() { task::current()->park(); }
    };
    std::vector<std::string> caught;
    const auto work = [&](const char *what) {
        return [&caught, what] {
            try {
                const parks_in_destructor unwound;
                throw std::runtime_error(what);
            } catch (const std::exception &e) {
                task::current()->park();
                caught.emplace_back(e.what());
                try {
                    throw;
                } catch (const std::exception &again) {
                    caught.emplace_back(again.what());
                }
            }
        };
    };
    task a(1), b(2);
    a.begin(work("a"));
    b.begin(work("b"));
    EXPECT_EQ(std::uncaught_exceptions(), 0);
    a.step();
    b.step();
    EXPECT_EQ(std::current_exception(), nullptr);
    EXPECT_EQ(a.step(), state::idle);
    EXPECT_EQ(b.step(), state::idle);
    EXPECT_EQ(caught, (std::vector<std::string>{"a", "a", "b", "b"}));
}

TEST(task, process_and_cgroup_go_with_the_stack)
{
    dmemcg_state root("root"), game("game", &root);
    task a(7);
    trace.process = 3;
    dmem_cgroup_current = &game;
    a.begin([&] {
        EXPECT_EQ(trace.process, 7u);
        EXPECT_EQ(dmem_cgroup_current, &game);
        dmem_cgroup_current = &root;
        task::current()->park();
        EXPECT_EQ(trace.process, 7u);
        EXPECT_EQ(dmem_cgroup_current, &root);
    });
    EXPECT_EQ(trace.process, 3u);
    EXPECT_EQ(dmem_cgroup_current, &game);
    dmem_cgroup_current = nullptr;
    a.step();
    EXPECT_EQ(trace.process, 3u);
    EXPECT_EQ(dmem_cgroup_current, nullptr);
    trace.process = 0;
}

u64 recurse(u32 depth)
{
    volatile u8 frame[1024];
    frame[depth % sizeof(frame)] = static_cast<u8>(depth);
    if (depth == 0) {
        task::current()->park();
        return 0;
    }
    return recurse(depth - 1) + frame[depth % sizeof(frame)] % 2;
}

TEST(task, deep_stacks_of_many_tasks_do_not_mix)
{
    std::vector<std::unique_ptr<task>> tasks;
    std::vector<u64> sums(32);
    for (u32 round = 0; round < 3; round++) { // later rounds use pooled stacks
        for (u32 i = 0; i < sums.size(); i++) {
            tasks.push_back(std::make_unique<task>(i));
            EXPECT_EQ(tasks.back()->begin([&sums, i] { sums[i] = recurse(100); }), state::parked);
        }
        for (auto &t : tasks)
            EXPECT_EQ(t->step(), state::idle);
        tasks.clear();
        for (const u64 sum : sums)
            EXPECT_EQ(sum, 50u);
    }
}

TEST(task, may_run_another_task)
{
    task outer(1), inner(2);
    EXPECT_EQ(outer.begin([&] {
        EXPECT_EQ(inner.begin([] { task::current()->park(); }), state::parked);
        EXPECT_EQ(task::current(), &outer);
        EXPECT_EQ(trace.process, 1u);
        EXPECT_EQ(inner.step(), state::idle);
    }),
              state::idle);
}

} // namespace
} // namespace vramlab::kmd
