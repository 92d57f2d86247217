// SPDX-License-Identifier: GPL-2.0 OR MIT

#include <linux/dma-resv.h>
#include <linux/highmem.h>
#include <linux/slab.h>

#include <drm/ttm/ttm_bo.h>
#include <drm/ttm/ttm_tt.h>

#include "vttm_drv.h"
#include "vttm_gem.h"
#include "vttm_job.h"

/** struct vttm_range - Range of video memory, bytes. */
struct vttm_range {
	/** @offset: Where it starts. */
	u64 offset;
	/** @size: How large it is. */
	u64 size;
};

/**
 * struct vttm_side - Where one side of a transfer is
 *
 * Copies the block list of a resource: that is gone when a pipelined eviction
 * runs. The memory isn't used for anything else before the fence is signaled.
 */
struct vttm_side {
	/** @tt: Pages in system memory, or NULL for video memory. */
	struct ttm_tt *tt;
	/** @ranges: Ranges of video memory. Owned. */
	struct vttm_range *ranges;
	/** @num_ranges: Length of @ranges. */
	unsigned int num_ranges;
};

/**
 * struct vttm_transfer - Contents to move or, without a source, to clear
 */
struct vttm_transfer {
	/** @from: The source. */
	struct vttm_side from;
	/** @to: The destination. */
	struct vttm_side to;
	/** @fill: There is no source. */
	bool fill;
	/** @num_pages: Pages to transfer. */
	u64 num_pages;
};

/** struct vttm_cursor - Walks over the pages of a side. */
struct vttm_cursor {
	/** @side: The side. */
	const struct vttm_side *side;
	/** @index: Next page of @side.tt, or current range. */
	u64 index;
	/** @offset: Next byte in the current range. */
	u64 offset;
};

static struct page *next_page(struct vttm_vram_store *store,
			      struct vttm_cursor *cursor)
{
	const struct vttm_side *side = cursor->side;
	struct page *page;

	if (side->tt)
		return side->tt->pages[cursor->index++];

	page = vttm_vram_store_find_page(store, side->ranges[cursor->index].offset +
						cursor->offset);
	cursor->offset += PAGE_SIZE;
	if (cursor->offset == side->ranges[cursor->index].size) {
		cursor->offset = 0;
		cursor->index++;
	}

	return page;
}

/**
 * vttm_transfer_run() - Move or clear contents
 * @store: contents of video memory
 * @transfer: what to move, or NULL for nothing
 *
 * Doesn't allocate memory, as fences depend on it.
 */
void vttm_transfer_run(struct vttm_vram_store *store,
		       struct vttm_transfer *transfer)
{
	struct vttm_cursor from, to;
	struct page *src, *dst;
	u64 i;

	if (!transfer)
		return;

	from = (struct vttm_cursor) { .side = &transfer->from };
	to = (struct vttm_cursor) { .side = &transfer->to };

	for (i = 0; i < transfer->num_pages; i++) {
		src = transfer->fill ? NULL : next_page(store, &from);
		dst = next_page(store, &to);

		/* A page that is not there reads as zeros. */
		if (!dst)
			WARN_ON_ONCE(src);
		else if (src)
			copy_highpage(dst, src);
		else
			clear_highpage(dst);

		cond_resched();
	}
}

/**
 * vttm_transfer_free() - Free a transfer
 * @transfer: the transfer, or NULL
 */
void vttm_transfer_free(struct vttm_transfer *transfer)
{
	if (!transfer)
		return;

	kvfree(transfer->from.ranges);
	kvfree(transfer->to.ranges);
	kfree(transfer);
}

static int init_side(struct vttm_device *vdev, struct vttm_side *side,
		     struct ttm_buffer_object *tbo, struct ttm_resource *res)
{
	struct vttm_vram_resource *vres;
	struct gpu_buddy_block *block;
	unsigned int i = 0;

	if (res->mem_type != TTM_PL_VRAM) {
		side->tt = tbo->ttm;
		return 0;
	}

	vres = to_vttm_vram_resource(res);
	side->num_ranges = list_count_nodes(&vres->blocks);
	side->ranges = kvmalloc_objs(*side->ranges, side->num_ranges);
	if (!side->ranges)
		return -ENOMEM;

	list_for_each_entry(block, &vres->blocks, link) {
		side->ranges[i].offset = gpu_buddy_block_offset(block);
		side->ranges[i].size = gpu_buddy_block_size(&vdev->vram_mgr.mm, block);
		i++;
	}

	return 0;
}

static int populate_side(struct vttm_device *vdev, const struct vttm_side *side)
{
	unsigned int i;
	int ret;

	for (i = 0; i < side->num_ranges; i++) {
		ret = vttm_vram_store_populate(&vdev->vram_store,
					       side->ranges[i].offset,
					       side->ranges[i].size);
		if (ret)
			return ret;
	}

	return 0;
}

static int create_transfer(struct vttm_device *vdev, struct vttm_bo *bo,
			   struct ttm_resource *from, struct ttm_resource *to,
			   struct vttm_transfer **out)
{
	struct vttm_transfer *transfer;
	int ret;

	if (vdev->config.no_contents)
		return 0;

	transfer = kzalloc_obj(*transfer);
	if (!transfer)
		return -ENOMEM;

	/* Freed with the job, also on error. */
	*out = transfer;
	transfer->fill = !from;
	transfer->num_pages = bo->tbo.base.size >> PAGE_SHIFT;

