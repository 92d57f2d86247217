// SPDX-License-Identifier: GPL-2.0 OR MIT

#include <linux/crc32.h>
#include <linux/highmem.h>
#include <linux/slab.h>
#include <linux/string.h>

#include <drm/drm_gem.h>
#include <drm/ttm/ttm_bo.h>

#include "vttm_drv.h"
#include "vttm_gem.h"
#include "vttm_op.h"
#include "vttm_op_list.h"
#include "vttm_side.h"

/** struct vttm_op - An operation on memory that is known. */
struct vttm_op {
	/** @type: enum drm_vttm_op_type. */
	u32 type;
	/** @pattern: What to fill with. */
	u32 pattern;
	/** @dst: Where to write. */
	const struct vttm_side *dst;
	/** @src: Where to read, or NULL. */
	const struct vttm_side *src;
	/** @dst_offset: Byte of @dst. */
	u64 dst_offset;
	/** @src_offset: Byte of @src. */
	u64 src_offset;
	/** @size: Bytes. */
	u64 size;
};

/** struct vttm_op_side - A BO that operations access. */
struct vttm_op_side {
	/** @base: Where it is. */
	struct vttm_side base;
	/** @obj: The BO, to compare only. */
	struct drm_gem_object *obj;
};

/**
 * struct vttm_op_list - The operations of a job
 */
struct vttm_op_list {
	/** @sides: BOs that are accessed, each a few times at most in a row. */
	struct vttm_op_side *sides;
	/** @num_sides: Length of @sides. */
	u32 num_sides;
	/** @num_ops: Length of @ops. */
	u32 num_ops;
	/** @ops: The operations. */
	struct vttm_op ops[];
};

/**
 * vttm_op_list_alloc() - Allocate a list
 * @max_ops: how many operations it can hold
 *
 * Return: the list, or NULL.
 */
struct vttm_op_list *vttm_op_list_alloc(u32 max_ops)
{
	struct vttm_op_list *list;

	list = kvzalloc_flex(*list, ops, max_ops);
	if (!list)
		return NULL;

	list->sides = kvzalloc_objs(*list->sides, 2 * max_ops);
	if (!list->sides) {
		kvfree(list);
		return NULL;
	}

	return list;
}

/**
 * vttm_op_list_free() - Free a list
 * @list: the list, or NULL
 */
void vttm_op_list_free(struct vttm_op_list *list)
{
	u32 i;

	if (!list)
		return;

	for (i = 0; i < list->num_sides; i++)
		vttm_side_fini(&list->sides[i].base);
	kvfree(list->sides);
	kvfree(list);
}

static const struct vttm_side *get_side(struct vttm_device *vdev,
					struct vttm_op_list *list,
					struct drm_gem_object *obj)
{
	struct ttm_buffer_object *tbo = &gem_to_vttm_bo(obj)->tbo;
	struct vttm_op_side *side;
	u32 i;
	int ret;

	/* DRM_VTTM_OP_MAX keeps this short. */
	for (i = 0; i < list->num_sides; i++)
		if (list->sides[i].obj == obj)
			return &list->sides[i].base;

	side = &list->sides[list->num_sides++];
	side->obj = obj;
	ret = vttm_side_init(vdev, &side->base, tbo, tbo->resource);
	return ret ? ERR_PTR(ret) : &side->base;
}

/**
 * vttm_op_list_add() - Append an operation
 * @vdev: the device
 * @list: the list
 * @args: what user space asked for, checked
 * @dst: BO to write to, or NULL; in VRAM or GTT, its reservation lock held
 * @src: BO to read, or NULL; likewise
 *
 * Return: 0, or -ENOMEM.
 */
int vttm_op_list_add(struct vttm_device *vdev, struct vttm_op_list *list,
		     const struct drm_vttm_op *args, struct drm_gem_object *dst,
		     struct drm_gem_object *src)
{
	struct vttm_op *op = &list->ops[list->num_ops];

	op->type = args->type;
	op->pattern = args->value;
	op->dst_offset = args->dst_offset;
	op->src_offset = args->src_offset;
	op->size = args->size;

