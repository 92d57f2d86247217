// SPDX-License-Identifier: GPL-2.0 OR MIT
/* vramlab-needs: 9 */

/*
 * Eviction with the locks of a drm_exec, and somebody else in the way: who
 * waits, who starts over, and is the end always success?
 */

#include <linux/delay.h>
#include <linux/kthread.h>
#include <linux/sched/signal.h>

#include "ttm_exec_kunit.h"

static struct exec_bo *one_in_the_way(struct kunit *test, bool hold)
{
	struct exec_fixture *f = test->priv;
	int i;

	exec_fill_vram(test);
	/* Nothing but the last one can go. */
	for (i = 0; i < 3; i++)
		ttm_bo_reserve(&f->bos[i]->tbo, false, false, NULL);
	for (i = 0; i < 3; i++) {
		ttm_bo_pin(&f->bos[i]->tbo);
		ttm_bo_unreserve(&f->bos[i]->tbo);
	}
	if (hold)
		exec_hold(test, f->bos[3]);
	return exec_bo_create(test, EXEC_BO_SIZE, TTM_PL_SYSTEM, NULL);
}

static void unpin_all(struct kunit *test)
{
	struct exec_fixture *f = test->priv;
	int i;

	for (i = 0; i < 3; i++) {
		ttm_bo_reserve(&f->bos[i]->tbo, false, false, NULL);
		ttm_bo_unpin(&f->bos[i]->tbo);
		ttm_bo_unreserve(&f->bos[i]->tbo);
	}
}

/* The younger requester dies: does it come back, and get what it waited for? */
static void younger_retries(struct kunit *test)
{
	struct exec_fixture *f = test->priv;
	struct exec_bo *bo = one_in_the_way(test, true);
	struct ttm_operation_ctx ctx = {};

	f->on_attempt = exec_release_on_deadlk;
	KUNIT_EXPECT_EQ(test, exec_lock_and_validate(f, bo, &ctx, true), 0);
	KUNIT_EXPECT_GE(test, f->attempts, 2);
	KUNIT_EXPECT_EQ(test, exec_bo_mem_type(bo), TTM_PL_VRAM);
	KUNIT_EXPECT_EQ(test, exec_bo_mem_type(f->bos[3]), TTM_PL_SYSTEM);
	KUNIT_EXPECT_FALSE(test, dma_resv_is_locked(f->bos[3]->tbo.base.resv));
	KUNIT_EXPECT_EQ(test, kref_read(&f->bos[3]->tbo.kref), 1);
	unpin_all(test);
}

/* What mainline makes of the same: the reason for all this. */
static void younger_fails_without(struct kunit *test)
{
	struct exec_fixture *f = test->priv;
	struct exec_bo *bo = one_in_the_way(test, true);
	struct ttm_operation_ctx ctx = {};

	KUNIT_EXPECT_EQ(test, exec_lock_and_validate(f, bo, &ctx, false), -ENOMEM);
	KUNIT_EXPECT_EQ(test, f->attempts, 1);
	drm_exec_holder_stop(&f->holder);
	unpin_all(test);
}

static int hold_now(struct exec_fixture *f, struct exec_bo *bo, bool evict)
{
	/* Now that there is an older ticket. */
	if (evict && bo == f->bos[0]) {
		f->holder.delay_ms = 100;
		exec_hold(kunit_get_current_test(), f->bos[1]);
	}
	return 0;
}

