// SPDX-License-Identifier: GPL-2.0 OR MIT
/* vramlab-needs: 5 */

/*
 * drm_exec and reservation locks that belong to no object: is the owner kept
 * for as long as the lock?
 */

#include "drm_exec_kunit.h"

/* Is it locked, found, and not among the objects that get fences? */
static void lock_resv(struct kunit *test)
{
	struct owner *owner = owner_create(test);
	struct drm_exec exec;

	drm_exec_init(&exec, 0, 0);
	drm_exec_until_all_locked(&exec) {
		KUNIT_EXPECT_FALSE(test, drm_exec_has_resv(&exec, &owner->resv));
		KUNIT_EXPECT_EQ(test, lock_owner(&exec, owner), 0);
	}

	KUNIT_EXPECT_TRUE(test, drm_exec_has_resv(&exec, &owner->resv));
	KUNIT_EXPECT_PTR_EQ(test, dma_resv_locking_ctx(&owner->resv), drm_exec_ticket(&exec));
	KUNIT_EXPECT_EQ(test, count_objects(&exec), 0);
	KUNIT_EXPECT_EQ(test, owner->refs, 1);

	drm_exec_fini(&exec);
	owner_destroy(test, owner);
}

/* Is a lock that is held already told apart, and left alone? */
static void lock_twice(struct kunit *test)
{
	struct owner *owner = owner_create(test);
	struct drm_exec exec;

	drm_exec_init(&exec, DRM_EXEC_IGNORE_DUPLICATES, 0);
	drm_exec_until_all_locked(&exec) {
		KUNIT_EXPECT_EQ(test, lock_owner(&exec, owner), 0);
		KUNIT_EXPECT_EQ(test, lock_owner(&exec, owner), -EALREADY);
		KUNIT_EXPECT_FALSE(test, drm_exec_trylock_resv(&exec, &owner->resv));
		KUNIT_EXPECT_EQ(test, owner->refs, 1);

		drm_exec_unlock_resv(&exec, &owner->resv);
		KUNIT_EXPECT_EQ(test, owner->refs, 0);
		KUNIT_EXPECT_FALSE(test, dma_resv_is_locked(&owner->resv));
		KUNIT_EXPECT_EQ(test, lock_owner(&exec, owner), 0);
	}
	drm_exec_fini(&exec);
	owner_destroy(test, owner);
}

/* Does a trylock join the ticket, with and without becoming tracked? */
static void trylock_resv(struct kunit *test)
{
	struct owner *owner = owner_create(test);
	struct drm_exec exec;

	drm_exec_init(&exec, 0, 0);
	drm_exec_until_all_locked(&exec) {
		KUNIT_EXPECT_TRUE(test, drm_exec_trylock_resv(&exec, &owner->resv));
		KUNIT_EXPECT_PTR_EQ(test, dma_resv_locking_ctx(&owner->resv),
				    drm_exec_ticket(&exec));
		drm_exec_unlock_resv(&exec, &owner->resv);
		KUNIT_EXPECT_FALSE(test, dma_resv_is_locked(&owner->resv));

		trylock_owner(test, &exec, owner);
		KUNIT_EXPECT_TRUE(test, drm_exec_has_resv(&exec, &owner->resv));
	}
	KUNIT_EXPECT_EQ(test, owner->refs, 1);
	drm_exec_fini(&exec);
	owner_destroy(test, owner);
}

/* Do snapshots nest, and does the last one locked go first? */
static void snapshots(struct kunit *test)
{
	struct owner *owners[5];
	u64 outer, inner;
	struct drm_exec exec;
	int i;

	for (i = 0; i < 5; i++)
		owners[i] = owner_create(test);

	drm_exec_init(&exec, 0, 0);
	drm_exec_until_all_locked(&exec) {
		trylock_owner(test, &exec, owners[0]);
		outer = drm_exec_snapshot(&exec);
		trylock_owner(test, &exec, owners[1]);
		trylock_owner(test, &exec, owners[2]);
		inner = drm_exec_snapshot(&exec);
		trylock_owner(test, &exec, owners[3]);
		trylock_owner(test, &exec, owners[4]);

		/* What is gone already isn't in the way. */
		drm_exec_unlock_resv(&exec, &owners[2]->resv);
		drm_exec_restore(&exec, inner);
		KUNIT_EXPECT_EQ(test, owners[4]->put_as, 2);
		KUNIT_EXPECT_EQ(test, owners[3]->put_as, 3);
		KUNIT_EXPECT_EQ(test, owners[1]->refs, 1);

		drm_exec_restore(&exec, outer);
		KUNIT_EXPECT_EQ(test, owners[1]->put_as, 4);
		KUNIT_EXPECT_EQ(test, owners[1]->refs, 0);
		KUNIT_EXPECT_EQ(test, owners[0]->refs, 1);
	}
	drm_exec_fini(&exec);
	for (i = 0; i < 5; i++)
		owner_destroy(test, owners[i]);
}

/* Does such a lock become that of an object, so that a snapshot keeps it? */
static void becomes_object(struct kunit *test)
{
	struct owner *owner = owner_create(test);
	struct drm_gem_object *obj = object_create(test, &owner->resv);
	struct drm_exec exec;
	u64 snapshot;

	drm_exec_init(&exec, 0, 0);
	drm_exec_until_all_locked(&exec) {
		snapshot = drm_exec_snapshot(&exec);
		KUNIT_EXPECT_EQ(test, lock_owner(&exec, owner), 0);
		KUNIT_EXPECT_EQ(test, drm_exec_lock_obj(&exec, obj), 0);
		KUNIT_EXPECT_EQ(test, owner->refs, 0);
		drm_exec_restore(&exec, snapshot);
	}
	KUNIT_EXPECT_EQ(test, count_objects(&exec), 1);
	KUNIT_EXPECT_TRUE(test, dma_resv_is_locked(&owner->resv));
	drm_exec_fini(&exec);
	drm_gem_private_object_fini(obj);
	owner_destroy(test, owner);
}

static struct kunit_case exec_resv_cases[] = {
	KUNIT_CASE(lock_resv),
	KUNIT_CASE(lock_twice),
	KUNIT_CASE(trylock_resv),
	KUNIT_CASE(snapshots),
	KUNIT_CASE(becomes_object),
	{}
};

static struct kunit_suite exec_resv_suite = {
	.name = "drm_exec_resv",
	.init = exec_kunit_init,
	.test_cases = exec_resv_cases,
};

kunit_test_suite(exec_resv_suite);
