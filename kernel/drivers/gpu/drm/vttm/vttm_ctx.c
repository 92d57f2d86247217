// SPDX-License-Identifier: GPL-2.0 OR MIT

/**
 * DOC: Hung jobs
 *
 * A job that would take longer than the device's timeout, with the link to
 * itself, hangs: it ends when it has run for as long as the timeout, with
 * -ETIMEDOUT, and doesn't use the link. That is the driver's reset: the engine
 * goes on with the jobs of others as if nothing had happened, but the VM that
 * the job came from is banned. Its other jobs end at once with -ECANCELED, on
 * whatever engine and whether they wait for their turn or for a dependency that
 * is met, and so do submissions. The way out is to open the device again.
 *
 * Which jobs hang, and when that ends, depends on the model only. Under the
 * real clock recovery is left to the scheduler's timeout handler, which the
 * engine calls for at the right moment, as a driver does when hardware reports
 * a fault; the scheduler's own timer stands in should that be lost. Under the
 * virtual clock it is an event like the end of any job.
 *
 * Copies and fills are the kernel's: one that takes longer than the timeout
 * ends by then without an error, as its contents moved when it started.
 */

#include <linux/dev_printk.h>
#include <linux/dma-fence.h>
#include <linux/slab.h>

#include "vttm_ctx.h"
#include "vttm_drv.h"
#include "vttm_fence.h"
#include "vttm_vm.h"

/**
 * vttm_ctx_create() - Create the context of a VM
 *
 * Return: the context, or NULL.
 */
struct vttm_ctx *vttm_ctx_create(void)
{
	struct vttm_ctx *ctx = kzalloc_obj(*ctx);

	if (ctx)
		kref_init(&ctx->ref);

	return ctx;
}

/**
 * vttm_ctx_get() - Get a reference
 * @ctx: the context, or NULL
 *
 * Return: @ctx.
 */
struct vttm_ctx *vttm_ctx_get(struct vttm_ctx *ctx)
{
	if (ctx)
		kref_get(&ctx->ref);

	return ctx;
}

static void vttm_ctx_free(struct kref *ref)
{
	kfree(container_of(ref, struct vttm_ctx, ref));
}

/**
 * vttm_ctx_put() - Drop a reference
 * @ctx: the context, or NULL
 *
 * Can be called from a timer.
 */
void vttm_ctx_put(struct vttm_ctx *ctx)
{
	if (ctx)
		kref_put(&ctx->ref, vttm_ctx_free);
}

/**
 * vttm_ctx_ban() - Let no job of a VM start any more
 * @ctx: context of the VM
 * @seqno: number of the submission that hung, or 0
 *
 * A job that is about to be given to an engine looks after that.
 */
void vttm_ctx_ban(struct vttm_ctx *ctx, u64 seqno)
{
	if (seqno)
		atomic64_cmpxchg(&ctx->hung_seqno, 0, seqno);
	atomic_set_release(&ctx->banned, 1);
}

/**
 * vttm_ctx_kill() - End all jobs of a VM, and let none start
 * @vdev: the device
 * @ctx: context of the VM
 *
 * They end with -ECANCELED; those that wait for a dependency, when it is met.
 */
void vttm_ctx_kill(struct vttm_device *vdev, struct vttm_ctx *ctx)
{
	unsigned int i;

	vttm_ctx_ban(ctx, 0);
	for (i = 0; i < VTTM_NUM_USER_ENGINES; i++)
		vttm_engine_cancel(vttm_engine_of_user(vdev, i), ctx, -ECANCELED);
}

/**
 * vttm_ctx_hang() - End a job that hangs, and ban the VM that it comes from
 * @vdev: the device
 * @fence: fence of the job, a VM's, which its engine has let go of
 */
void vttm_ctx_hang(struct vttm_device *vdev, struct vttm_fence *fence)
{
	struct vttm_ctx *ctx = fence->ctx;

	dev_info_ratelimited(vdev->drm.dev, "submission %llu of a VM hangs on engine %s\n",
			     fence->tag, fence->engine->name);
	atomic64_inc(&vdev->hangs);

	/* Whoever sees how the job ended can rely on the ban. */
	vttm_ctx_ban(ctx, fence->tag);
	vttm_ctx_get(ctx);
	vttm_fence_end(fence, -ETIMEDOUT);
	vttm_ctx_kill(vdev, ctx);
	vttm_ctx_put(ctx);
}

/**
 * vttm_vm_get_state_ioctl() - Query what became of this file's VM
 * @drm: DRM device
 * @data: struct drm_vttm_vm_get_state
 * @file: DRM file
 *
 * Return: 0, or -EINVAL.
 */
int vttm_vm_get_state_ioctl(struct drm_device *drm, void *data, struct drm_file *file)
{
	struct vttm_device *vdev = to_vttm_device(drm);
	struct drm_vttm_vm_get_state *args = data;
	struct vttm_vm *vm = file->driver_priv;

	if (args->pad)
		return -EINVAL;

	/* A reset gives the VM another context. */
	guard(rwsem_read)(&vdev->reset_lock);

	*args = (struct drm_vttm_vm_get_state) {
		.flags = (vttm_ctx_is_banned(vm->ctx) ? DRM_VTTM_VM_STATE_BANNED : 0) |
			 (vm->lost ? DRM_VTTM_VM_STATE_LOST : 0),
		.hung_seqno = atomic64_read(&vm->ctx->hung_seqno),
		.device_hangs = atomic64_read(&vdev->hangs),
	};

	return 0;
}
