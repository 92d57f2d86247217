/* SPDX-License-Identifier: GPL-2.0 OR MIT */
#ifndef _VTTM_SIDE_H_
#define _VTTM_SIDE_H_

#include <linux/types.h>

struct page;
struct ttm_buffer_object;
struct ttm_resource;
struct ttm_tt;
struct vttm_device;
struct vttm_range;

/**
 * struct vttm_side - Where contents are that a job accesses
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
 * struct vttm_cursor - A place within a side
 */
struct vttm_cursor {
	/** @side: The side. */
	const struct vttm_side *side;
	/** @index: Current range. */
	unsigned int index;
	/** @offset: Byte of @side.tt, or within the current range. */
	u64 offset;
};

int vttm_side_init(struct vttm_device *vdev, struct vttm_side *side,
		   struct ttm_buffer_object *tbo, struct ttm_resource *res);
void vttm_side_fini(struct vttm_side *side);
int vttm_side_populate(struct vttm_device *vdev, const struct vttm_side *side,
		       u64 start, u64 size);

void vttm_cursor_init(struct vttm_cursor *cursor, const struct vttm_side *side,
		      u64 offset);
struct page *vttm_cursor_page(struct vttm_device *vdev,
			      const struct vttm_cursor *cursor);
void vttm_cursor_advance(struct vttm_cursor *cursor, u64 bytes);

#endif