	if (src) {
		op->src = get_side(vdev, list, src);
		if (IS_ERR(op->src))
			return PTR_ERR(op->src);
	}

	if (dst) {
		u64 size = op->type == DRM_VTTM_OP_CHECKSUM ? sizeof(u32) : op->size;
		int ret;

		op->dst = get_side(vdev, list, dst);
		if (IS_ERR(op->dst))
			return PTR_ERR(op->dst);

		ret = vttm_side_populate(vdev, op->dst, op->dst_offset, size);
		if (ret)
			return ret;
	}

	list->num_ops++;
	return 0;
}

static u64 left_in_page(const struct vttm_cursor *cursor)
{
	return PAGE_SIZE - offset_in_page(cursor->offset);
}

/* Kernel address of where a cursor points, NULL for memory that reads as zeros. */
static void *map(struct vttm_device *vdev, const struct vttm_cursor *cursor)
{
	struct page *page = vttm_cursor_page(vdev, cursor);

	return page ? kmap_local_page(page) + offset_in_page(cursor->offset) : NULL;
}

static void unmap(void *p)
{
	if (p)
		kunmap_local(p);
}

static void run_fill(struct vttm_device *vdev, const struct vttm_op *op)
{
	struct vttm_cursor to;
	u64 n, left;

	vttm_cursor_init(&to, op->dst, op->dst_offset);
	for (left = op->size; left; left -= n) {
		void *p = map(vdev, &to);

		n = min(left, left_in_page(&to));
		if (!WARN_ON_ONCE(!p))
			memset32(p, op->pattern, n / sizeof(u32));
		unmap(p);
		vttm_cursor_advance(&to, n);
		cond_resched();
	}
}

static void run_copy(struct vttm_device *vdev, const struct vttm_op *op)
{
	struct vttm_cursor from, to;
	u64 n, left;

	vttm_cursor_init(&from, op->src, op->src_offset);
	vttm_cursor_init(&to, op->dst, op->dst_offset);
	for (left = op->size; left; left -= n) {
		void *src = map(vdev, &from), *dst = map(vdev, &to);

		n = min3(left, left_in_page(&from), left_in_page(&to));
		if (WARN_ON_ONCE(!dst))
			;
		else if (src)
			memcpy(dst, src, n);
		else
			memset(dst, 0, n);
		unmap(dst);
		unmap(src);
		vttm_cursor_advance(&from, n);
		vttm_cursor_advance(&to, n);
		cond_resched();
	}
}

static void run_checksum(struct vttm_device *vdev, const struct vttm_op *op)
{
	struct vttm_cursor from, to;
	u32 crc = ~0;
	u64 n, left;
	u32 *dst;

	vttm_cursor_init(&from, op->src, op->src_offset);
	for (left = op->size; left; left -= n) {
		void *src = map(vdev, &from);

		n = min(left, left_in_page(&from));
		crc = crc32_le(crc, src ?: page_address(ZERO_PAGE(0)), n);
		unmap(src);
		vttm_cursor_advance(&from, n);
		cond_resched();
	}

	vttm_cursor_init(&to, op->dst, op->dst_offset);
	dst = map(vdev, &to);
	if (!WARN_ON_ONCE(!dst))
		*dst = ~crc;
	unmap(dst);
}

/**
 * vttm_op_list_run() - Carry out operations
 * @vdev: the device
 * @list: the operations, or NULL
 *
 * Doesn't allocate memory, as fences depend on it.
 */
void vttm_op_list_run(struct vttm_device *vdev, struct vttm_op_list *list)
{
	u32 i;

	for (i = 0; list && i < list->num_ops; i++) {
		const struct vttm_op *op = &list->ops[i];

		switch (op->type) {
		case DRM_VTTM_OP_FILL:
			run_fill(vdev, op);
			break;
		case DRM_VTTM_OP_COPY:
			run_copy(vdev, op);
			break;
		case DRM_VTTM_OP_CHECKSUM:
			run_checksum(vdev, op);
			break;
		}
	}
}
