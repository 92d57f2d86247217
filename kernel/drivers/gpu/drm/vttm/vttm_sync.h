/* SPDX-License-Identifier: GPL-2.0 OR MIT */
#ifndef _VTTM_SYNC_H_
#define _VTTM_SYNC_H_

struct dma_fence;
struct vttm_exec;

int vttm_syncs_lookup(struct vttm_exec *e);
int vttm_syncs_add_dependencies(struct vttm_exec *e);
void vttm_syncs_signal(struct vttm_exec *e, struct dma_fence *fence);
void vttm_syncs_put(struct vttm_exec *e);

#endif
