// SPDX-License-Identifier: GPL-2.0 OR MIT

#include <linux/dma-fence-chain.h>
#include <linux/dma-fence-unwrap.h>
#include <linux/slab.h>

#include <drm/drm_syncobj.h>

#include "vttm_drv.h"
#include "vttm_exec.h"
#include "vttm_job.h"
#include "vttm_sync.h"

/**
 * struct vttm_sync - What a submission does with a synchronisation object
 */
struct vttm_sync {
	/** @wait: Fence to wait for, or NULL. Owned. */
	struct dma_fence *wait;
	/** @signal: Object to signal, or NULL. Owned. */
	struct drm_syncobj *signal;
	/** @chain: Link of a timeline to signal, or NULL. Owned. */
	struct dma_fence_chain *chain;
	/** @point: Point of the timeline. */
	u64 point;
};

static int lookup_sync(struct drm_file *file, const struct drm_vttm_sync *args,
		       struct vttm_sync *sync)
{
	bool timeline = args->flags & DRM_VTTM_SYNC_TIMELINE;
	struct dma_fence *wait;
	int ret;

	/* A binary one has no points, and a timeline starts after zero. */
	if ((args->flags & ~DRM_VTTM_SYNC_FLAGS_MASK) || timeline != !!args->point)
		return -EINVAL;

	if (!(args->flags & DRM_VTTM_SYNC_SIGNAL)) {
		/* On error it returns a fence that isn't ours. */
		ret = drm_syncobj_find_fence(file, args->handle, args->point, 0, &wait);
		if (!ret)
			sync->wait = wait;
		return ret;
	}

	sync->point = args->point;
	sync->signal = drm_syncobj_find(file, args->handle);
	if (!sync->signal)
		return -ENOENT;

	if (timeline) {
		sync->chain = dma_fence_chain_alloc();
		if (!sync->chain)
			return -ENOMEM;
	}

	return 0;
}

/**
 * vttm_syncs_lookup() - Look up synchronisation objects, and fences to wait for
 * @e: the submission
 *
 * Also on error vttm_syncs_put() frees what was looked up.
 *
 * Return: 0, -EINVAL, -E2BIG, -EFAULT, -ENOENT or -ENOMEM.
 */
int vttm_syncs_lookup(struct vttm_exec *e)
{
	const struct drm_vttm_submit *args = e->args;
	struct drm_vttm_sync *syncs;
	int ret = 0;
	u32 i;

	syncs = vttm_exec_copy_array(args->syncs, args->sync_count, DRM_VTTM_SYNC_MAX,
				     args->sync_stride, sizeof(*syncs));
	if (IS_ERR_OR_NULL(syncs))
		return PTR_ERR_OR_ZERO(syncs);

	e->syncs = kvzalloc_objs(*e->syncs, args->sync_count);
	if (!e->syncs)
		ret = -ENOMEM;

	for (i = 0; !ret && i < args->sync_count; i++) {
		e->num_syncs++;
		ret = lookup_sync(e->file, &syncs[i], &e->syncs[i]);
	}

	kvfree(syncs);
	return ret;
}

/*
 * The links of a timeline signal some time after what they contain. Wait for
 * that: the virtual clock doesn't go on by itself.
 */
static int add_dependency(struct vttm_exec *e, struct dma_fence *fence)
{
	struct dma_fence_unwrap iter;
	struct dma_fence *f;
	int ret = 0;

	/* Not left early, as the iterator holds a reference. */
	dma_fence_unwrap_for_each(f, &iter, fence)
		if (!ret)
			ret = drm_sched_job_add_dependency(&e->job->base,
							   dma_fence_get(f));

	return ret;
}

/**
 * vttm_syncs_add_dependencies() - Let the job wait
 * @e: the submission, with its job
 *
 * Return: 0, or -ENOMEM.
 */
int vttm_syncs_add_dependencies(struct vttm_exec *e)
{
	int ret;
	u32 i;

	for (i = 0; i < e->num_syncs; i++) {
		ret = e->syncs[i].wait ? add_dependency(e, e->syncs[i].wait) : 0;
		if (ret)
			return ret;
	}

	return 0;
}

/**
 * vttm_syncs_signal() - Let the end of the job signal
 * @e: the submission
 * @fence: fence of its armed job
 *
 * Can't fail.
 */
void vttm_syncs_signal(struct vttm_exec *e, struct dma_fence *fence)
{
	u32 i;

	for (i = 0; i < e->num_syncs; i++) {
		struct vttm_sync *sync = &e->syncs[i];

		if (!sync->signal)
			continue;

		if (sync->chain)
			drm_syncobj_add_point(sync->signal, sync->chain, fence,
					      sync->point);
		else
			drm_syncobj_replace_fence(sync->signal, fence);

		/* The object owns it now. */
		sync->chain = NULL;
	}
}

/**
 * vttm_syncs_put() - Free what was looked up
 * @e: the submission
 */
void vttm_syncs_put(struct vttm_exec *e)
{
	u32 i;

	for (i = 0; i < e->num_syncs; i++) {
		struct vttm_sync *sync = &e->syncs[i];

		dma_fence_put(sync->wait);
		dma_fence_chain_free(sync->chain);
		if (sync->signal)
			drm_syncobj_put(sync->signal);
	}
	kvfree(e->syncs);
}
