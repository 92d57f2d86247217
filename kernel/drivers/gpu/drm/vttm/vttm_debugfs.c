// SPDX-License-Identifier: GPL-2.0 OR MIT

#include <linux/bsearch.h>
#include <linux/debugfs.h>
#include <linux/dma-resv.h>
#include <linux/seq_file.h>
#include <linux/slab.h>
#include <linux/sort.h>

#include <drm/drm_debugfs.h>
#include <drm/drm_drv.h>
#include <drm/drm_print.h>

#include "vttm_ctx.h"
#include "vttm_debugfs.h"
#include "vttm_drv.h"
#include "vttm_gem.h"
#include "vttm_pm.h"
#include "vttm_vm.h"

/**
 * struct vttm_state - What is printed, with pointers that locks keep valid
 *
 * Tasks that are parked hold reservation locks, so these are not taken. While
 * something runs the text may be inconsistent, but it is always safe.
 */
struct vttm_state {
	/** @bos: BOs, by tag. */
	struct vttm_bo **bos;
	/** @num_bos: Length of @bos. */
	unsigned int num_bos;
	/** @resources: Resources that exist, by address. */
	struct ttm_resource **resources;
	/** @num_resources: Length of @resources. */
	unsigned int num_resources;
	/** @max: Length that both arrays can have. */
	unsigned int max;
};

static const char *domain_name(u32 domain)
{
	switch (domain) {
	case DRM_VTTM_DOMAIN_SYSTEM:
		return "system";
	case DRM_VTTM_DOMAIN_GTT:
		return "gtt";
	case DRM_VTTM_DOMAIN_VRAM:
		return "vram";
	default:
		return "none";
	}
}

static int compare_tags(const void *a, const void *b)
{
	const struct vttm_bo *bo_a = *(const struct vttm_bo **)a;
	const struct vttm_bo *bo_b = *(const struct vttm_bo **)b;

	return cmp_int(bo_a->tag, bo_b->tag);
}

static int compare_addresses(const void *a, const void *b)
{
	return cmp_int(*(const unsigned long *)a, *(const unsigned long *)b);
}

static int compare_labels(const void *a, const void *b)
{
	const struct vttm_vm *vm_a = *(const struct vttm_vm **)a;
	const struct vttm_vm *vm_b = *(const struct vttm_vm **)b;

	return cmp_int(vm_a->root->label, vm_b->root->label);
}

static void print_entry(struct drm_printer *p, struct ttm_resource *res)
{
	struct ttm_buffer_object *tbo = res->bo;

	if (!vttm_bo_is_vttm_bo(tbo))
		drm_printf(p, " ghost:%zu", tbo->base.size);
	else if (tbo->deleted)
		drm_printf(p, " zombie:%llu", to_vttm_bo(tbo)->tag);
	else
		drm_printf(p, " %llu", to_vttm_bo(tbo)->tag);
}

/* Print a LRU list, if it isn't empty, with @name before it. */
static void print_lru(struct drm_printer *p, struct list_head *list, const char *name,
		      int priority)
{
	struct ttm_lru_item *item;
	bool empty = true;

	list_for_each_entry(item, list, link) {
		if (!ttm_lru_item_is_res(item))
			continue;

		if (empty) {
			drm_printf(p, "lru %s", name);
			if (priority >= 0)
				drm_printf(p, " %d", priority);
			empty = false;
		}
		print_entry(p, ttm_lru_item_to_res(item));
	}

	if (!empty)
		drm_puts(p, "\n");
}

static void collect_resources(struct vttm_state *state, struct list_head *list)
{
	struct ttm_lru_item *item;

	list_for_each_entry(item, list, link) {
		if (!ttm_lru_item_is_res(item))
			continue;

		if (state->num_resources < state->max)
			state->resources[state->num_resources] = ttm_lru_item_to_res(item);
		state->num_resources++;
	}
}

/* The BO's resource, if it isn't just going away. */
static struct ttm_resource *current_resource(struct vttm_state *state, struct vttm_bo *bo)
{
	struct ttm_resource *res = READ_ONCE(bo->tbo.resource);

	return bsearch(&res, state->resources, state->num_resources,
		       sizeof(*state->resources), compare_addresses) ? res : NULL;
}

static void print_bo(struct vttm_device *vdev, struct drm_printer *p,
		     struct vttm_state *state, struct vttm_bo *bo)
{
	struct ttm_resource *res = current_resource(state, bo);
	u32 label = vttm_bo_vm_label(bo);
	struct gpu_buddy_block *block;

