// SPDX-License-Identifier: GPL-2.0 OR MIT
/* vramlab-needs: 5 */

/*
 * Contention on reservation locks that belong to no object: is the owner kept
 * while it is waited for, and given back once, whatever happens then?
 */

#include <linux/sched/signal.h>

#include "drm_exec_holder.h"
#include "drm_exec_kunit.h"

/* Meet contention on @owner once, holding @obj, and come back with it prelocked. */
static int contend(struct kunit *test, struct drm_exec *exec, struct drm_gem_object *obj,
		   struct owner *owner, struct drm_exec_holder *holder, int attempt)
{
	struct owner *other;
	int ret;

	ret = drm_exec_lock_obj(exec, obj);
	if (ret || attempt > 1)
		return ret;

	other = owner_create(test);
	trylock_owner(test, exec, other);

	ret = lock_owner(exec, owner);
	KUNIT_EXPECT_EQ(test, ret, -EDEADLK);
	KUNIT_EXPECT_TRUE(test, drm_exec_is_contended(exec));
	KUNIT_EXPECT_EQ(test, owner->refs, 1);
	/* Nothing but that can be locked from now on. */
	KUNIT_EXPECT_FALSE(test, drm_exec_trylock_resv(exec, &owner->resv));
	drm_exec_restore(exec, 0);
	owner_destroy(test, other);
	KUNIT_EXPECT_TRUE(test, drm_exec_is_contended(exec));

	drm_exec_holder_stop(holder);
	return ret;
}

/* A younger requester dies: is what it asked for locked first, and let go if unwanted? */
static void contended_unwanted(struct kunit *test)
{
	struct owner *owner = owner_create(test);
	struct drm_gem_object *obj = object_create(test, NULL);
	struct drm_exec_holder holder = { .resv = &owner->resv };
	struct drm_exec exec;
	int attempts = 0;

	drm_exec_holder_start(test, &holder);
	drm_exec_init(&exec, 0, 0);
	drm_exec_until_all_locked(&exec) {
		contend(test, &exec, obj, owner, &holder, ++attempts);
		drm_exec_retry_on_contention(&exec);
		/* Injected contention would have let it go. */
		if (attempts == 2)
			KUNIT_EXPECT_PTR_EQ(test, dma_resv_locking_ctx(&owner->resv),
					    drm_exec_ticket(&exec));
		KUNIT_EXPECT_FALSE(test, drm_exec_has_resv(&exec, &owner->resv));
	}
	KUNIT_EXPECT_GE(test, attempts, 2);
	KUNIT_EXPECT_FALSE(test, dma_resv_is_locked(&owner->resv));
	KUNIT_EXPECT_EQ(test, owner->refs, 0);
	drm_exec_fini(&exec);
	drm_gem_private_object_fini(obj);
	owner_destroy(test, owner);
}

/* Does the prelocked one become the lock of an object that shares it? */
static void contended_becomes_object(struct kunit *test)
{
	struct owner *owner = owner_create(test);
	struct drm_gem_object *obj = object_create(test, NULL);
	struct drm_gem_object *sharing = object_create(test, &owner->resv);
	struct drm_exec_holder holder = { .resv = &owner->resv };
	struct drm_exec exec;
	int ret, attempts = 0;

	drm_exec_holder_start(test, &holder);
	drm_exec_init(&exec, DRM_EXEC_IGNORE_DUPLICATES, 0);
	drm_exec_until_all_locked(&exec) {
		contend(test, &exec, obj, owner, &holder, ++attempts);
		drm_exec_retry_on_contention(&exec);
		ret = drm_exec_lock_obj(&exec, sharing);
		drm_exec_retry_on_contention(&exec);
		KUNIT_EXPECT_EQ(test, ret, 0);
	}
	KUNIT_EXPECT_EQ(test, count_objects(&exec), 2);
	KUNIT_EXPECT_TRUE(test, dma_resv_is_locked(&owner->resv));
	KUNIT_EXPECT_EQ(test, owner->refs, 0);
	drm_exec_fini(&exec);
	drm_gem_private_object_fini(sharing);
	drm_gem_private_object_fini(obj);
	owner_destroy(test, owner);
}

