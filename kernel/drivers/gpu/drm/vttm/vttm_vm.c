// SPDX-License-Identifier: GPL-2.0 OR MIT

#include <linux/dma-resv.h>
#include <linux/jiffies.h>
#include <linux/sched.h>
#include <linux/slab.h>

#include <drm/drm_exec.h>

#include "vttm_ctx.h"
#include "vttm_drv.h"
#include "vttm_gem.h"
#include "vttm_pin.h"
#include "vttm_priority.h"
#include "vttm_vm.h"

/* How long a file that is closed waits for its submissions. */
#define VTTM_CLOSE_TIMEOUT_MS	1000

static void destroy_entities(struct vttm_vm *vm, unsigned int num)
{
	while (num--)
		drm_sched_entity_destroy(&vm->entities[num]);
}

/* The entities of a VM and the context that they refer to. */
static int init_entities(struct vttm_vm *vm)
{
	struct vttm_ctx *ctx = vttm_ctx_create();
	unsigned int i;
	int ret;

	if (!ctx)
		return -ENOMEM;

	for (i = 0; i < VTTM_NUM_USER_ENGINES; i++) {
		struct drm_gpu_scheduler *sched = &vttm_engine_of_user(vm->vdev, i)->sched;

		ret = drm_sched_entity_init(&vm->entities[i], DRM_SCHED_PRIORITY_NORMAL,
					    &sched, 1, &ctx->banned);
		if (ret) {
			destroy_entities(vm, i);
			vttm_ctx_put(ctx);
			return ret;
		}
	}

	vttm_ctx_put(vm->ctx);
	vm->ctx = ctx;
	return 0;
}

/**
 * vttm_vm_open() - Create the VM of a new file
 * @drm: DRM device
 * @file: the file
 *
 * Return: 0, or -ENOMEM.
 */
int vttm_vm_open(struct drm_device *drm, struct drm_file *file)
{
	struct vttm_device *vdev = to_vttm_device(drm);
	struct vttm_vm *vm;
	unsigned int i;
	int ret;

	vm = kzalloc_obj(*vm);
	if (!vm)
		return -ENOMEM;

	vm->vdev = vdev;
	vm->owner = (void *)atomic_long_inc_return(&vdev->vm_serial);
	vm->first_seqno = 1;
	for (i = 0; i < ARRAY_SIZE(vm->evicted); i++)
		INIT_LIST_HEAD(&vm->evicted[i]);
	spin_lock_init(&vm->evicted_lock);
	ttm_lru_bulk_move_init(&vm->bulk_move);
	xa_init(&vm->fences);
	xa_init(&vm->bos);

	ret = vttm_owner_init(vm);
	if (ret)
		goto err_free;

	ret = -ENOMEM;
	vm->root = vttm_root_create(vdev);
	if (!vm->root)
		goto err_owner;

	/* A reset destroys the entities of all VMs that it knows. */
	scoped_guard(rwsem_read, &vdev->reset_lock) {
		ret = init_entities(vm);
		if (ret)
			goto err_root;

		scoped_guard(spinlock, &vdev->vms_lock)
			list_add_tail(&vm->node, &vdev->vms);
	}

	file->driver_priv = vm;
	return 0;

err_root:
	drm_gem_object_put(&vm->root->base);
err_owner:
	vttm_owner_fini(vm);
err_free:
	kfree(vm);
	return ret;
}

static void drop_fences(struct vttm_vm *vm)
{
	struct dma_fence *fence;
	unsigned long index;

	xa_for_each(&vm->fences, index, fence)
		dma_fence_put(fence);
	xa_destroy(&vm->fences);
}

static void wait_for_submissions(struct vttm_vm *vm)
{
	struct dma_fence *fence;
	unsigned long index;

	/* Backwards: on each engine the last one finishes last. */
	for (index = vm->seqno; index >= vm->first_seqno; index--) {
		fence = xa_load(&vm->fences, index);

		/* Under the virtual clock go on when what it waits for is signaled. */
		while (fence) {
			vttm_clock_wait_fence(vm->vdev, fence);
			if (dma_fence_wait_timeout(fence, false, HZ / 10))
				break;
		}
	}
}

/*
 * Nothing but a foreign fence that never signals makes anybody wait long, and
 * nobody who has been killed waits.
 */
