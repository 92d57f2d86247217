// SPDX-License-Identifier: GPL-2.0 OR MIT
/* vramlab-needs: 9 */

#include <linux/slab.h>
#include <linux/workqueue.h>

#include <drm/ttm/ttm_range_manager.h>
#include <drm/ttm/ttm_tt.h>

#include "ttm_exec_kunit.h"

static struct exec_fixture *bo_to_fixture(struct ttm_buffer_object *tbo)
{
	return container_of(tbo->bdev, struct exec_fixture, bdev);
}

static void exec_bo_destroy(struct ttm_buffer_object *tbo)
{
	atomic_inc(&bo_to_fixture(tbo)->destroyed);
	drm_gem_object_release(&tbo->base);
	kfree(to_exec_bo(tbo));
}

static struct ttm_tt *exec_tt_create(struct ttm_buffer_object *tbo, u32 page_flags)
{
	struct ttm_tt *tt = kzalloc_obj(*tt);

	if (tt && ttm_tt_init(tt, tbo, page_flags, ttm_cached, 0)) {
		kfree(tt);
		tt = NULL;
	}

	return tt;
}

static void exec_tt_destroy(struct ttm_device *bdev, struct ttm_tt *tt)
{
	ttm_tt_fini(tt);
	kfree(tt);
}

static void exec_evict_flags(struct ttm_buffer_object *tbo, struct ttm_placement *placement)
{
	static const struct ttm_place system = { .mem_type = TTM_PL_SYSTEM };
	static const struct ttm_place tt = { .mem_type = TTM_PL_TT };
	bool to_tt = bo_to_fixture(tbo)->evict_to_tt && tbo->resource->mem_type == TTM_PL_VRAM;

	placement->num_placement = 1;
	placement->placement = to_tt ? &tt : &system;
}

static int exec_move(struct ttm_buffer_object *tbo, bool evict, struct ttm_operation_ctx *ctx,
		     struct ttm_resource *new_mem, struct ttm_place *hop)
{
	struct exec_fixture *f = bo_to_fixture(tbo);
	struct dma_fence *fence = f->move_fence;
	int ret;

	f->moves++;
	if (f->on_move && tbo->destroy == exec_bo_destroy) {
		ret = f->on_move(f, to_exec_bo(tbo), evict);
		if (ret)
			return ret;
	}

	if (fence) {
		f->move_fence = NULL;
		ret = ttm_bo_move_accel_cleanup(tbo, fence, evict, true, new_mem);
		dma_fence_put(fence);
		return ret;
	}

	ttm_bo_move_null(tbo, new_mem);
	return 0;
}

static const struct ttm_device_funcs exec_funcs = {
	.ttm_tt_create = exec_tt_create,
	.ttm_tt_destroy = exec_tt_destroy,
	.move = exec_move,
	.eviction_valuable = ttm_bo_eviction_valuable,
	.evict_flags = exec_evict_flags,
};

/* Set up test->priv, a struct exec_fixture. */
int exec_fixture_init(struct kunit *test)
{
	struct exec_fixture *f = kunit_kzalloc(test, sizeof(*f), GFP_KERNEL);
	struct drm_device *drm;
	int ret;

	KUNIT_ASSERT_NOT_NULL(test, f);
	test->priv = f;
	f->devs = ttm_test_devices_basic(test);
	drm = f->devs->drm;
	dma_resv_init(&f->shared);
	INIT_LIST_HEAD(&f->all);

	ret = ttm_device_init(&f->bdev, &exec_funcs, drm->dev, drm->anon_inode->i_mapping,
			      drm->vma_offset_manager, 0);
	KUNIT_ASSERT_EQ(test, ret, 0);
	ret = ttm_range_man_init(&f->bdev, TTM_PL_VRAM, false, EXEC_VRAM_SIZE >> PAGE_SHIFT);
	KUNIT_ASSERT_EQ(test, ret, 0);
	ret = ttm_range_man_init(&f->bdev, TTM_PL_TT, true, EXEC_BO_SIZE >> PAGE_SHIFT);
	KUNIT_ASSERT_EQ(test, ret, 0);
	return 0;
}

void exec_fixture_exit(struct kunit *test)
{
	struct exec_fixture *f = test->priv;
	struct exec_bo *bo, *next;

	list_for_each_entry_safe(bo, next, &f->all, node)
		exec_bo_drop(bo);
	flush_workqueue(f->bdev.wq);
	KUNIT_EXPECT_EQ(test, ttm_range_man_fini(&f->bdev, TTM_PL_VRAM), 0);
	KUNIT_EXPECT_EQ(test, ttm_range_man_fini(&f->bdev, TTM_PL_TT), 0);
	ttm_device_fini(&f->bdev);
	dma_resv_fini(&f->shared);
	drm_kunit_helper_free_device(test, f->devs->dev);
}

/* Drop the test's reference. */
void exec_bo_drop(struct exec_bo *bo)
{
	list_del(&bo->node);
	ttm_bo_fini(&bo->tbo);
}

