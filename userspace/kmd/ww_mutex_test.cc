// SPDX-License-Identifier: MIT
// Who gets a ww_mutex, who sleeps, and who must die? Cases with several contexts, which the kernel's KUnit
// tests lack.
#include "kmd/ww_mutex.h"

#include <gtest/gtest.h>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

namespace vramlab::kmd {
namespace {

using state = task::state;

// A process with a ticket of its own. Lower numbers are older, in the order of construction.
struct actor {
    explicit actor(u32 id) : t(id) { ww_acquire_init(ctx); }

    // Asks for the lock, past the park point in front of it. With the ticket, unless without is set.
    state ask(ww_mutex &lock, bool without = false)
    {
        EXPECT_EQ(t.begin([&lock, without, this] { result = ww_mutex_lock(lock, without ? nullptr : &ctx); }),
                  state::parked);
        result = 1;
        return t.step();
    }
    int take(ww_mutex &lock)
    {
        EXPECT_EQ(ask(lock), state::idle);
        return result;
    }
    // After a wake: looks at the result.
    int wake_up()
    {
        EXPECT_EQ(t.current_state(), state::parked);
        EXPECT_EQ(t.step(), state::idle);
        return result;
    }

    ww_acquire_ctx ctx;
    task t;
    int result = 1;
};

class ww_mutex_contention : public ::testing::Test {
protected:
    ww_mutex_contention()
    {
        for (u32 i = 1; i <= 4; i++)
            actors.push_back(std::make_unique<actor>(i));
    }
    actor &operator[](u32 i) { return *actors[i - 1]; }