/* The older requester waits for the younger holder, and keeps what it has. */
static void older_waits(struct kunit *test)
{
	struct exec_fixture *f = test->priv;
	struct ttm_operation_ctx ctx = {};
	struct exec_bo *bo;
	int i;

	exec_fill_vram(test);
	for (i = 2; i < 4; i++) {
		ttm_bo_reserve(&f->bos[i]->tbo, false, false, NULL);
		ttm_bo_pin(&f->bos[i]->tbo);
		ttm_bo_unreserve(&f->bos[i]->tbo);
	}
	bo = exec_bo_create(test, 2 * EXEC_BO_SIZE, TTM_PL_SYSTEM, NULL);
	f->on_move = hold_now;
	f->on_attempt = exec_release_on_deadlk;

	KUNIT_EXPECT_EQ(test, exec_lock_and_validate(f, bo, &ctx, true), 0);
	if (!IS_ENABLED(CONFIG_DEBUG_WW_MUTEX_SLOWPATH))
		KUNIT_EXPECT_EQ(test, f->attempts, 1);
	KUNIT_EXPECT_EQ(test, exec_bo_mem_type(f->bos[0]), TTM_PL_SYSTEM);
	KUNIT_EXPECT_EQ(test, exec_bo_mem_type(f->bos[1]), TTM_PL_SYSTEM);

	if (f->holder.task)
		drm_exec_holder_stop(&f->holder);
	for (i = 2; i < 4; i++) {
		ttm_bo_reserve(&f->bos[i]->tbo, false, false, NULL);
		ttm_bo_unpin(&f->bos[i]->tbo);
		ttm_bo_unreserve(&f->bos[i]->tbo);
	}
}

/* A holder without a ticket is waited for as well. */
static void holder_without_ticket(struct kunit *test)
{
	struct exec_fixture *f = test->priv;
	struct exec_bo *bo;
	struct ttm_operation_ctx ctx = {};

	bo = one_in_the_way(test, false);
	f->holder.without_ticket = true;
	f->holder.delay_ms = 100;
	exec_hold(test, f->bos[3]);
	f->on_attempt = exec_release_on_deadlk;

	KUNIT_EXPECT_EQ(test, exec_lock_and_validate(f, bo, &ctx, true), 0);
	KUNIT_EXPECT_EQ(test, exec_bo_mem_type(f->bos[3]), TTM_PL_SYSTEM);
	if (f->holder.task)
		drm_exec_holder_stop(&f->holder);
	unpin_all(test);
}

static void expect_unwound(struct exec_fixture *f, int ret)
{
	struct kunit *test = kunit_get_current_test();

	if (ret == -EDEADLK) {
		/* The first was evicted by then, and its lock is gone. */
		KUNIT_EXPECT_EQ(test, exec_bo_mem_type(f->bos[0]), TTM_PL_SYSTEM);
		KUNIT_EXPECT_FALSE(test, dma_resv_is_locked(f->bos[0]->tbo.base.resv));
		KUNIT_EXPECT_TRUE(test, drm_exec_is_contended(f->exec));
	}
	exec_release_on_deadlk(f, ret);
}

/* Contention after an eviction: unwound, and what was moved still counts? */
static void snapshot_restored(struct kunit *test)
{
	struct exec_fixture *f = test->priv;
	struct ttm_operation_ctx ctx = {};
	struct exec_bo *bo;
	int i;

	exec_fill_vram(test);
	for (i = 2; i < 4; i++)
		f->bos[i]->tbo.pin_count = 1;
	bo = exec_bo_create(test, 2 * EXEC_BO_SIZE, TTM_PL_SYSTEM, NULL);
	exec_hold(test, f->bos[1]);
	f->on_attempt = expect_unwound;

	KUNIT_EXPECT_EQ(test, exec_lock_and_validate(f, bo, &ctx, true), 0);
	KUNIT_EXPECT_GE(test, f->attempts, 2);
	KUNIT_EXPECT_EQ(test, ctx.bytes_moved, 4 * EXEC_BO_SIZE);
	for (i = 2; i < 4; i++)
		f->bos[i]->tbo.pin_count = 0;
}

/* Contention where the evictee has to go: do both levels unwind? */
static void nested(struct kunit *test)
{
	struct exec_fixture *f = test->priv;
	struct ttm_operation_ctx ctx = {};
	struct exec_bo *bo, *in_tt;

	f->evict_to_tt = true;
	in_tt = exec_bo_create(test, EXEC_BO_SIZE, TTM_PL_TT, NULL);
	bo = one_in_the_way(test, false);
	exec_hold(test, in_tt);
	f->on_attempt = exec_release_on_deadlk;

	KUNIT_EXPECT_EQ(test, exec_lock_and_validate(f, bo, &ctx, true), 0);
	KUNIT_EXPECT_GE(test, f->attempts, 2);
	KUNIT_EXPECT_EQ(test, exec_bo_mem_type(bo), TTM_PL_VRAM);
	KUNIT_EXPECT_EQ(test, exec_bo_mem_type(f->bos[3]), TTM_PL_TT);
	KUNIT_EXPECT_EQ(test, exec_bo_mem_type(in_tt), TTM_PL_SYSTEM);
	KUNIT_EXPECT_FALSE(test, dma_resv_is_locked(in_tt->tbo.base.resv));
	KUNIT_EXPECT_FALSE(test, dma_resv_is_locked(f->bos[3]->tbo.base.resv));
	unpin_all(test);
}