	drm_printf(p, "bo %llu vm ", bo->tag);
	if (label == VTTM_LABEL_NONE)
		drm_puts(p, "-");
	else
		drm_printf(p, "%u", label);
	drm_printf(p, " size %zu mem %s place", bo->tbo.base.size,
		   domain_name(res ? vttm_mem_type_to_domain(res->mem_type) : 0));

	if (res && res->mem_type == TTM_PL_VRAM)
		list_for_each_entry(block, &to_vttm_vram_resource(res)->blocks, link)
			drm_printf(p, " %llu+%llu", gpu_buddy_block_offset(block),
				   gpu_buddy_block_size(&vdev->vram_mgr.mm, block));

	drm_printf(p, " pin %u prio %u pref %u allowed %u flags %u cpu %u busy %u\n",
		   bo->tbo.pin_count, bo->priority, bo->preferred, bo->allowed,
		   bo->flags, bo->cpu_access,
		   !dma_resv_test_signaled(bo->tbo.base.resv, DMA_RESV_USAGE_BOOKKEEP));
}

static const u32 mem_types[] = { TTM_PL_SYSTEM, TTM_PL_TT, TTM_PL_VRAM };

/* Return: true if there was room for all, else try again with more. */
static bool collect(struct vttm_device *vdev, struct vttm_state *state)
{
	struct vttm_bo *bo;
	unsigned int i, j;

	state->num_bos = 0;
	state->num_resources = 0;

	list_for_each_entry(bo, &vdev->bos, node) {
		if (bo->tbo.deleted)
			continue;
		if (state->num_bos < state->max)
			state->bos[state->num_bos] = bo;
		state->num_bos++;
	}

	for (i = 0; i < ARRAY_SIZE(mem_types); i++) {
		struct ttm_resource_manager *man = ttm_manager_type(&vdev->bdev, mem_types[i]);

		for (j = 0; man && j < TTM_MAX_BO_PRIORITY; j++)
			collect_resources(state, &man->lru[j]);
	}
	collect_resources(state, &vdev->bdev.unevictable);

	return max(state->num_bos, state->num_resources) <= state->max;
}

static void print_collected(struct vttm_device *vdev, struct drm_printer *p,
			    struct vttm_state *state)
{
	unsigned int i, j;

	sort(state->bos, state->num_bos, sizeof(*state->bos), compare_tags, NULL);
	sort(state->resources, state->num_resources, sizeof(*state->resources),
	     compare_addresses, NULL);

	for (i = 0; i < state->num_bos; i++)
		print_bo(vdev, p, state, state->bos[i]);

	for (i = 0; i < ARRAY_SIZE(mem_types); i++) {
		struct ttm_resource_manager *man = ttm_manager_type(&vdev->bdev, mem_types[i]);
		u32 domain = vttm_mem_type_to_domain(mem_types[i]);

		for (j = 0; man && j < TTM_MAX_BO_PRIORITY; j++)
			print_lru(p, &man->lru[j], domain_name(domain), j);
	}
	print_lru(p, &vdev->bdev.unevictable, "unevictable", -1);
}

static bool print_if_it_fits(struct vttm_device *vdev, struct drm_printer *p,
			     struct vttm_state *state)
{
	/* In this order; with all of them no resource or block list changes. */
	guard(mutex)(&vdev->vram_mgr.lock);
	guard(spinlock)(&vdev->bos_lock);
	guard(spinlock)(&vdev->bdev.lru_lock);

	if (!collect(vdev, state))
		return false;

	print_collected(vdev, p, state);
	return true;
}

static int print_memory(struct vttm_device *vdev, struct drm_printer *p)
{
	struct vttm_state state = {};
	int ret = -EAGAIN;

	for (state.max = 512; ret == -EAGAIN; state.max *= 2) {
		state.bos = kvmalloc_objs(*state.bos, state.max);
		state.resources = kvmalloc_objs(*state.resources, state.max);
		if (!state.bos || !state.resources)
			ret = -ENOMEM;
		else if (print_if_it_fits(vdev, p, &state))
			ret = 0;

		kvfree(state.bos);
		kvfree(state.resources);
	}

	return ret;
}

static void print_vm(struct drm_printer *p, struct vttm_vm *vm)
{
	unsigned int i = ARRAY_SIZE(vm->evicted);
	struct vttm_bo *bo;

	drm_printf(p, "vm %u seqno %llu evicted", vm->root->label, vm->seqno);
	guard(spinlock)(&vm->evicted_lock);
	while (i--)
		list_for_each_entry(bo, &vm->evicted[i], evicted_node)
			drm_printf(p, " %llu", bo->tag);
	/* The text is that of the model, in which nothing hangs. */
	if (vttm_ctx_is_banned(vm->ctx))
		drm_puts(p, " banned");
	drm_puts(p, "\n");
}

