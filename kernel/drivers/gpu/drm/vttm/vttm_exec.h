/* SPDX-License-Identifier: GPL-2.0 OR MIT */
#ifndef _VTTM_EXEC_H_
#define _VTTM_EXEC_H_

#include <linux/types.h>

#include <drm/drm_exec.h>

#include "vttm_retry.h"

struct drm_device;
struct drm_file;
struct drm_gem_object;
struct drm_vttm_op;
struct drm_vttm_submit;
struct drm_vttm_submit_touch;
struct vttm_device;
struct vttm_job;
struct vttm_sync;
struct vttm_vm;

/**
 * struct vttm_exec - A submission under way
 *
 * The phases are those of amdgpu_cs_ioctl(): look up, lock, validate, collect
 * dependencies, push.
 */
struct vttm_exec {
	/** @vdev: The device. */
	struct vttm_device *vdev;
	/** @file: The file that submits. */
	struct drm_file *file;
	/** @vm: VM of the file. */
	struct vttm_vm *vm;
	/** @args: Arguments. */
	const struct drm_vttm_submit *args;
	/** @exec: Locks. */
	struct drm_exec exec;
	/** @retry: Attempts to lock, and to validate if TTM can retry. */
	struct vttm_retry retry;
	/** @queue: Index of the engine: enum drm_vttm_engine. */
	unsigned int queue;
	/** @job: The job. */
	struct vttm_job *job;
	/** @objs: Listed objects in list order, with a reference. */
	struct drm_gem_object **objs;
	/** @num_objs: Length of @objs. */
	u32 num_objs;
	/** @touches: Touched memory, as user space passed it. */
	struct drm_vttm_submit_touch *touches;
	/** @touched: Touched objects, with a reference. */
	struct drm_gem_object **touched;
	/** @num_touched: Length of @touched. */
	u32 num_touched;
	/** @sorted: Listed objects by address, while arguments are looked up. */
	struct drm_gem_object **sorted;
	/** @ops: Operations, as user space passed them. */
	struct drm_vttm_op *ops;
	/** @num_ops: Length of @ops. */
	u32 num_ops;
	/** @op_objs: Objects of operations, twice @num_ops, with a reference. */
	struct drm_gem_object **op_objs;
	/** @syncs: Synchronisation objects. */
	struct vttm_sync *syncs;
	/** @num_syncs: Length of @syncs. */
	u32 num_syncs;
	/** @threshold: BOs go to preferred domains while less was moved. */
	u64 threshold;
	/** @has_threshold: @threshold is set; it stays the same for all attempts. */
	bool has_threshold;
	/** @bytes_moved: Bytes moved, in all attempts. */
	u64 bytes_moved;
	/** @recovered_bytes: Bytes moved for displaced BOs, in all attempts. */
	u64 recovered_bytes;
	/** @recovery_failures: Displaced BOs tried in vain, in all attempts. */
	unsigned int recovery_failures;
};

void *vttm_exec_copy_array(u64 user_ptr, u32 count, u32 max, u32 stride, size_t size);
struct drm_gem_object *vttm_exec_lookup_locked(struct vttm_exec *e, u32 handle);
int vttm_exec_lookup(struct vttm_exec *e);
void vttm_exec_put_objs(struct vttm_exec *e);

int vttm_submit_ioctl(struct drm_device *drm, void *data, struct drm_file *file);

#endif
