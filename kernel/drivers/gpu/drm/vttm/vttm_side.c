// SPDX-License-Identifier: GPL-2.0 OR MIT

#include <linux/dma-direct.h>
#include <linux/minmax.h>
#include <linux/mm.h>
#include <linux/slab.h>

#include <drm/ttm/ttm_bo.h>
#include <drm/ttm/ttm_tt.h>

#include "vttm_drv.h"
#include "vttm_side.h"

/** struct vttm_range - Range of video memory, bytes. */
struct vttm_range {
	/** @offset: Where it starts. */
	u64 offset;
	/** @size: How large it is. */
	u64 size;
};

/**
 * vttm_side_init() - Note where contents are
 * @vdev: the device
 * @side: the side to fill in, zeroed; vttm_side_fini() frees it, also on error
 * @tbo: the BO, with its reservation lock held
 * @res: its present or future place
 *
 * Return: 0, or -ENOMEM.
 */
int vttm_side_init(struct vttm_device *vdev, struct vttm_side *side,
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
	if (!side->ranges) {
		side->num_ranges = 0;
		return -ENOMEM;
	}

	list_for_each_entry(block, &vres->blocks, link) {
		side->ranges[i].offset = gpu_buddy_block_offset(block);
		side->ranges[i].size = gpu_buddy_block_size(&vdev->vram_mgr.mm, block);
		i++;
	}

	return 0;
}

/**
 * vttm_side_fini() - Free what a side owns
 * @side: the side
 */
void vttm_side_fini(struct vttm_side *side)
{
	kvfree(side->ranges);
}

/**
 * vttm_side_populate() - Allocate the memory behind a part of a side
 * @vdev: the device
 * @side: the side
 * @start: where the part starts, bytes
 * @size: how large it is, bytes
 *
 * Video memory that was never written has no pages yet, and jobs can't
 * allocate them.
 *
 * Return: 0, or a negative error code.
 */
int vttm_side_populate(struct vttm_device *vdev, const struct vttm_side *side,
		       u64 start, u64 size)
{
	unsigned int i;
	int ret;

	/* Whole pages. */
	size += offset_in_page(start);
	start -= offset_in_page(start);

	for (i = 0; size && i < side->num_ranges; i++) {
		const struct vttm_range *range = &side->ranges[i];
		u64 n;

		if (start >= range->size) {
			start -= range->size;
			continue;
		}

		n = min(range->size - start, size);
		ret = vttm_vram_store_populate(&vdev->vram_store,
					       range->offset + start, n);
		if (ret)
			return ret;
		start = 0;
		size -= n;
	}

	return 0;
}

static void skip_whole_ranges(struct vttm_cursor *cursor)
{
	const struct vttm_side *side = cursor->side;

	while (cursor->index < side->num_ranges &&
	       cursor->offset >= side->ranges[cursor->index].size)
		cursor->offset -= side->ranges[cursor->index++].size;
}

/**
 * vttm_cursor_init() - Point at a byte of a side
 * @cursor: the cursor
 * @side: the side
 * @offset: byte
 */
void vttm_cursor_init(struct vttm_cursor *cursor, const struct vttm_side *side,
		      u64 offset)
{
	*cursor = (struct vttm_cursor) { .side = side, .offset = offset };
	skip_whole_ranges(cursor);
}

/**
 * vttm_cursor_advance() - Go on
 * @cursor: the cursor
 * @bytes: how far
 */
void vttm_cursor_advance(struct vttm_cursor *cursor, u64 bytes)
{
	cursor->offset += bytes;
	skip_whole_ranges(cursor);
}

/* Page of system memory; that of an import is known by its DMA address. */
static struct page *tt_page(struct vttm_device *vdev, struct ttm_tt *tt, u64 index)
{
	if (tt->page_flags & TTM_TT_FLAG_EXTERNAL)
		return pfn_to_page(PHYS_PFN(dma_to_phys(vdev->drm.dev,
							tt->dma_address[index])));

	return tt->pages[index];
}

/**
 * vttm_cursor_page() - Page that a cursor points into
 * @vdev: the device
 * @cursor: the cursor, not at the end
 *
 * Return: the page, or NULL for video memory that was never written and reads
 * as zeros.
 */
struct page *vttm_cursor_page(struct vttm_device *vdev,
			      const struct vttm_cursor *cursor)
{
	const struct vttm_side *side = cursor->side;

	if (side->tt)
		return tt_page(vdev, side->tt, cursor->offset >> PAGE_SHIFT);

	return vttm_vram_store_find_page(&vdev->vram_store,
					 side->ranges[cursor->index].offset +
					 (cursor->offset & PAGE_MASK));
}
