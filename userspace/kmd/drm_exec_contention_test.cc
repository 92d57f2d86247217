// SPDX-License-Identifier: MIT
// Does drm_exec make progress under contention, in the order in which the kernel does? None of the kernel's
// own cases asks.
#include "kmd/drm_exec.h"

#include <algorithm>
#include <gtest/gtest.h>
#include <memory>
#include <random>
#include <vector>

namespace vramlab::kmd {
namespace {

using state = task::state;

struct gem_object : drm_gem_object {
    gem_object()
    {
        resv = &own;
        free = [](drm_gem_object *obj) { static_cast<gem_object *>(obj)->freed = true; };
    }
    dma_resv own;
    bool freed = false;
};

// Locks the objects as a submission does, then unlocks them. What happened goes to the log.
struct submission {
    submission(u32 id, std::vector<drm_gem_object *> objs) : objects(std::move(objs)), t(id) {}

    state begin()
    {
        return t.begin([this] { run(); });
    }
    void run()
    {
        drm_exec exec(DRM_EXEC_INTERRUPTIBLE_WAIT | DRM_EXEC_IGNORE_DUPLICATES);
        while (exec.cleanup()) {
            for (drm_gem_object *obj : objects) {
                const int ret = exec.prepare_obj(obj, 1);
                if (exec.is_contended())
                    break;
                ASSERT_EQ(ret, 0);
            }
        }
        locked = true;
        order = exec.locked_objects();
        task::current()->park();
        exec.fini();
        locked = false;
        done = true;
        attempts = exec.attempts();
    }
    // Until all is locked, asleep, or over.
    void run_until_locked()
    {
        while (!locked && t.current_state() == state::parked)
            t.step();
    }
    void finish()
    {
        while (t.current_state() == state::parked)
            t.step();
    }

