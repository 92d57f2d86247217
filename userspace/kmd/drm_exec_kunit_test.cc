// SPDX-License-Identifier: MIT
// Does the model's drm_exec do what the kernel's own tests ask of the kernel's? The cases of
// drivers/gpu/drm/tests/drm_exec_test.c of Linux 7.3.4, by their names. None of them has contention: that is
// in drm_exec_contention_test.cc.
#include "kmd/drm_exec.h"

#include <gtest/gtest.h>

namespace vramlab::kmd {
namespace {

struct gem_object : drm_gem_object {
    gem_object() { resv = &own; }
    dma_resv own;
};

TEST(drm_exec_kunit, sanitycheck)
{
    drm_exec exec(DRM_EXEC_INTERRUPTIBLE_WAIT);
    exec.fini();
}

TEST(drm_exec_kunit, test_lock)
{
    gem_object gobj;
    drm_exec exec(DRM_EXEC_INTERRUPTIBLE_WAIT);
    while (exec.cleanup()) {
        const int ret = exec.lock_obj(&gobj);
        if (exec.is_contended())
            continue;
        ASSERT_EQ(ret, 0);
    }
    EXPECT_TRUE(dma_resv_is_locked(gobj.own));
    EXPECT_EQ(gobj.refcount, 2u);
    exec.fini();
    EXPECT_FALSE(dma_resv_is_locked(gobj.own));
    EXPECT_EQ(gobj.refcount, 1u);
}

TEST(drm_exec_kunit, test_lock_unlock)
{
    gem_object gobj;
    drm_exec exec(DRM_EXEC_INTERRUPTIBLE_WAIT);
    while (exec.cleanup()) {
        ASSERT_EQ(exec.lock_obj(&gobj), 0);
        exec.unlock_obj(&gobj);
        EXPECT_FALSE(dma_resv_is_locked(gobj.own));
        ASSERT_EQ(exec.lock_obj(&gobj), 0);
    }
    exec.fini();
    EXPECT_EQ(gobj.refcount, 1u);
}

TEST(drm_exec_kunit, test_duplicates)
{
    gem_object gobj;
    drm_exec exec(DRM_EXEC_IGNORE_DUPLICATES);
    while (exec.cleanup()) {
        ASSERT_EQ(exec.lock_obj(&gobj), 0);
        ASSERT_EQ(exec.lock_obj(&gobj), 0);
    }
    EXPECT_EQ(exec.locked_objects().size(), 1u);
    exec.unlock_obj(&gobj);
    EXPECT_FALSE(dma_resv_is_locked(gobj.own));
    exec.fini();

    // Not in the kernel's case: without the flag.
    drm_exec strict(0);
    EXPECT_TRUE(strict.cleanup());
    EXPECT_EQ(strict.lock_obj(&gobj), 0);
    EXPECT_EQ(strict.lock_obj(&gobj), -EALREADY);
}

TEST(drm_exec_kunit, test_prepare)
{
    gem_object gobj;
    drm_exec exec(DRM_EXEC_INTERRUPTIBLE_WAIT);
    while (exec.cleanup())
        ASSERT_EQ(exec.prepare_obj(&gobj, 1), 0);
    dma_fence *f = new dma_fence;
    EXPECT_NO_THROW(dma_resv_add_fence(gobj.own, *f, dma_resv_usage::write));
    dma_fence_put(f);
    exec.fini();
}

TEST(drm_exec_kunit, test_prepare_array)
{
    gem_object gobj1, gobj2;
    drm_gem_object *const array[] = {&gobj1, &gobj2};
    drm_exec exec(DRM_EXEC_INTERRUPTIBLE_WAIT);
    int ret = -1;
    while (exec.cleanup())
        ret = exec.prepare_array(array, 2, 1);
    EXPECT_EQ(ret, 0);
    EXPECT_TRUE(dma_resv_is_locked(gobj1.own) && dma_resv_is_locked(gobj2.own));
    exec.fini();
}

TEST(drm_exec_kunit, test_multiple_loops)
{
    for (u32 i = 0; i < 2; i++) {
        drm_exec exec(DRM_EXEC_INTERRUPTIBLE_WAIT);
        while (exec.cleanup())
            break;
        exec.fini();
    }
}

} // namespace
} // namespace vramlab::kmd
