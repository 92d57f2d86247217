// SPDX-License-Identifier: MIT
// Locks that belong to no object of the caller's: who owns them, when they go, what becomes of one that an
// object needs later.
#include "kmd/drm_exec.h"

#include <gtest/gtest.h>

#include <memory>

namespace vramlab::kmd {
namespace {

struct gem_object : drm_gem_object {
    gem_object() { resv = &own; }
    dma_resv own;
};

struct owner {
    dma_resv resv;
    int refs = 0;
    drm_exec_resv entry()
    {
        refs++;
        return {&resv, this, [](void *o) { static_cast<owner *>(o)->refs--; }};
    }
};

class drm_exec_resv_test : public testing::Test {
protected:
    drm_exec_resv_test()
    {
        ww_acquire_init(older);
        if (!exec->cleanup())
            ADD_FAILURE();
    }
    ~drm_exec_resv_test() override { ww_reset_stamps(); }
    void TearDown() override
    {
        exec->fini();
        ww_acquire_fini(older);
    }

    // Lets an older transaction hold the lock while the exec, which holds another, asks for it.
    void contend(owner &o)
    {
        dma_resv_lock(o.resv, &older);
        task t(1);
        t.begin([&] {
            EXPECT_EQ(exec->lock_obj(&held), 0);
            EXPECT_EQ(exec->lock_resv(o.entry()), -EDEADLK);
        });
        while (t.current_state() == task::state::parked)
            t.step();
        dma_resv_unlock(o.resv);
    }

    owner a, b;
    gem_object obj, held;
    ww_acquire_ctx older;
    std::unique_ptr<drm_exec> exec =
        std::make_unique<drm_exec>(DRM_EXEC_IGNORE_DUPLICATES); // its destructor may throw
};

TEST_F(drm_exec_resv_test, restore_unlocks_the_younger_ones_last_first)
{
    EXPECT_EQ(exec->lock_resv(a.entry()), 0);
    const std::size_t snapshot = exec->snapshot();
    ASSERT_TRUE(exec->trylock_resv(b.resv));
    exec->add_resv(b.entry());
    EXPECT_TRUE(exec->holds_resv(a.resv) && exec->holds_resv(b.resv));
    exec->restore(snapshot);
    EXPECT_FALSE(dma_resv_is_locked(b.resv));
    EXPECT_EQ(b.refs, 0);
    EXPECT_TRUE(dma_resv_is_locked(a.resv));
    EXPECT_EQ(a.refs, 1);
    exec->fini();
    EXPECT_FALSE(dma_resv_is_locked(a.resv));
    EXPECT_EQ(a.refs, 0);
}

TEST_F(drm_exec_resv_test, unlock_takes_just_that_one)
{
    EXPECT_EQ(exec->lock_resv(a.entry()), 0);
    EXPECT_EQ(exec->lock_resv(b.entry()), 0);
    exec->unlock_resv(a.resv);
    EXPECT_FALSE(dma_resv_is_locked(a.resv));
    EXPECT_EQ(a.refs, 0);
    EXPECT_TRUE(exec->holds_resv(b.resv));
}

TEST_F(drm_exec_resv_test, a_resv_that_the_ticket_has_stays_the_callers_to_deal_with)
{
    EXPECT_EQ(exec->lock_resv(a.entry()), 0);
    drm_exec_resv again = a.entry();
    EXPECT_EQ(exec->lock_resv(again), -EALREADY);
    again.put(again.owner);
    EXPECT_EQ(a.refs, 1);
    EXPECT_FALSE(exec->trylock_resv(a.resv));
}

// Else the object would get fences though nobody knows that it is locked.
TEST_F(drm_exec_resv_test, an_eviction_s_lock_becomes_that_of_an_object_with_the_same_resv)
{
    obj.resv = &a.resv;
    EXPECT_EQ(exec->lock_resv(a.entry()), 0);
    EXPECT_EQ(exec->prepare_obj(&obj, 1), 0);
    EXPECT_FALSE(exec->holds_resv(a.resv));
    EXPECT_EQ(a.refs, 0);
    ASSERT_EQ(exec->locked_objects().size(), 1u);
    exec->restore(0);
    EXPECT_TRUE(dma_resv_is_locked(a.resv));
    exec->fini();
    EXPECT_FALSE(dma_resv_is_locked(a.resv));
    EXPECT_EQ(obj.refcount, 1u);
}

TEST_F(drm_exec_resv_test, what_was_contended_is_locked_first_and_dropped_if_nobody_wants_it)
{
    contend(a);
    EXPECT_TRUE(exec->is_contended());
    EXPECT_EQ(a.refs, 1);
    EXPECT_FALSE(exec->trylock_resv(b.resv)); // not with that ticket, before the slow lock
    ASSERT_TRUE(exec->cleanup());
    EXPECT_EQ(exec->prepare_obj(&obj, 1), 0);
    EXPECT_EQ(exec->prelocked_resv(), &a.resv);
    EXPECT_TRUE(dma_resv_is_locked(a.resv));
    EXPECT_FALSE(exec->cleanup());
    EXPECT_FALSE(dma_resv_is_locked(a.resv));
    EXPECT_EQ(a.refs, 0);
    EXPECT_EQ(exec->attempts(), 1u);
}

TEST_F(drm_exec_resv_test, what_was_contended_is_taken_over_by_who_asks_for_it_again)
{
    contend(a);
    ASSERT_TRUE(exec->cleanup());
    EXPECT_EQ(exec->prepare_obj(&obj, 1), 0);
    ASSERT_TRUE(exec->trylock_resv(a.resv));
    exec->add_resv(a.entry());
    EXPECT_EQ(exec->prelocked_resv(), nullptr);
    EXPECT_EQ(a.refs, 1);
    EXPECT_TRUE(exec->holds_resv(a.resv));
}

TEST_F(drm_exec_resv_test, what_was_contended_becomes_the_lock_of_an_object_with_the_same_resv)
{
    contend(a);
    obj.resv = &a.resv;
    ASSERT_TRUE(exec->cleanup());
    EXPECT_EQ(exec->prepare_obj(&obj, 1), 0);
    EXPECT_EQ(exec->prelocked_resv(), nullptr);
    EXPECT_EQ(a.refs, 0);
    EXPECT_EQ(exec->locked_objects().size(), 1u);
}

TEST_F(drm_exec_resv_test, giving_up_while_contended_leaves_nothing)
{
    EXPECT_EQ(exec->lock_resv(b.entry()), 0);
    contend(a);
    exec->fini();
    EXPECT_EQ(a.refs, 0);
    EXPECT_EQ(b.refs, 0);
    EXPECT_FALSE(dma_resv_is_locked(b.resv));
}

} // namespace
} // namespace vramlab::kmd