    std::vector<drm_gem_object *> objects;
    std::vector<drm_gem_object *> order; // of locking
    task t;
    u32 attempts = 0;
    bool locked = false;
    bool done = false;
};

TEST(drm_exec_contention, opposed_lists_both_succeed_and_only_the_younger_backs_off)
{
    gem_object a, b;
    submission old(1, {&a, &b}), young(2, {&b, &a});
    old.begin();
    young.begin();
    old.t.step();   // holds a, parks before b
    young.t.step(); // holds b, parks before a
    EXPECT_EQ(old.t.step(), state::blocked);
    EXPECT_EQ(young.t.step(), state::parked) << "-EDEADLK, dropped b, parks before the slow lock";
    EXPECT_EQ(old.t.current_state(), state::parked) << "woken by that";
    old.run_until_locked();
    EXPECT_TRUE(old.locked);
    EXPECT_EQ(young.t.step(), state::blocked) << "slow lock";
    old.finish();
    EXPECT_TRUE(old.done);
    EXPECT_EQ(young.t.current_state(), state::parked);
    EXPECT_EQ(a.own.lock.ctx != nullptr, true) << "a was handed to the younger";
    young.run_until_locked();
    EXPECT_EQ(young.order, (std::vector<drm_gem_object *>{&b, &a}))
        << "list order again, though a was locked first";
    young.finish();
    EXPECT_EQ(old.attempts, 0u);
    EXPECT_EQ(young.attempts, 1u);
    for (const gem_object *obj : {&a, &b}) {
        EXPECT_FALSE(dma_resv_is_locked(obj->own));
        EXPECT_EQ(obj->refcount, 1u);
    }
}

TEST(drm_exec_contention, contended_object_is_kept_alive_until_cleanup)
{
    auto a = std::make_unique<gem_object>();
    ww_acquire_ctx older;
    ww_acquire_init(older);
    ASSERT_EQ(dma_resv_lock(a->own, &older), 0);
    gem_object b;
    drm_exec exec(0);
    ASSERT_TRUE(exec.cleanup());
    ASSERT_EQ(exec.lock_obj(&b), 0);
    EXPECT_EQ(exec.lock_obj(a.get()), -EDEADLK);
    EXPECT_TRUE(exec.is_contended());
    EXPECT_EQ(a->refcount, 2u);
    drm_gem_object_put(a.get());
    dma_resv_unlock(a->own);
    EXPECT_FALSE(a->freed);

    // It is never asked for again: locked once, then dropped.
    EXPECT_TRUE(exec.cleanup());
    EXPECT_FALSE(dma_resv_is_locked(b.own));
    EXPECT_EQ(exec.lock_obj(&b), 0);
    EXPECT_TRUE(dma_resv_is_locked(a->own));
    EXPECT_FALSE(exec.cleanup());
    EXPECT_TRUE(a->freed);
    EXPECT_FALSE(dma_resv_is_locked(a->own));
    exec.fini();
    ww_acquire_fini(older);
}

TEST(drm_exec_contention, fini_while_contended_drops_the_reference)
{
    gem_object a, b;
    ww_acquire_ctx older;
    ww_acquire_init(older);
    ASSERT_EQ(dma_resv_lock(a.own, &older), 0);
    {
        drm_exec exec(0);
        ASSERT_TRUE(exec.cleanup());
        ASSERT_EQ(exec.lock_obj(&b), 0);
        ASSERT_EQ(exec.lock_obj(&a), -EDEADLK);
    }
    EXPECT_EQ(a.refcount, 1u);
    EXPECT_EQ(b.refcount, 1u);
    dma_resv_unlock(a.own);
}

TEST(drm_exec_contention, array_without_objects_locks_the_contended_one)
{
    gem_object a, b;
    ww_acquire_ctx older;
    ww_acquire_init(older);
    ASSERT_EQ(dma_resv_lock(a.own, &older), 0);
    drm_exec exec(0);
    ASSERT_TRUE(exec.cleanup());
    ASSERT_EQ(exec.lock_obj(&b), 0);
    ASSERT_EQ(exec.lock_obj(&a), -EDEADLK);
    dma_resv_unlock(a.own);
    ASSERT_TRUE(exec.cleanup());
    EXPECT_EQ(exec.prepare_array(nullptr, 0, 1), 0);
    EXPECT_FALSE(exec.is_contended());
    EXPECT_FALSE(exec.cleanup());
    exec.fini();
}

TEST(drm_exec_contention, backoff_is_reported)
{
    events::event_log log;
    gem_object a, b;
    ww_acquire_ctx older;
    ww_acquire_init(older);
    ASSERT_EQ(dma_resv_lock(a.own, &older), 0);
    drm_exec exec(0);
    exec.cleanup();
    exec.lock_obj(&b);
    exec.lock_obj(&a);
    trace.sink = &log;
    exec.cleanup();
    trace.sink = nullptr;
    ASSERT_EQ(log.events().size(), 1u);
    EXPECT_EQ(log.events()[0].type, events::event_type::backoff);
    EXPECT_EQ(log.events()[0].a, 1u);
    dma_resv_unlock(a.own);
}

class drm_exec_random : public ::testing::TestWithParam<u32> {};
INSTANTIATE_TEST_SUITE_P(seeds, drm_exec_random, ::testing::Range(1u, 41u));

// Whatever the interleaving: nobody is left asleep, the oldest never backs off, and every lock is free at the
// end.
TEST_P(drm_exec_random, every_interleaving_ends)
{
    std::mt19937 prng(GetParam());
    std::vector<std::unique_ptr<gem_object>> objects;
    for (u32 i = 0; i < 6; i++)
        objects.push_back(std::make_unique<gem_object>());
    std::vector<std::unique_ptr<submission>> tasks;
    for (u32 id = 1; id <= 5; id++) {
        std::vector<drm_gem_object *> list;
        for (u32 i = 0; i < 4; i++)
            list.push_back(objects[prng() % objects.size()].get());
        tasks.push_back(std::make_unique<submission>(id, list));
        tasks.back()->begin();
    }
    for (u32 steps = 0;; steps++) {
        ASSERT_LT(steps, 5000u);
        std::vector<task *> parked;
        for (auto &s : tasks)
            if (s->t.current_state() == state::parked)
                parked.push_back(&s->t);
        if (parked.empty())
            break;
        parked[prng() % parked.size()]->step();
    }
    for (auto &s : tasks)
        EXPECT_TRUE(s->done);
    EXPECT_EQ(tasks[0]->attempts, 0u);
    for (auto &obj : objects) {
        EXPECT_FALSE(dma_resv_is_locked(obj->own));
        EXPECT_EQ(obj->own.lock.first_waiter, nullptr);
        EXPECT_EQ(obj->refcount, 1u);
    }
}

} // namespace
} // namespace vramlab::kmd
