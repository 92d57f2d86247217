// SPDX-License-Identifier: GPL-2.0 OR MIT
/* vramlab-needs: 11 */

/**
 * DOC: Throttling and recovery
 *
 * Each VM is an owner, see &struct ttm_throttle: of the BOs that it created,
 * shared ones too, and of the operations of its file. While it isn't in the
 * normal phase, its submissions ask for allowed domains, not for preferred ones.
 *
 * What a submission has then left outside of its preferred domains would stay
 * there: a private BO is validated once for each eviction, as in amdgpu. So it
 * is remembered as displaced, and later submissions try a few of those again, by
 * priority, with system memory as the fallback: nobody is evicted for them who
 * isn't evicted for new BOs as well.
 */

#include <linux/dma-resv.h>

#include <drm/drm_print.h>
#include <drm/ttm/ttm_bo.h>
#include <drm/ttm/ttm_throttle.h>

#include "vttm_drv.h"
#include "vttm_exec.h"
#include "vttm_gem.h"
#include "vttm_retry.h"
#include "vttm_throttle.h"
#include "vttm_trace.h"
#include "vttm_vm.h"

/* In one submission: BOs tried in vain, and bytes moved. */
#define MAX_FAILURES	8
#define MAX_BYTES	SZ_32M

/**
 * vttm_owner_init() - A VM becomes an owner
 * @vm: the VM
 *
 * Return: 0, or -ENOMEM.
 */
int vttm_owner_init(struct vttm_vm *vm)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(vm->as_owner.displaced); i++)
		INIT_LIST_HEAD(&vm->as_owner.displaced[i]);

	vm->as_owner.throttle = ttm_throttle_create();
	return vm->as_owner.throttle ? 0 : -ENOMEM;
}

/**
 * vttm_owner_fini() - What a VM leaves behind is nobody's
 * @vm: the VM
 */
void vttm_owner_fini(struct vttm_vm *vm)
{
	ttm_throttle_close(vm->as_owner.throttle);
	vm->as_owner.throttle = NULL;
}

/**
 * vttm_owner_set_label() - Name an owner for tracepoints
 * @vm: the VM
 * @label: its label
 */
void vttm_owner_set_label(struct vttm_vm *vm, u32 label)
{
	WRITE_ONCE(vm->as_owner.throttle->label, label);
}

/**
 * vttm_owner_add_bo() - A BO is created for a VM
 * @vm: the VM
 * @bo: the BO, not initialized by TTM yet
 */
void vttm_owner_add_bo(struct vttm_vm *vm, struct vttm_bo *bo)
{
	bo->tbo.throttle = ttm_throttle_get(vm->as_owner.throttle);
}

/**
 * vttm_owner_set_ctx() - Tell TTM for whom an operation is
 * @vm: the VM
 * @ctx: context of the operation
 */
void vttm_owner_set_ctx(struct vttm_vm *vm, struct ttm_operation_ctx *ctx)
{
	ctx->throttle = vm->as_owner.throttle;
}

/**
 * vttm_owner_set_pin_ctx() - Tell TTM for whom a BO is pinned
 * @vm: VM of the file that asks for it, or NULL: it is shown, for its owner
 * @bo: the BO
 * @ctx: context of the operation
 */
void vttm_owner_set_pin_ctx(struct vttm_vm *vm, struct vttm_bo *bo,
			    struct ttm_operation_ctx *ctx)
{
	ctx->throttle = vm ? vm->as_owner.throttle : bo->tbo.throttle;
}

/**
 * vttm_owner_is_normal() - May a VM ask for more than it needs?
 * @vm: the VM
 *
 * Return: true unless it is throttled.
 */
bool vttm_owner_is_normal(struct vttm_vm *vm)
{
	return ttm_throttle_phase(&vm->vdev->bdev, vm->as_owner.throttle) ==
	       TTM_THROTTLE_NORMAL;
}

static bool is_in_preferred_domain(struct vttm_bo *bo)
{
	return bo->preferred & vttm_mem_type_to_domain(bo->tbo.resource->mem_type);
}

/* To the end of its list, or off it. */
static void update(struct vttm_vm *vm, struct vttm_bo *bo)
{
	u32 priority = READ_ONCE(bo->priority);

	lockdep_assert_held(&vm->evicted_lock);

	bo->displaced = priority && !is_in_preferred_domain(bo);
	if (bo->displaced)
		list_move_tail(&bo->evicted_node, &vm->as_owner.displaced[priority]);
	else
		list_del_init(&bo->evicted_node);
}

/**
 * vttm_owner_validated() - A private BO was validated
 * @bo: the BO, with its reservation lock held, in no list
 */
void vttm_owner_validated(struct vttm_bo *bo)
{
	dma_resv_assert_held(bo->tbo.base.resv);

	if (!ttm_throttle_enabled())
		return;

	guard(spinlock)(&bo->vm->evicted_lock);
	update(bo->vm, bo);
}

/**
 * vttm_owner_set_priority() - Change the priority of a private BO
 * @vm: its VM
 * @bo: the BO
 * @priority: the new priority
 *
 * Without the reservation lock: who recovers BOs looks at the lists anew for
 * each.
 */