/* What is in the way is deleted while it is waited for. */
static void contended_dies(struct kunit *test)
{
	struct exec_fixture *f = test->priv;
	struct exec_bo *bo = one_in_the_way(test, true);
	struct ttm_operation_ctx ctx = {};

	exec_bo_drop(f->bos[3]);
	KUNIT_EXPECT_EQ(test, atomic_read(&f->destroyed), 0);
	f->on_attempt = exec_release_on_deadlk;

	KUNIT_EXPECT_EQ(test, exec_lock_and_validate(f, bo, &ctx, true), 0);
	KUNIT_EXPECT_GE(test, f->attempts, 2);
	flush_workqueue(f->bdev.wq);
	KUNIT_EXPECT_EQ(test, atomic_read(&f->destroyed), 1);
	unpin_all(test);
}

/* Memory comes free while it sleeps, and there is nothing left to evict. */
static void freed_meanwhile(struct kunit *test)
{
	struct exec_fixture *f = test->priv;
	struct exec_bo *bo = one_in_the_way(test, false);
	struct ttm_operation_ctx ctx = {};

	f->holder.without_ticket = true;
	f->holder.delay_ms = 200;
	exec_hold(test, f->bos[3]);
	exec_bo_drop(f->bos[3]);
	/* Who deletes it queues up first. */
	msleep(50);
	f->on_attempt = exec_release_on_deadlk;
	f->moves = 0;

	KUNIT_EXPECT_EQ(test, exec_lock_and_validate(f, bo, &ctx, true), 0);
	KUNIT_EXPECT_EQ(test, exec_bo_mem_type(bo), TTM_PL_VRAM);
	KUNIT_EXPECT_EQ(test, f->moves, 1);
	if (f->holder.task)
		drm_exec_holder_stop(&f->holder);
	flush_workqueue(f->bdev.wq);
	KUNIT_EXPECT_EQ(test, atomic_read(&f->destroyed), 1);
	unpin_all(test);
}

static int signal_on_evict(struct exec_fixture *f, struct exec_bo *bo, bool evict)
{
	if (evict && bo == f->bos[0])
		set_thread_flag(TIF_SIGPENDING);
	return 0;
}

/* A signal while waiting for an evictee: unwound, and the signal reported? */
static void interrupted(struct kunit *test)
{
	struct exec_fixture *f = test->priv;
	struct ttm_operation_ctx ctx = { .interruptible = true };
	struct exec_bo *bo;
	int i;

	exec_fill_vram(test);
	for (i = 2; i < 4; i++)
		f->bos[i]->tbo.pin_count = 1;
	bo = exec_bo_create(test, 2 * EXEC_BO_SIZE, TTM_PL_SYSTEM, NULL);
	exec_hold(test, f->bos[1]);
	f->on_move = signal_on_evict;

	KUNIT_EXPECT_EQ(test, exec_lock_and_validate(f, bo, &ctx, true), -EINTR);
	clear_thread_flag(TIF_SIGPENDING);
	KUNIT_EXPECT_EQ(test, f->attempts, 1);
	KUNIT_EXPECT_EQ(test, exec_bo_mem_type(f->bos[0]), TTM_PL_SYSTEM);
	KUNIT_EXPECT_FALSE(test, dma_resv_is_locked(f->bos[0]->tbo.base.resv));
	KUNIT_EXPECT_EQ(test, kref_read(&f->bos[1]->tbo.kref), 1);
	drm_exec_holder_stop(&f->holder);
	for (i = 2; i < 4; i++)
		f->bos[i]->tbo.pin_count = 0;
}

#define OPPOSED_BOS	3
#define OPPOSED_ROUNDS	200

