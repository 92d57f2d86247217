/* SPDX-License-Identifier: GPL-2.0 OR MIT */
#ifndef _VTTM_OP_H_
#define _VTTM_OP_H_

struct vttm_device;
struct vttm_exec;
struct vttm_op_list;

int vttm_ops_lookup(struct vttm_exec *e);
int vttm_ops_prepare(struct vttm_exec *e);
void vttm_ops_put(struct vttm_exec *e);

void vttm_op_list_run(struct vttm_device *vdev, struct vttm_op_list *list);
void vttm_op_list_free(struct vttm_op_list *list);

#endif
