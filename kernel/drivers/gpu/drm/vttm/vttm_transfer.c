// SPDX-License-Identifier: GPL-2.0 OR MIT

#include <linux/highmem.h>
#include <linux/slab.h>

#include <drm/ttm/ttm_bo.h>
#include <drm/ttm/ttm_tt.h>

#include "vttm_drv.h"
#include "vttm_gem.h"
#include "vttm_transfer.h"

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

/**
 * vttm_transfer_create() - Describe contents to move or to clear
 * @vdev: the device
 * @bo: the BO, with its reservation lock held
 * @from: where it is, or NULL to clear it
 * @to: where it goes
 * @out: returns the transfer, also on error, or NULL if there are no contents
 *
 * Allocates the memory that is written.
 *
 * Return: 0, or -ENOMEM.
 */
int vttm_transfer_create(struct vttm_device *vdev, struct vttm_bo *bo,
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
