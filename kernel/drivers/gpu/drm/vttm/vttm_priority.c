// SPDX-License-Identifier: GPL-2.0 OR MIT
/* vramlab-needs: 13 */

/**
 * DOC: Priorities
 *
 * The priority of a private BO is its priority within the VM's bulk move, see
 * ttm_bo_set_bulk_priority(). Submissions validate what was evicted from the
 * highest priority down, and let TTM evict BOs of lower priority for it. So
 * nothing is evicted that the same submission has validated: that has the same
 * priority at least. What goes is on the VM's evicted list then, and has its
 * turn later in the same submission.
 *
 * A BO of priority 0 stays where eviction has put it, if it is allowed there.
 */

#include <linux/dma-resv.h>

#include <drm/ttm/ttm_bo.h>

#include "vttm_clock.h"
#include "vttm_drv.h"
#include "vttm_priority.h"
#include "vttm_vm.h"

static u32 domain_of(struct vttm_bo *bo)
{
	return bo->tbo.resource ? vttm_mem_type_to_domain(bo->tbo.resource->mem_type) : 0;
}

/**
 * vttm_priority_level() - Which of a VM's evicted lists is a BO's?
 * @bo: the private BO
 *
 * Return: its priority, or 0 if TTM doesn't look at that.
 */
unsigned int vttm_priority_level(struct vttm_bo *bo)
{
	return ttm_bo_priority_enabled() ? bo->priority : 0;
}

/**
 * vttm_priority_domains() - In which domains does a submission want a BO?
 * @bo: the BO, with its reservation lock held
 * @domains: what it would ask for without priorities
 *
 * Return: @domains, but for a private BO of priority 0 that isn't in video memory
 * what else is allowed, if anything is.
 */
u32 vttm_priority_domains(struct vttm_bo *bo, u32 domains)
{
	u32 others = bo->allowed & ~DRM_VTTM_DOMAIN_VRAM;

	if (!ttm_bo_priority_enabled() || !bo->root || bo->priority || !others ||
	    domain_of(bo) == DRM_VTTM_DOMAIN_VRAM)
		return domains;

	return others;
}

static void set_locked(struct vttm_vm *vm, struct vttm_bo *bo, u32 priority)
{
	bool raised = priority > bo->priority;
	bool evicted;

	dma_resv_assert_held(bo->tbo.base.resv);

	ttm_bo_set_bulk_priority(&bo->tbo, priority);
	vttm_owner_set_priority(vm, bo, priority);

	/* Another thread has closed its handle. */
	if (!bo->vm)
		return;

	scoped_guard(spinlock, &vm->evicted_lock)
		evicted = !list_empty(&bo->evicted_node) && !bo->displaced;

	/* What it could not have before it perhaps can now. */
	if (evicted || (raised && !(bo->preferred & domain_of(bo))))
		vttm_vm_bo_evicted(bo);
}

/**
 * vttm_priority_set() - Change the priority of a private BO
 * @vm: its VM
 * @bo: the BO
 * @priority: the new priority
 *
 * Takes the reservation lock of the VM, unless TTM doesn't look at priorities.
 *
 * Return: 0, or -ERESTARTSYS.
 */
int vttm_priority_set(struct vttm_vm *vm, struct vttm_bo *bo, u32 priority)
{
	struct dma_resv *resv = bo->tbo.base.resv;
	int ret;

	if (!ttm_bo_priority_enabled()) {
		/* For when somebody switches it on. */
		WRITE_ONCE(bo->tbo.bulk_priority, priority);
		vttm_owner_set_priority(vm, bo, priority);
		return 0;
	}

	scoped_guard(rwsem_read, &vm->vdev->reset_lock) {
		ret = dma_resv_lock_interruptible(resv, NULL);
		if (!ret) {
			set_locked(vm, bo, priority);
			dma_resv_unlock(resv);
		}
	}
	vttm_clock_end_op(vm->vdev);

	return ret == -EINTR ? -ERESTARTSYS : ret;
}