/* Is the prelocked one taken over by a lock, and by a trylock? */
static void contended_taken_over(struct kunit *test)
{
	struct owner *owner = owner_create(test);
	struct drm_gem_object *obj = object_create(test, NULL);
	bool by_trylock;

	for (by_trylock = false;; by_trylock = true) {
		struct drm_exec_holder holder = { .resv = &owner->resv };
		struct drm_exec exec;
		int ret, attempts = 0;
		u64 snapshot;

		drm_exec_holder_start(test, &holder);
		drm_exec_init(&exec, 0, 0);
		drm_exec_until_all_locked(&exec) {
			contend(test, &exec, obj, owner, &holder, ++attempts);
			drm_exec_retry_on_contention(&exec);

			snapshot = drm_exec_snapshot(&exec);
			if (by_trylock) {
				KUNIT_EXPECT_TRUE(test,
						  drm_exec_trylock_resv(&exec, &owner->resv));
				/* Undoing that leaves it as it was. */
				drm_exec_unlock_resv(&exec, &owner->resv);
				trylock_owner(test, &exec, owner);
			} else {
				ret = lock_owner(&exec, owner);
				drm_exec_retry_on_contention(&exec);
				KUNIT_EXPECT_EQ(test, ret, 0);
			}
			KUNIT_EXPECT_TRUE(test, drm_exec_has_resv(&exec, &owner->resv));
			KUNIT_EXPECT_EQ(test, owner->refs, 1);

			drm_exec_restore(&exec, snapshot);
			KUNIT_EXPECT_FALSE(test, dma_resv_is_locked(&owner->resv));
			KUNIT_EXPECT_EQ(test, owner->refs, 0);
		}
		drm_exec_fini(&exec);
		if (by_trylock)
			break;
	}
	drm_gem_private_object_fini(obj);
	owner_destroy(test, owner);
}

/* A signal while waiting for what was contended: is the owner given back? */
static void contended_interrupted(struct kunit *test)
{
	struct owner *owner = owner_create(test);
	struct drm_gem_object *obj = object_create(test, NULL);
	struct drm_exec_holder holder = { .resv = &owner->resv, .delay_ms = 5000 };
	int ret = 0, attempts = 0;
	struct drm_exec exec;

	drm_exec_holder_start(test, &holder);
	drm_exec_init(&exec, DRM_EXEC_INTERRUPTIBLE_WAIT, 0);
	drm_exec_until_all_locked(&exec) {
		if (attempts++)
			set_thread_flag(TIF_SIGPENDING);

		ret = drm_exec_lock_obj(&exec, obj);
		drm_exec_retry_on_contention(&exec);
		if (ret)
			break;

		ret = lock_owner(&exec, owner);
		drm_exec_retry_on_contention(&exec);
		break;
	}
	clear_thread_flag(TIF_SIGPENDING);

	KUNIT_EXPECT_EQ(test, attempts, 2);
	KUNIT_EXPECT_EQ(test, ret, -EINTR);
	KUNIT_EXPECT_EQ(test, owner->refs, 0);
	KUNIT_EXPECT_EQ(test, count_objects(&exec), 0);
	drm_exec_fini(&exec);
	drm_exec_holder_stop(&holder);
	drm_gem_private_object_fini(obj);
	owner_destroy(test, owner);
}

/* Contended, and never locked again: does the end give the owner back? */
static void contended_given_up(struct kunit *test)
{
	struct owner *owner = owner_create(test);
	struct drm_gem_object *obj = object_create(test, NULL);
	struct drm_exec_holder holder = { .resv = &owner->resv };
	struct drm_exec exec;

	drm_exec_holder_start(test, &holder);
	drm_exec_init(&exec, 0, 0);
	drm_exec_until_all_locked(&exec) {
		contend(test, &exec, obj, owner, &holder, 1);
		break;
	}
	drm_exec_fini(&exec);
	drm_gem_private_object_fini(obj);
	owner_destroy(test, owner);
}

static struct kunit_case exec_contention_cases[] = {
	KUNIT_CASE(contended_unwanted),
	KUNIT_CASE(contended_becomes_object),
	KUNIT_CASE(contended_taken_over),
	KUNIT_CASE(contended_interrupted),
	KUNIT_CASE(contended_given_up),
	{}
};

static struct kunit_suite exec_contention_suite = {
	.name = "drm_exec_contention",
	.init = exec_kunit_init,
	.test_cases = exec_contention_cases,
};

kunit_test_suite(exec_contention_suite);