/* A BO, with a reference until the end or exec_bo_drop(). */
struct exec_bo *exec_bo_create(struct kunit *test, u64 size, u32 mem_type,
			       struct dma_resv *resv)
{
	struct ttm_place place = { .mem_type = mem_type };
	struct ttm_placement placement = { .num_placement = 1, .placement = &place };
	struct ttm_operation_ctx ctx = {};
	struct exec_fixture *f = test->priv;
	struct exec_bo *bo;
	int ret;

	bo = kzalloc_obj(*bo);
	KUNIT_ASSERT_NOT_NULL(test, bo);
	drm_gem_private_object_init(f->devs->drm, &bo->tbo.base, size);

	if (resv)
		dma_resv_lock(resv, NULL);
	ret = ttm_bo_init_reserved(&f->bdev, &bo->tbo, ttm_bo_type_kernel, &placement, 0, &ctx,
				   NULL, resv, exec_bo_destroy);
	if (!ret || resv)
		dma_resv_unlock(resv ?: bo->tbo.base.resv);
	KUNIT_ASSERT_EQ(test, ret, 0);
	list_add_tail(&bo->node, &f->all);

	return bo;
}

/* Four BOs, f->bos[0] to be evicted first. */
void exec_fill_vram(struct kunit *test)
{
	struct exec_fixture *f = test->priv;
	int i;

	for (i = 0; i < ARRAY_SIZE(f->bos); i++)
		f->bos[i] = exec_bo_create(test, EXEC_BO_SIZE, TTM_PL_VRAM, NULL);
}

/* Does the validation under way hold its lock? */
bool exec_bo_is_mine(struct exec_fixture *f, struct exec_bo *bo)
{
	return dma_resv_locking_ctx(bo->tbo.base.resv) == drm_exec_ticket(f->exec);
}

int exec_validate(struct exec_fixture *f, struct exec_bo *bo, u32 mem_type,
		  struct ttm_operation_ctx *ctx)
{
	struct ttm_place place = { .mem_type = mem_type };
	struct ttm_placement placement = { .num_placement = 1, .placement = &place };

	return ttm_bo_validate(&bo->tbo, &placement, ctx);
}

/* As a submission with one BO. Without @retry: as if TTM knew nothing of it. */
int exec_lock_and_validate(struct exec_fixture *f, struct exec_bo *bo,
			   struct ttm_operation_ctx *ctx, bool retry)
{
	struct drm_exec exec;
	int ret = 0;

	f->attempts = 0;
	f->exec = &exec;
	drm_exec_init(&exec, DRM_EXEC_IGNORE_DUPLICATES |
		      (ctx->interruptible ? DRM_EXEC_INTERRUPTIBLE_WAIT : 0), 0);
	drm_exec_until_all_locked(&exec) {
		f->attempts++;
		ret = drm_exec_prepare_obj(&exec, &bo->tbo.base, 1);
		drm_exec_retry_on_contention(&exec);
		if (ret)
			break;

		ctx->exec = retry ? &exec : NULL;
		ret = exec_validate(f, bo, TTM_PL_VRAM, ctx);
		if (f->on_attempt)
			f->on_attempt(f, ret);
		drm_exec_retry_on_contention(&exec);
		if (ret)
			break;
	}
	drm_exec_fini(&exec);
	f->exec = NULL;
	return ret;
}

/* Let somebody else hold the lock of a BO. */
void exec_hold(struct kunit *test, struct exec_bo *bo)
{
	struct exec_fixture *f = test->priv;

	f->holder.resv = bo->tbo.base.resv;
	drm_exec_holder_start(test, &f->holder);
}

/* For f->on_attempt: who was in the way goes away. */
void exec_release_on_deadlk(struct exec_fixture *f, int ret)
{
	if (ret == -EDEADLK && f->holder.task) {
		drm_exec_holder_stop(&f->holder);
		f->holder.task = NULL;
	}
}

static const char *exec_fence_name(struct dma_fence *fence)
{
	return "ttm_exec_kunit";
}

static const struct dma_fence_ops exec_fence_ops = {
	.get_driver_name = exec_fence_name,
	.get_timeline_name = exec_fence_name,
};

/* A fence; the caller has to signal it. */
struct dma_fence *exec_fence_create(struct kunit *test)
{
	static DEFINE_SPINLOCK(lock);
	struct dma_fence *fence = kzalloc_obj(*fence);

	KUNIT_ASSERT_NOT_NULL(test, fence);
	dma_fence_init(fence, &exec_fence_ops, &lock, dma_fence_context_alloc(1), 1);
	return fence;
}

struct signal_later {
	struct delayed_work work;
	struct dma_fence *fence;
};

static void signal_later(struct work_struct *work)
{
	struct signal_later *s = container_of(to_delayed_work(work), struct signal_later, work);

	dma_fence_signal(s->fence);
	dma_fence_put(s->fence);
	kfree(s);
}

/* Signal it in a while, when somebody waits for it. */
void exec_fence_signal_later(struct kunit *test, struct dma_fence *fence)
{
	struct signal_later *s = kzalloc_obj(*s);

	KUNIT_ASSERT_NOT_NULL(test, s);
	s->fence = dma_fence_get(fence);
	INIT_DELAYED_WORK(&s->work, signal_later);
	schedule_delayed_work(&s->work, msecs_to_jiffies(50));
}