	ret = init_side(vdev, &transfer->to, &bo->tbo, to);
	if (ret || !from)
		return ret;

	ret = init_side(vdev, &transfer->from, &bo->tbo, from);
	if (ret)
		return ret;

	return populate_side(vdev, &transfer->to);
}

static struct dma_fence *submit(struct vttm_device *vdev, struct vttm_bo *bo,
				struct vttm_job *job)
{
	struct dma_fence *fence;
	int ret;

	ret = drm_sched_job_add_resv_dependencies(&job->base, bo->tbo.base.resv,
						  DMA_RESV_USAGE_BOOKKEEP);
	if (ret)
		return ERR_PTR(ret);

	guard(mutex)(&vdev->copy.lock);
	fence = vttm_job_arm(job);
	vttm_job_push(job);
	return fence;
}

static struct dma_fence *start_transfer(struct vttm_bo *bo, struct ttm_resource *from,
					struct ttm_resource *to, enum vttm_job_kind kind,
					u64 duration_ns, u64 link_bytes)
{
	struct vttm_device *vdev = to_vttm_device(bo->tbo.base.dev);
	struct dma_fence *fence;
	struct vttm_job *job;
	int ret;

	dma_resv_assert_held(bo->tbo.base.resv);

	job = vttm_job_create(&vdev->engines[VTTM_ENGINE_COPY], &vdev->copy.entity,
			      kind, NULL, 0);
	if (IS_ERR(job))
		return ERR_CAST(job);

	job->tag = bo->tag;
	job->vm_label = vttm_bo_vm_label(bo);
	job->link_bytes = link_bytes;
	job->duration_ns = min(vdev->config.copy_latency_ns + duration_ns,
			       VTTM_MAX_DURATION_NS);

	ret = create_transfer(vdev, bo, from, to, &job->transfer);
	if (ret) {
		vttm_job_destroy(job);
		return ERR_PTR(ret);
	}

	fence = submit(vdev, bo, job);
	if (IS_ERR(fence))
		vttm_job_destroy(job);

	return fence;
}

/**
 * vttm_copy_move() - Copy a BO to where it moves
 * @bo: the BO, with its reservation lock held
 * @to: where it moves; it is still where &ttm_buffer_object.resource says
 *
 * Return: a fence that signals when it is copied, or an ERR_PTR().
 */
struct dma_fence *vttm_copy_move(struct vttm_bo *bo, struct ttm_resource *to)
{
	const struct vttm_config *config = &to_vttm_device(bo->tbo.base.dev)->config;
	struct ttm_resource *from = bo->tbo.resource;
	u64 size = bo->tbo.base.size;

	if (from->mem_type == TTM_PL_VRAM && to->mem_type == TTM_PL_VRAM)
		return start_transfer(bo, from, to, VTTM_JOB_COPY,
				      vttm_transfer_time_ns(2 * size, config->vram_bandwidth),
				      0);

	return start_transfer(bo, from, to, VTTM_JOB_COPY,
			      vttm_transfer_time_ns(size, config->link_bandwidth),
			      size);
}

/**
 * vttm_copy_fill() - Clear a BO in video memory
 * @bo: the BO, with its reservation lock held
 *
 * Return: a fence that signals when it is cleared, or an ERR_PTR().
 */
struct dma_fence *vttm_copy_fill(struct vttm_bo *bo)
{
	const struct vttm_config *config = &to_vttm_device(bo->tbo.base.dev)->config;

	return start_transfer(bo, NULL, bo->tbo.resource, VTTM_JOB_FILL,
			      vttm_transfer_time_ns(bo->tbo.base.size,
						    config->vram_bandwidth),
			      0);
}

/**
 * vttm_copy_init() - Create the entity of copies and fills
 * @vdev: the device
 *
 * Return: 0, or a negative error code.
 */
int vttm_copy_init(struct vttm_device *vdev)
{
	struct drm_gpu_scheduler *sched = &vdev->engines[VTTM_ENGINE_COPY].sched;

	mutex_init(&vdev->copy.lock);
	return drm_sched_entity_init(&vdev->copy.entity, DRM_SCHED_PRIORITY_KERNEL,
				     &sched, 1, NULL);
}

/**
 * vttm_copy_fini() - Destroy the entity of copies and fills
 * @vdev: the device, whose engines are idle
 */
void vttm_copy_fini(struct vttm_device *vdev)
{
	drm_sched_entity_destroy(&vdev->copy.entity);
	mutex_destroy(&vdev->copy.lock);
}

/**
 * vttm_copy_probe_fifo() - Find out if schedulers are first in, first out
 * @vdev: the device, with a new entity
 *
 * The policy is a parameter of a module that doesn't tell.
 *
 * Return: true if they are.
 */
bool vttm_copy_probe_fifo(struct vttm_device *vdev)
{
	struct vttm_engine *engine = &vdev->engines[VTTM_ENGINE_COPY];
	struct drm_sched_entity *entity = &vdev->copy.entity;
	struct vttm_job *job;

	/* The fair policy has a single run queue. */
	if (engine->sched.num_rqs != engine->sched.num_user_rqs)
		return false;

	job = vttm_job_create(engine, entity, VTTM_JOB_PROBE, NULL, 0);
	if (IS_ERR(job))
		return false;

	dma_fence_put(vttm_job_arm(job));
	vttm_job_push(job);
	vttm_engines_flush(vdev);

	/* Round robin starts to count at zero, else this is the time. */
	return ktime_to_ns(entity->oldest_job_waiting);
}