    std::vector<std::unique_ptr<actor>> actors;
    ww_mutex a, b, c, d;
};

TEST_F(ww_mutex_contention, parks_before_a_free_lock_too)
{
    auto &p = (*this)[1];
    EXPECT_EQ(p.t.begin([&] { p.result = ww_mutex_lock(a, &p.ctx); }), state::parked);
    EXPECT_FALSE(a.locked);
    EXPECT_EQ(p.t.step(), state::idle);
    EXPECT_TRUE(a.locked);
    EXPECT_EQ(p.take(a), -EALREADY);
    ww_mutex_unlock(a);
    EXPECT_EQ(p.ctx.acquired, 0u);
}

TEST_F(ww_mutex_contention, opposed_order_kills_the_younger)
{
    auto &old = (*this)[1], &young = (*this)[2];
    ASSERT_EQ(old.take(a), 0);
    ASSERT_EQ(young.take(b), 0);
    EXPECT_EQ(young.take(a), -EDEADLK) << "without sleeping";
    EXPECT_EQ(young.ctx.contending_lock, &a);
    EXPECT_EQ(old.ask(b), state::blocked) << "the older waits for the younger";
    ww_mutex_unlock(b);
    EXPECT_EQ(old.wake_up(), 0);

    // The slow lock: nothing held, so it sleeps whoever is older.
    EXPECT_EQ(young.t.begin([&] { ww_mutex_lock_slow(a, young.ctx); }), state::parked);
    EXPECT_EQ(young.t.step(), state::blocked);
    ww_mutex_unlock(a);
    EXPECT_EQ(a.ctx, &young.ctx) << "handed over at the unlock";
    EXPECT_EQ(young.ctx.contending_lock, nullptr);
    EXPECT_EQ(young.t.step(), state::idle);
    ww_mutex_unlock(a);
    ww_mutex_unlock(b);
    for (auto *p : {&old, &young})
        EXPECT_NO_THROW(ww_acquire_fini(p->ctx));
}

TEST_F(ww_mutex_contention, younger_without_locks_waits_for_an_older_holder)
{
    ASSERT_EQ((*this)[1].take(a), 0);
    EXPECT_EQ((*this)[2].ask(a), state::blocked);
    ww_mutex_unlock(a);
    EXPECT_EQ((*this)[2].wake_up(), 0);
    ww_mutex_unlock(a);
}

TEST_F(ww_mutex_contention, sleeping_younger_dies_when_an_older_arrives)
{
    auto &old = (*this)[1], &young = (*this)[2], &youngest = (*this)[3];
    ASSERT_EQ(youngest.take(a), 0);
    ASSERT_EQ(young.take(b), 0);
    ASSERT_EQ(young.ask(a), state::blocked) << "it may wait: the holder is younger";
    EXPECT_EQ(old.ask(a), state::blocked);
    EXPECT_EQ(young.t.current_state(), state::parked) << "woken by the step of the older one";
    EXPECT_EQ(a.first_waiter && a.locked, true);
    EXPECT_EQ(young.wake_up(), -EDEADLK);
    EXPECT_EQ(young.ctx.contending_lock, &a);
    ww_mutex_unlock(a);
    EXPECT_EQ(old.wake_up(), 0);
    ww_mutex_unlock(a);
    ww_mutex_unlock(b);
}

TEST_F(ww_mutex_contention, sleeping_younger_without_locks_lives)
{
    auto &old = (*this)[1], &young = (*this)[2], &youngest = (*this)[3];
    ASSERT_EQ(youngest.take(a), 0);
    ASSERT_EQ(young.ask(a), state::blocked);
    ASSERT_EQ(old.ask(a), state::blocked);
    EXPECT_EQ(young.t.current_state(), state::blocked);
    ww_mutex_unlock(a);
    EXPECT_EQ(young.t.current_state(), state::blocked) << "the older one came to the front";
    EXPECT_EQ(old.wake_up(), 0);
    ww_mutex_unlock(a);
    EXPECT_EQ(young.wake_up(), 0);
    ww_mutex_unlock(a);
}

TEST_F(ww_mutex_contention, younger_with_locks_dies_behind_an_older_waiter)
{
    auto &old = (*this)[1], &young = (*this)[2], &youngest = (*this)[3];
    ASSERT_EQ(youngest.take(a), 0);
    ASSERT_EQ(old.ask(a), state::blocked);
    ASSERT_EQ(young.take(b), 0);
    EXPECT_EQ(young.take(a), -EDEADLK) << "the holder is younger, but a waiter is older";
    ww_mutex_unlock(a);
    EXPECT_EQ(old.wake_up(), 0);
    ww_mutex_unlock(a);
    ww_mutex_unlock(b);
}

TEST_F(ww_mutex_contention, waiters_are_served_by_age_whatever_the_order_of_arrival)
{
    ww_acquire_ctx holder;
    ww_acquire_init(holder);
    ASSERT_EQ(ww_mutex_lock(a, &holder), 0);
    for (const u32 i : {3u, 1u, 4u, 2u})
        ASSERT_EQ((*this)[i].ask(a), state::blocked);
    for (const u32 i : {1u, 2u, 3u, 4u}) {
        ww_mutex_unlock(a);
        EXPECT_EQ(a.ctx, &(*this)[i].ctx);
        EXPECT_EQ(a.holder, i);
        EXPECT_EQ((*this)[i].wake_up(), 0);
    }
    ww_mutex_unlock(a);
    EXPECT_FALSE(a.locked);
    EXPECT_EQ(a.first_waiter, nullptr);
}

TEST_F(ww_mutex_contention, waiters_without_ticket_keep_their_place)
{
    // No ticket goes in front of an older arrival without one, unless a younger ticket is ahead of that.
    ASSERT_EQ(ww_mutex_lock(a, nullptr), 0);
    ASSERT_EQ((*this)[3].ask(a, true), state::blocked);
    ASSERT_EQ((*this)[2].ask(a), state::blocked);
    ASSERT_EQ((*this)[4].ask(a, true), state::blocked);
    ASSERT_EQ((*this)[1].ask(a), state::blocked); // in front of 2, so of 4 as well
    for (const u32 i : {3u, 1u, 2u, 4u}) {
        ww_mutex_unlock(a);
        EXPECT_EQ(a.holder, i);
        EXPECT_EQ((*this)[i].wake_up(), 0);
    }
    ww_mutex_unlock(a);
}

TEST_F(ww_mutex_contention, holder_without_ticket_is_waited_for)
{
    auto &young = (*this)[4];
    ASSERT_EQ(young.take(b), 0);
    ASSERT_EQ(ww_mutex_lock(a, nullptr), 0);
    EXPECT_EQ(young.ask(a), state::blocked) << "no ticket, no age";
    ww_mutex_unlock(a);
    EXPECT_EQ(young.wake_up(), 0);
    ww_mutex_unlock(a);
    ww_mutex_unlock(b);
}

TEST_F(ww_mutex_contention, trylock_with_ticket_joins_it_and_never_waits)
{
    auto &old = (*this)[1], &young = (*this)[2];
    EXPECT_TRUE(ww_mutex_trylock(a, &young.ctx));
    EXPECT_EQ(young.ctx.acquired, 1u);
    EXPECT_FALSE(ww_mutex_trylock(a, &young.ctx));
    EXPECT_FALSE(ww_mutex_trylock(a, &old.ctx));
    EXPECT_FALSE(ww_mutex_trylock(a, nullptr));
    EXPECT_EQ(young.take(a), -EALREADY);

    // Enough to die for.
    ASSERT_EQ(old.take(b), 0);
    EXPECT_EQ(young.take(b), -EDEADLK);
    ww_mutex_unlock(a);
    ww_mutex_unlock(b);
}

TEST_F(ww_mutex_contention, trylock_without_ticket_counts_for_none)
{
    auto &young = (*this)[2];
    EXPECT_TRUE(ww_mutex_trylock(a, nullptr));
    EXPECT_EQ(a.ctx, nullptr);
    ASSERT_EQ((*this)[1].take(b), 0);
    EXPECT_EQ(young.ask(b), state::blocked) << "it holds a, but not with its ticket";
    ww_mutex_unlock(b);
    EXPECT_EQ(young.wake_up(), 0);
    ww_mutex_unlock(a);
    ww_mutex_unlock(b);
}

TEST_F(ww_mutex_contention, lock_taken_after_deadlk_is_only_warned_about)
{
    auto &old = (*this)[1], &young = (*this)[2];
    ASSERT_EQ(old.take(a), 0);
    ASSERT_EQ(young.take(b), 0);
    const u64 before = ww_debug_warnings();
    ASSERT_EQ(young.take(a), -EDEADLK);
    EXPECT_EQ(ww_debug_warnings(), before);
    EXPECT_EQ(young.take(c), 0);
    EXPECT_GT(ww_debug_warnings(), before);
    for (ww_mutex *lock : {&a, &b, &c})
        ww_mutex_unlock(*lock);
}

TEST_F(ww_mutex_contention, misuse_is_reported)
{
    ASSERT_EQ((*this)[1].take(a), 0);
    EXPECT_THROW(ww_mutex_lock(a, nullptr), std::logic_error) << "sleeping outside of a task";
    EXPECT_EQ(a.first_waiter, nullptr);
    EXPECT_THROW(ww_acquire_fini((*this)[1].ctx), std::logic_error);
    ww_mutex_unlock(a);
    EXPECT_THROW(ww_mutex_unlock(a), std::logic_error);
}

TEST_F(ww_mutex_contention, events_name_the_holder)
{
    events::event_log log;
    trace.sink = &log;
    auto &old = (*this)[1], &young = (*this)[2];
    old.take(a);
    young.take(b);
    young.take(a);
    old.ask(b);
    trace.sink = nullptr;
    ASSERT_EQ(log.events().size(), 2u);
    EXPECT_EQ(log.events()[0].type, events::event_type::lock_deadlk);
    EXPECT_EQ(log.events()[0].process, 2u);
    EXPECT_EQ(log.events()[0].a, 1u);
    EXPECT_EQ(log.events()[1].type, events::event_type::lock_contended);
    EXPECT_EQ(log.events()[1].process, 1u);
    EXPECT_EQ(log.events()[1].a, 2u);
    ww_mutex_unlock(b);
    old.wake_up();
    ww_mutex_unlock(a);
    ww_mutex_unlock(b);
}

} // namespace
} // namespace vramlab::kmd
