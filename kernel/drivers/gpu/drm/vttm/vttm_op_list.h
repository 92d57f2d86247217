/* SPDX-License-Identifier: GPL-2.0 OR MIT */
#ifndef _VTTM_OP_LIST_H_
#define _VTTM_OP_LIST_H_

#include <linux/types.h>

struct drm_gem_object;
struct drm_vttm_op;
struct vttm_device;
struct vttm_op_list;

/* Of offsets and sizes, bytes. */
#define VTTM_OP_ALIGN	4

struct vttm_op_list *vttm_op_list_alloc(u32 max_ops);
int vttm_op_list_add(struct vttm_device *vdev, struct vttm_op_list *list,
		     const struct drm_vttm_op *args, struct drm_gem_object *dst,
		     struct drm_gem_object *src);

#endif
