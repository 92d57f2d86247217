// SPDX-License-Identifier: GPL-2.0 OR MIT

/**
 * DOC: Operations of jobs
 *
 * A job carries them out when it is given to its engine, one after the other:
 * all that it depends on is over then, or was given to the same engine before.
 * Memory that isn't there is allocated when the job is submitted.
 *
 * The time that they take adds to the fixed part of the job, that over the link
 * as well: they neither share the link nor overlap with anything.
 */

#include <linux/nospec.h>
#include <linux/overflow.h>
#include <linux/slab.h>

#include <drm/drm_gem.h>
#include <drm/ttm/ttm_bo.h>

#include "vttm_drv.h"
#include "vttm_exec.h"
#include "vttm_gem.h"
#include "vttm_job.h"
#include "vttm_op.h"
#include "vttm_op_list.h"

/*
 * A range of the size that an operation has, within the BO. The offset says
 * which of its pages is looked up: that must not be speculated about.
 */
static bool in_bounds(struct drm_gem_object *obj, u64 *offset, u64 size)
{
	u64 end;

	if (!IS_ALIGNED(*offset | size, VTTM_OP_ALIGN) || !size ||
	    check_add_overflow(*offset, size, &end) || end > obj->size)
		return false;

	*offset = array_index_nospec(*offset, obj->size);
	return true;
}

static bool overlap(u64 a, u64 a_size, u64 b, u64 b_size)
{
	return a < b + b_size && b < a + a_size;
}

/* What can be known without looking at BOs: what is unused is zero. */
static bool valid_op(const struct drm_vttm_op *op)
{
	if (op->flags)
		return false;

	switch (op->type) {
	case DRM_VTTM_OP_FILL:
		return !op->src && !op->src_offset && op->value <= U32_MAX;
	case DRM_VTTM_OP_COPY:
	case DRM_VTTM_OP_CHECKSUM:
		return !op->value;
	case DRM_VTTM_OP_DELAY:
		return !op->dst && !op->src && !op->dst_offset && !op->src_offset &&
		       !op->size && op->value <= VTTM_MAX_DURATION_NS;
	default:
		return false;
	}
}

/* Look up the BOs of an operation; vttm_ops_put() drops them, also on error. */
static int lookup_op(struct vttm_exec *e, struct drm_vttm_op *op,
		     struct drm_gem_object **objs)
{
	u64 dst_size = op->type == DRM_VTTM_OP_CHECKSUM ? sizeof(u32) : op->size;
	struct drm_gem_object *obj;

	if (!valid_op(op))
		return -EINVAL;
	if (op->type == DRM_VTTM_OP_DELAY)
		return 0;

	obj = vttm_exec_lookup_locked(e, op->dst);
	if (IS_ERR(obj))
		return PTR_ERR(obj);
	objs[0] = obj;
	if (!in_bounds(obj, &op->dst_offset, dst_size))
		return -EINVAL;

	if (op->type == DRM_VTTM_OP_FILL)
		return 0;

	obj = vttm_exec_lookup_locked(e, op->src);
	if (IS_ERR(obj))
		return PTR_ERR(obj);
	objs[1] = obj;
	if (!in_bounds(obj, &op->src_offset, op->size))
		return -EINVAL;

	if (objs[0] == objs[1] &&
	    overlap(op->dst_offset, dst_size, op->src_offset, op->size))
		return -EINVAL;

	return 0;
}

/**
 * vttm_ops_lookup() - Look up the operations of a submission
 * @e: the submission, whose list of BOs was looked up
 *
 * Also on error vttm_ops_put() frees them.
 *
 * Return: 0, -EINVAL, -E2BIG, -EFAULT, -ENOENT or -ENOMEM.
 */
int vttm_ops_lookup(struct vttm_exec *e)
{
	const struct drm_vttm_submit *args = e->args;
	void *ops;
	int ret;
	u32 i;

	ops = vttm_exec_copy_array(args->ops, args->op_count, DRM_VTTM_OP_MAX,
				   args->op_stride, sizeof(*e->ops));
	if (IS_ERR_OR_NULL(ops))
		return PTR_ERR_OR_ZERO(ops);
	e->ops = ops;

	e->op_objs = kvzalloc_objs(*e->op_objs, 2 * args->op_count);
	if (!e->op_objs)
		return -ENOMEM;
	e->num_ops = args->op_count;

	for (i = 0; i < e->num_ops; i++) {
		ret = lookup_op(e, &e->ops[i], &e->op_objs[2 * i]);
		if (ret)
			return ret;
	}

	return 0;
}

/**
 * vttm_ops_put() - Free what was looked up
 * @e: the submission
 */
void vttm_ops_put(struct vttm_exec *e)
{
	u32 i;

	for (i = 0; i < 2 * e->num_ops; i++)
		drm_gem_object_put(e->op_objs[i]);
	kvfree(e->op_objs);
	kvfree(e->ops);
}

/* How long @bytes take where the BO is, and what of them crosses the link. */
static int account(struct vttm_exec *e, struct drm_gem_object *obj, u64 bytes,
		   u64 *duration_ns)
{
	const struct vttm_config *config = &e->vdev->config;
	struct ttm_resource *res;

	if (!obj)
		return 0;

	res = gem_to_vttm_bo(obj)->tbo.resource;
	if (!res)
		return -EINVAL;

	switch (res->mem_type) {
	case TTM_PL_VRAM:
		*duration_ns += vttm_transfer_time_ns(bytes, config->vram_bandwidth);
		return 0;
	case TTM_PL_TT:
		*duration_ns += vttm_transfer_time_ns(bytes, config->link_bandwidth);
		/* Bounded by DRM_VTTM_OP_MAX times the size of BOs. */
		e->job->link_bytes += bytes;
		return 0;
	default:
		/* Engines reach neither SYSTEM nor what is swapped out. */
		return -EINVAL;
	}
}

static int add_duration(struct vttm_exec *e, u32 i)
{
	const struct drm_vttm_op *op = &e->ops[i];
	u64 duration_ns = op->type == DRM_VTTM_OP_DELAY ? op->value : 0;
	u64 dst_bytes = op->type == DRM_VTTM_OP_CHECKSUM ? sizeof(u32) : op->size;
	int ret;

	ret = account(e, e->op_objs[2 * i], dst_bytes, &duration_ns);
	if (ret)
		return ret;

	ret = account(e, e->op_objs[2 * i + 1], op->size, &duration_ns);
	if (ret)
		return ret;

	/* Each is at most the maximum, and so is what they are added to. */
	e->job->load.fixed_ns += duration_ns;
	return e->job->load.fixed_ns + e->job->load.link_ns < VTTM_MAX_DURATION_NS ?
	       0 : -EINVAL;
}

/**
 * vttm_ops_prepare() - Add the operations to the job
 * @e: the submission, with BOs locked and validated
 *
 * Return: 0, -EINVAL, or -ENOMEM.
 */
int vttm_ops_prepare(struct vttm_exec *e)
{
	u32 i;
	int ret;

	if (!e->num_ops)
		return 0;

	e->job->ops = vttm_op_list_alloc(e->num_ops);
	if (!e->job->ops)
		return -ENOMEM;

	for (i = 0; i < e->num_ops; i++) {
		ret = add_duration(e, i);
		if (ret)
			return ret;

		/* Times only. */
		if (e->vdev->config.no_contents)
			continue;

		ret = vttm_op_list_add(e->vdev, e->job->ops, &e->ops[i],
				       e->op_objs[2 * i], e->op_objs[2 * i + 1]);
		if (ret)
			return ret;
	}

	return 0;
}