static void print_vm_and_owner(struct drm_printer *p, struct vttm_vm *vm)
{
	print_vm(p, vm);
	vttm_owner_print(vm, p);
}

static int print_vms(struct vttm_device *vdev, struct drm_printer *p)
{
	unsigned int i, num = 0, max = 0;
	struct vttm_vm *vm, **vms;

	scoped_guard(spinlock, &vdev->vms_lock)
		list_for_each_entry(vm, &vdev->vms, node)
			max++;

	vms = kvmalloc_objs(*vms, max + 1);
	if (!vms)
		return -ENOMEM;

	/* VMs come and go with the list. */
	scoped_guard(spinlock, &vdev->vms_lock) {
		list_for_each_entry(vm, &vdev->vms, node)
			if (vm->root->label != VTTM_LABEL_NONE && num < max)
				vms[num++] = vm;
		sort(vms, num, sizeof(*vms), compare_labels, NULL);
		for (i = 0; i < num; i++)
			print_vm_and_owner(p, vms[i]);
	}

	kvfree(vms);
	return 0;
}

static void print_device(struct vttm_device *vdev, struct drm_printer *p)
{
	unsigned int i;

	drm_printf(p, "clock %llu\n", vttm_clock_now(vdev));

	scoped_guard(spinlock, &vdev->budget.lock)
		drm_printf(p, "budget accum_us %lld last_us %lld pinned %lld\n",
			   vdev->budget.accum_us, vdev->budget.last_us,
			   (s64)atomic64_read(&vdev->vram_pinned));

	drm_printf(p, "mgr vram size %llu usage %llu\n", vdev->vram_mgr.base.size,
		   ttm_resource_manager_usage(&vdev->vram_mgr.base));
	drm_printf(p, "mgr gtt size %llu usage %llu\n", vdev->gtt_mgr.base.size,
		   ttm_resource_manager_usage(&vdev->gtt_mgr.base));

	drm_puts(p, "free");
	vttm_vram_mgr_print_free(&vdev->vram_mgr, p);
	drm_puts(p, "\n");

	for (i = 0; i < VTTM_NUM_ENGINES; i++) {
		struct vttm_engine *engine = &vdev->engines[i];

		guard(spinlock_irqsave)(&vdev->engine_lock);
		/* The text is that of the model, which has no use for this one. */
		if (i == VTTM_ENGINE_COMPUTE && !vttm_engine_end_ns(engine) &&
		    !atomic_read(&engine->num_queued))
			continue;
		drm_printf(p, "engine %s end %llu running %u queued %d\n", engine->name,
			   vttm_engine_end_ns(engine), engine->num_running,
			   atomic_read(&engine->num_queued));
	}

	drm_printf(p, "moves %u\n", vttm_vram_mgr_num_moves(&vdev->vram_mgr));
}

static int vttm_debugfs_state(struct seq_file *m, void *data)
{
	struct drm_debugfs_entry *entry = m->private;
	struct vttm_device *vdev = to_vttm_device(entry->dev);
	struct drm_printer p = drm_seq_file_printer(m);
	int ret;

	guard(rwsem_read)(&vdev->reset_lock);

	print_device(vdev, &p);
	ret = print_vms(vdev, &p);
	if (ret)
		return ret;

	return print_memory(vdev, &p);
}

/* As suspend does it; a value other than 1 is none. */
static int evict_all_set(void *data, u64 value)
{
	struct vttm_device *vdev = data;
	int idx, ret;

	if (value != 1)
		return -EINVAL;

	if (!drm_dev_enter(&vdev->drm, &idx))
		return -ENODEV;

	scoped_guard(rwsem_read, &vdev->reset_lock)
		ret = vttm_evict_all(vdev);
	vttm_clock_end_op(vdev);
	drm_dev_exit(idx);

	return ret;
}

DEFINE_DEBUGFS_ATTRIBUTE(evict_all_fops, NULL, evict_all_set, "%llu\n");

/**
 * vttm_debugfs_init() - Add our files to debugfs
 * @vdev: the device, not registered yet
 */
void vttm_debugfs_init(struct vttm_device *vdev)
{
	drm_debugfs_add_file(&vdev->drm, "vttm_state", vttm_debugfs_state, NULL);
	debugfs_create_file("vttm_evict_all", 0200, vdev->drm.debugfs_root, vdev,
			    &evict_all_fops);
}