void vttm_owner_set_priority(struct vttm_vm *vm, struct vttm_bo *bo, u32 priority)
{
	guard(spinlock)(&vm->evicted_lock);

	WRITE_ONCE(bo->priority, priority);
	if (!bo->displaced)
		return;

	bo->displaced = priority;
	if (priority)
		list_move_tail(&bo->evicted_node, &vm->as_owner.displaced[priority]);
	else
		list_del_init(&bo->evicted_node);
}

static struct vttm_bo *first_displaced(struct vttm_vm *vm)
{
	struct list_head *list;
	unsigned int priority;

	guard(spinlock)(&vm->evicted_lock);
	for (priority = DRM_VTTM_PRIORITY_MAX; priority; priority--) {
		list = &vm->as_owner.displaced[priority];
		if (!list_empty(list))
			return list_first_entry(list, struct vttm_bo, evicted_node);
	}

	return NULL;
}

/* Return: 0, also if there was no room, or an error that ends the submission. */
static int recover_one(struct vttm_exec *e, struct vttm_bo *bo)
{
	struct ttm_operation_ctx ctx = {
		.interruptible = true,
		.resv = bo->tbo.base.resv,
		.throttle = e->vm->as_owner.throttle,
	};
	u32 before = vttm_mem_type_to_domain(bo->tbo.resource->mem_type);
	int ret = 0;

	vttm_retry_set_ctx(&ctx, e->retry.exec);

	if (!bo->tbo.pin_count) {
		vttm_bo_placement_from_domain(bo, bo->preferred | bo->allowed);
		ret = ttm_bo_validate(&bo->tbo, &bo->placement, &ctx);
	}

	e->recovered_bytes += ctx.bytes_moved;
	scoped_guard(spinlock, &e->vm->evicted_lock) {
		update(e->vm, bo);
		if (!ret || ret == -ENOMEM)
			e->recovery_failures += bo->displaced;
	}
	trace_vttm_recover(bo, before, ret);

	return ret == -ENOMEM ? 0 : ret;
}

/**
 * vttm_owner_recover() - Try some of the BOs that were displaced again
 * @e: the submission, which has validated what it must
 *
 * What that moves isn't charged to the move budget: nobody has asked for it.
 *
 * Return: 0, -EDEADLK, -ERESTARTSYS, or another error of ttm_bo_validate() than
 * that there is no room.
 */
int vttm_owner_recover(struct vttm_exec *e)
{
	struct vttm_bo *bo;
	int ret;

	dma_resv_assert_held(e->vm->root->base.resv);

	if (!ttm_throttle_enabled() ||
	    ttm_throttle_phase(&e->vdev->bdev, e->vm->as_owner.throttle) ==
	    TTM_THROTTLE_STRONG)
		return 0;

	while (e->recovery_failures < MAX_FAILURES && e->recovered_bytes < MAX_BYTES) {
		bo = first_displaced(e->vm);
		if (!bo)
			return 0;

		ret = recover_one(e, bo);
		if (ret)
			return ret;
	}

	return 0;
}

/**
 * vttm_owners_reset() - Forget all evictions
 * @vdev: the device
 */
void vttm_owners_reset(struct vttm_device *vdev)
{
	struct vttm_vm *vm;

	guard(spinlock)(&vdev->vms_lock);
	list_for_each_entry(vm, &vdev->vms, node)
		ttm_throttle_reset(vm->as_owner.throttle);
}

/**
 * vttm_owner_print() - Print what is known of an owner, if TTM throttles
 * @vm: the VM
 * @p: printer
 */
void vttm_owner_print(struct vttm_vm *vm, struct drm_printer *p)
{
	s64 evicted_ns = atomic64_read(&vm->as_owner.throttle->evicted_ns);
	struct vttm_bo *bo;
	unsigned int i;

	if (!ttm_throttle_enabled())
		return;

	drm_printf(p, "throttle %u evicted ", vm->root->label);
	if (evicted_ns < 0)
		drm_puts(p, "-");
	else
		drm_printf(p, "%lld", evicted_ns);

	drm_puts(p, " displaced");
	guard(spinlock)(&vm->evicted_lock);
	for (i = DRM_VTTM_PRIORITY_MAX; i; i--)
		list_for_each_entry(bo, &vm->as_owner.displaced[i], evicted_node)
			drm_printf(p, " %llu", bo->tag);
	drm_puts(p, "\n");
}

/**
 * vttm_throttle_init_mgr() - Evictions from here throttle the owners
 * @man: resource manager of video memory
 */
void vttm_throttle_init_mgr(struct ttm_resource_manager *man)
{
	man->use_throttle = true;
}

/**
 * vttm_throttle_now_ns() - Time by which TTM throttles
 * @bdev: the TTM device
 *
 * Return: device time.
 */
u64 vttm_throttle_now_ns(struct ttm_device *bdev)
{
	return vttm_clock_now(bdev_to_vttm_device(bdev));
}
