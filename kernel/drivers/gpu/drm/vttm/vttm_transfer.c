// SPDX-License-Identifier: GPL-2.0 OR MIT

#include <linux/highmem.h>
#include <linux/slab.h>

#include <drm/ttm/ttm_bo.h>

#include "vttm_drv.h"
#include "vttm_gem.h"
#include "vttm_side.h"
#include "vttm_transfer.h"

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

static struct page *next_page(struct vttm_device *vdev, struct vttm_cursor *cursor)
{
	struct page *page = vttm_cursor_page(vdev, cursor);

	vttm_cursor_advance(cursor, PAGE_SIZE);
	return page;
}

/**
 * vttm_transfer_run() - Move or clear contents
 * @vdev: the device
 * @transfer: what to move, or NULL for nothing
 *
 * Doesn't allocate memory, as fences depend on it.
 */
void vttm_transfer_run(struct vttm_device *vdev, struct vttm_transfer *transfer)
{
	struct vttm_cursor from, to;
	struct page *src, *dst;
	u64 i;

	if (!transfer)
		return;

	vttm_cursor_init(&from, &transfer->from, 0);
	vttm_cursor_init(&to, &transfer->to, 0);

	for (i = 0; i < transfer->num_pages; i++) {
		src = transfer->fill ? NULL : next_page(vdev, &from);
		dst = next_page(vdev, &to);

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

	vttm_side_fini(&transfer->from);
	vttm_side_fini(&transfer->to);
	kfree(transfer);
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

	ret = vttm_side_init(vdev, &transfer->to, &bo->tbo, to);
	if (ret || !from)
		return ret;

	ret = vttm_side_init(vdev, &transfer->from, &bo->tbo, from);
	if (ret)
		return ret;

	return vttm_side_populate(vdev, &transfer->to, 0, bo->tbo.base.size);
}