static void leave(struct vttm_vm *vm)
{
	long left = msecs_to_jiffies(VTTM_CLOSE_TIMEOUT_MS);
	struct dma_fence *fence;
	unsigned long index;

	/* As drm_sched_entity_flush(). */
	if ((current->flags & PF_EXITING) && current->exit_code == SIGKILL) {
		vttm_ctx_kill(vm->vdev, vm->ctx);
		return;
	}

	for (index = vm->seqno; index >= vm->first_seqno && left > 0; index--) {
		fence = xa_load(&vm->fences, index);
		if (fence)
			left = dma_fence_wait_timeout(fence, true, left);
	}
}

/**
 * vttm_vm_postclose() - Free the VM of a file whose handles are closed
 * @drm: DRM device
 * @file: the file
 *
 * Waits for its submissions, under the real clock for a while: those that were
 * given to an engine end when they do, those that wait for something are
 * cancelled. If the process was killed all of them are.
 */
void vttm_vm_postclose(struct drm_device *drm, struct drm_file *file)
{
	struct vttm_device *vdev = to_vttm_device(drm);
	struct vttm_vm *vm = file->driver_priv;

	scoped_guard(rwsem_read, &vdev->reset_lock) {
		if (vdev->config.virtual_clock)
			wait_for_submissions(vm);
		else
			leave(vm);

		scoped_guard(spinlock, &vdev->vms_lock)
			list_del(&vm->node);

		if (!vm->lost)
			destroy_entities(vm, VTTM_NUM_USER_ENGINES);
	}

	vttm_lockstep_release_file(vdev, file);
	vttm_clock_end_op(vdev);

	vttm_owner_fini(vm);
	drop_fences(vm);
	vttm_ctx_put(vm->ctx);
	xa_destroy(&vm->bos);
	ttm_lru_bulk_move_fini(&vdev->bdev, &vm->bulk_move);
	drm_gem_object_put(&vm->root->base);
	kfree(vm);
}

/**
 * vttm_vm_reset() - Forget the past of a VM without BOs and jobs
 * @vm: the VM
 *
 * Return: 0, or -ENOMEM; then it accepts no submissions.
 */
int vttm_vm_reset(struct vttm_vm *vm)
{
	int ret;

	if (!vm->lost)
		destroy_entities(vm, VTTM_NUM_USER_ENGINES);
	drop_fences(vm);
	vm->seqno = 0;
	vm->first_seqno = 1;

	ret = init_entities(vm);
	vm->lost = ret;
	return ret;
}

/**
 * vttm_vm_can_submit() - Does a VM accept submissions?
 * @vm: the VM
 *
 * Return: 0, -ECANCELED if it is banned, or -EIO if it is lost.
 */
int vttm_vm_can_submit(struct vttm_vm *vm)
{
	if (vm->lost)
		return -EIO;

	return vttm_ctx_is_banned(vm->ctx) ? -ECANCELED : 0;
}

/**
 * vttm_vm_open_bo() - A file gets a handle
 * @vm: VM of the file
 * @bo: the BO
 *
 * Return: 0, or -ENOMEM.
 */
int vttm_vm_open_bo(struct vttm_vm *vm, struct vttm_bo *bo)
{
	struct vttm_vm_bo *vm_bo, *old;

	vm_bo = kzalloc_obj(*vm_bo);
	if (!vm_bo)
		return -ENOMEM;
	vm_bo->handles = 1;

	xa_lock(&vm->bos);
	old = __xa_cmpxchg(&vm->bos, (unsigned long)bo, NULL, vm_bo, GFP_KERNEL);
	if (old && !xa_is_err(old))
		old->handles++;
	xa_unlock(&vm->bos);

	if (old)
		kfree(vm_bo);
	return xa_err(old);
}

/**
 * vttm_vm_close_bo() - A file loses a handle
 * @vm: VM of the file
 * @bo: the BO
 *
 * With the last handle go the pins of the file, and a private BO leaves the VM.
 */
void vttm_vm_close_bo(struct vttm_vm *vm, struct vttm_bo *bo)
{
	struct vttm_vm_bo *vm_bo;

	xa_lock(&vm->bos);
	vm_bo = xa_load(&vm->bos, (unsigned long)bo);
	if (!vm_bo || --vm_bo->handles) {
		xa_unlock(&vm->bos);
		return;
	}
	__xa_erase(&vm->bos, (unsigned long)bo);
	xa_unlock(&vm->bos);

	while (vm_bo->pins--) {
		dma_resv_lock(bo->tbo.base.resv, NULL);
		vttm_bo_unpin(bo);
		dma_resv_unlock(bo->tbo.base.resv);
	}
	kfree(vm_bo);

	vttm_vm_remove_bo(vm, bo);
}

