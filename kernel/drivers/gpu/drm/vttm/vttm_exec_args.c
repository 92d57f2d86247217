// SPDX-License-Identifier: GPL-2.0 OR MIT

#include <linux/bsearch.h>
#include <linux/slab.h>
#include <linux/sort.h>
#include <linux/uaccess.h>

#include <drm/drm_gem.h>

#include "vttm_drv.h"
#include "vttm_exec.h"
#include "vttm_gem.h"
#include "vttm_op.h"
#include "vttm_sync.h"
#include "vttm_vm.h"

/**
 * vttm_exec_copy_array() - Copy an array whose elements may be larger than we know
 * @user_ptr: user space address
 * @count: number of elements
 * @max: how many are allowed
 * @stride: size of an element in user space, bytes
 * @size: size of an element that we know, bytes
 *
 * Return: the array or NULL if it is empty, to be freed with kvfree(), -EINVAL
 * for too many or a stride that can't be, -E2BIG if what we don't know isn't
 * zero, -EFAULT or -ENOMEM.
 */
void *vttm_exec_copy_array(u64 user_ptr, u32 count, u32 max, u32 stride, size_t size)
{
	const u8 __user *from = u64_to_user_ptr(user_ptr);
	u8 *to;
	int ret;
	u32 i;

	if (!count)
		return NULL;
	if (count > max || stride < size || stride % 8)
		return ERR_PTR(-EINVAL);
	if (stride > PAGE_SIZE)
		return ERR_PTR(-E2BIG);
	if (stride == size)
		return vmemdup_array_user(from, count, size);

	to = kvmalloc_array(count, size, GFP_KERNEL);
	if (!to)
		return ERR_PTR(-ENOMEM);

	for (i = 0; i < count; i++) {
		ret = copy_struct_from_user(to + i * size, size,
					    from + (size_t)i * stride, stride);
		if (ret) {
			kvfree(to);
			return ERR_PTR(ret);
		}
		cond_resched();
	}

	return to;
}

static int lookup_bos(struct vttm_exec *e)
{
	const struct drm_vttm_submit *args = e->args;
	struct drm_vttm_submit_bo *bos;
	int ret = 0;
	u32 i;

	bos = vttm_exec_copy_array(args->bos, args->bo_count, DRM_VTTM_SUBMIT_MAX,
				   args->bo_stride, sizeof(*bos));
	if (IS_ERR_OR_NULL(bos))
		return PTR_ERR_OR_ZERO(bos);

	e->objs = kvmalloc_objs(*e->objs, args->bo_count);
	if (!e->objs)
		ret = -ENOMEM;

	for (i = 0; !ret && i < args->bo_count; i++) {
		struct drm_gem_object *obj;

		if (bos[i].flags) {
			ret = -EINVAL;
			break;
		}

		obj = drm_gem_object_lookup(e->file, bos[i].handle);
		if (!obj) {
			ret = -ENOENT;
			break;
		}

		e->objs[e->num_objs++] = obj;
		if (gem_to_vttm_bo(obj)->root)
			ret = -EINVAL;
		cond_resched();
	}

	kvfree(bos);
	return ret;
}

static int compare_ptrs(const void *a, const void *b)
{
	const void *pa = *(const void **)a, *pb = *(const void **)b;

	return pa < pb ? -1 : pa > pb;
}

static int sort_objs(struct vttm_exec *e)
{
	e->sorted = kvmalloc_objs(*e->sorted, max(e->num_objs, 1));
	if (!e->sorted)
		return -ENOMEM;

	if (e->num_objs)
		memcpy(e->sorted, e->objs, e->num_objs * sizeof(*e->sorted));
	sort(e->sorted, e->num_objs, sizeof(*e->sorted), compare_ptrs, NULL);
	return 0;
}

/**
 * vttm_exec_lookup_locked() - Look up a BO that the submission locks
 * @e: the submission, whose list of BOs was looked up
 * @handle: GEM handle
 *
 * Return: the object with a reference, -ENOENT, or -EINVAL if it is neither
 * private to the VM nor listed.
 */
struct drm_gem_object *vttm_exec_lookup_locked(struct vttm_exec *e, u32 handle)
{
	struct drm_gem_object *obj;
	struct vttm_bo *bo;

	obj = drm_gem_object_lookup(e->file, handle);
	if (!obj)
		return ERR_PTR(-ENOENT);

	bo = gem_to_vttm_bo(obj);
	if (bo->root ? bo->root != e->vm->root :
		       !bsearch(&obj, e->sorted, e->num_objs, sizeof(*e->sorted),
				compare_ptrs)) {
		drm_gem_object_put(obj);
		return ERR_PTR(-EINVAL);
	}

	return obj;
}

static int lookup_touches(struct vttm_exec *e)
{
	const struct drm_vttm_submit *args = e->args;
	struct drm_gem_object *obj;
	void *touches;
	u32 i;

	touches = vttm_exec_copy_array(args->touches, args->touch_count,
				       DRM_VTTM_SUBMIT_MAX, args->touch_stride,
				       sizeof(*e->touches));
	if (IS_ERR_OR_NULL(touches))
		return PTR_ERR_OR_ZERO(touches);
	e->touches = touches;

	e->touched = kvmalloc_objs(*e->touched, args->touch_count);
	if (!e->touched)
		return -ENOMEM;

	for (i = 0; i < args->touch_count; i++) {
		if (e->touches[i].pad)
			return -EINVAL;

		obj = vttm_exec_lookup_locked(e, e->touches[i].handle);
		if (IS_ERR(obj))
			return PTR_ERR(obj);
		e->touched[e->num_touched++] = obj;
		cond_resched();
	}

	return 0;
}

/**
 * vttm_exec_lookup() - Look up what the arguments name
 * @e: the submission
 *
 * Also on error vttm_exec_put_objs() frees it.
 *
 * Return: 0, -EINVAL, -E2BIG, -EFAULT, -ENOENT or -ENOMEM.
 */
int vttm_exec_lookup(struct vttm_exec *e)
{
	int ret;

	ret = lookup_bos(e);
	if (ret)
		return ret;

	if (e->args->touch_count || e->args->op_count) {
		ret = sort_objs(e);
		if (ret)
			return ret;
	}

	ret = lookup_touches(e);
	if (ret)
		return ret;

	ret = vttm_ops_lookup(e);
	if (ret)
		return ret;

	return vttm_syncs_lookup(e);
}

static void put_objs(struct drm_gem_object **objs, u32 num)
{
	u32 i;

	for (i = 0; i < num; i++)
		drm_gem_object_put(objs[i]);
	kvfree(objs);
}

/**
 * vttm_exec_put_objs() - Free what was looked up
 * @e: the submission
 */
void vttm_exec_put_objs(struct vttm_exec *e)
{
	vttm_syncs_put(e);
	vttm_ops_put(e);
	put_objs(e->touched, e->num_touched);
	put_objs(e->objs, e->num_objs);
	kvfree(e->touches);
	kvfree(e->sorted);
}