/* Somebody who wants three quarters of video memory, again and again. */
struct opponent {
	struct exec_fixture *f;
	struct exec_bo *bos[OPPOSED_BOS];
	struct task_struct *task;
	struct completion done;
	bool backwards;
	unsigned int failures;
	unsigned int misplaced;
	unsigned int retries;
};

static int lock_all(struct opponent *o, struct drm_exec *exec, struct ttm_operation_ctx *ctx)
{
	int i, ret = 0;

	for (i = 0; !ret && i < OPPOSED_BOS; i++)
		ret = drm_exec_prepare_obj(exec, &o->bos[i]->tbo.base, 1);
	for (i = 0; !ret && i < OPPOSED_BOS; i++) {
		/* Let the others come in between. */
		usleep_range(20, 60);
		ret = exec_validate(o->f, o->bos[o->backwards ? OPPOSED_BOS - 1 - i : i],
				    TTM_PL_VRAM, ctx);
	}

	return ret;
}

static void play_round(struct opponent *o)
{
	struct ttm_operation_ctx ctx = {};
	struct drm_exec exec;
	int i, ret = 0, attempts = 0;

	drm_exec_init(&exec, 0, OPPOSED_BOS);
	drm_exec_until_all_locked(&exec) {
		attempts++;
		ctx.exec = &exec;
		ret = lock_all(o, &exec, &ctx);
		drm_exec_retry_on_contention(&exec);
		if (ret)
			break;
	}
	o->failures += !!ret;
	o->retries += attempts - 1;
	for (i = 0; !ret && i < OPPOSED_BOS; i++)
		o->misplaced += exec_bo_mem_type(o->bos[i]) != TTM_PL_VRAM;
	drm_exec_fini(&exec);
}

static int opponent_thread(void *data)
{
	struct opponent *o = data;
	int i;

	for (i = 0; i < OPPOSED_ROUNDS; i++) {
		play_round(o);
		cond_resched();
	}
	complete(&o->done);
	while (!kthread_should_stop())
		schedule_timeout_interruptible(1);
	return 0;
}

/* Several who evict each other, in opposite orders: does anybody ever fail? */
static void opposed(struct kunit *test)
{
	struct exec_fixture *f = test->priv;
	unsigned int retries = 0;
	struct opponent *opponents;
	int i, j, num = 4;

	opponents = kunit_kcalloc(test, num, sizeof(*opponents), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, opponents);
	for (i = 0; i < num; i++) {
		opponents[i].f = f;
		opponents[i].backwards = i % 2;
		init_completion(&opponents[i].done);
		for (j = 0; j < OPPOSED_BOS; j++)
			opponents[i].bos[j] = exec_bo_create(test, EXEC_BO_SIZE, TTM_PL_SYSTEM,
							     NULL);
	}
	for (i = 0; i < num; i++) {
		opponents[i].task = kthread_run(opponent_thread, &opponents[i], "opponent%d", i);
		KUNIT_ASSERT_FALSE(test, IS_ERR(opponents[i].task));
	}
	for (i = 0; i < num; i++) {
		wait_for_completion(&opponents[i].done);
		kthread_stop(opponents[i].task);
		KUNIT_EXPECT_EQ(test, opponents[i].failures, 0);
		KUNIT_EXPECT_EQ(test, opponents[i].misplaced, 0);
		retries += opponents[i].retries;
	}
	kunit_info(test, "%u retries in %u rounds", retries, num * OPPOSED_ROUNDS);
	/* Or else nothing was tested. */
	KUNIT_EXPECT_GT(test, retries, 0);
}

static struct kunit_case exec_contention_cases[] = {
	KUNIT_CASE(younger_retries),
	KUNIT_CASE(younger_fails_without),
	KUNIT_CASE(older_waits),
	KUNIT_CASE(holder_without_ticket),
	KUNIT_CASE(snapshot_restored),
	KUNIT_CASE(nested),
	KUNIT_CASE(contended_dies),
	KUNIT_CASE(freed_meanwhile),
	KUNIT_CASE(interrupted),
	KUNIT_CASE(opposed),
	{}
};

static struct kunit_suite exec_contention_suite = {
	.name = "ttm_exec_contention",
	.init = exec_fixture_init,
	.exit = exec_fixture_exit,
	.test_cases = exec_contention_cases,
};

kunit_test_suite(exec_contention_suite);