/**
 * vttm_vm_add_bo() - Make a new BO part of a VM
 * @vm: the VM, with its reservation lock held
 * @bo: the private BO
 *
 * As amdgpu_vm_bo_base_init().
 */
void vttm_vm_add_bo(struct vttm_vm *vm, struct vttm_bo *bo)
{
	dma_resv_assert_held(vm->root->base.resv);

	bo->vm = vm;
	ttm_bo_set_bulk_move(&bo->tbo, &vm->bulk_move);
	if (!(bo->preferred & vttm_mem_type_to_domain(bo->tbo.resource->mem_type)))
		vttm_vm_bo_evicted(bo);
}

static void remove_bo_locked(struct vttm_bo *bo)
{
	ttm_bo_set_bulk_move(&bo->tbo, NULL);
	vttm_vm_bo_validated(bo);
	bo->vm = NULL;
}

/**
 * vttm_vm_remove_bo() - Take a BO out of its VM
 * @vm: the VM
 * @bo: the BO; nothing happens to one that isn't private
 */
void vttm_vm_remove_bo(struct vttm_vm *vm, struct vttm_bo *bo)
{
	struct drm_exec exec;
	int ret = 0;

	if (!bo->root)
		return;

	drm_exec_init(&exec, DRM_EXEC_IGNORE_DUPLICATES, 1);
	drm_exec_until_all_locked(&exec) {
		ret = drm_exec_lock_obj(&exec, &bo->tbo.base);
		drm_exec_retry_on_contention(&exec);
		if (ret)
			break;
	}

	if (!ret)
		remove_bo_locked(bo);
	drm_exec_fini(&exec);

	/* Out of memory: this needs none, and can't be left undone. */
	if (ret) {
		dma_resv_lock(bo->tbo.base.resv, NULL);
		remove_bo_locked(bo);
		dma_resv_unlock(bo->tbo.base.resv);
	}
}

/**
 * vttm_vm_first_evicted() - Which BO is to be validated next?
 * @vm: the VM, with its reservation lock held
 *
 * Return: the BO, or NULL if there is none.
 */
struct vttm_bo *vttm_vm_first_evicted(struct vttm_vm *vm)
{
	unsigned int level = ARRAY_SIZE(vm->evicted);

	dma_resv_assert_held(vm->root->base.resv);

	guard(spinlock)(&vm->evicted_lock);
	while (level--)
		if (!list_empty(&vm->evicted[level]))
			return list_first_entry(&vm->evicted[level], struct vttm_bo,
						evicted_node);

	return NULL;
}

/**
 * vttm_vm_bo_evicted() - A private BO isn't where it ought to be
 * @bo: the BO, with its reservation lock held
 *
 * The next submission validates it first, of those of the same priority, even if
 * it was on the list.
 */
void vttm_vm_bo_evicted(struct vttm_bo *bo)
{
	dma_resv_assert_held(bo->tbo.base.resv);

	guard(spinlock)(&bo->vm->evicted_lock);
	bo->displaced = false;
	list_move(&bo->evicted_node, &bo->vm->evicted[vttm_priority_level(bo)]);
}

/**
 * vttm_vm_bo_validated() - A private BO needs no validation
 * @bo: the BO, with its reservation lock held
 */
void vttm_vm_bo_validated(struct vttm_bo *bo)
{
	dma_resv_assert_held(bo->tbo.base.resv);

	guard(spinlock)(&bo->vm->evicted_lock);
	bo->displaced = false;
	list_del_init(&bo->evicted_node);
}

/**
 * vttm_vm_add_fence() - Reserve a number for a submission
 * @vm: the VM, with its reservation lock held
 * @fence: fence of the submission, or NULL to reserve memory first
 *
 * To be called with NULL, which can fail, and then with a fence, which can't.
 *
 * Return: 0, or -ENOMEM.
 */
int vttm_vm_add_fence(struct vttm_vm *vm, struct dma_fence *fence)
{
	struct dma_fence *old;

	dma_resv_assert_held(vm->root->base.resv);

	if (!fence)
		return xa_reserve(&vm->fences, vm->seqno + 1, GFP_KERNEL);

	xa_store(&vm->fences, ++vm->seqno, dma_fence_get(fence), GFP_NOWAIT);

	/* Each engine finishes them in order. How one failed can still be asked. */
	while (vm->first_seqno < vm->seqno) {
		old = xa_load(&vm->fences, vm->first_seqno);
		if (old && (!dma_fence_is_signaled(old) || old->error))
			break;
		dma_fence_put(xa_erase(&vm->fences, vm->first_seqno++));
	}

	return 0;
}
