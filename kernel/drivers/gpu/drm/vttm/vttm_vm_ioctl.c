// SPDX-License-Identifier: GPL-2.0 OR MIT

#include <linux/dma-fence.h>
#include <linux/jiffies.h>

#include "vttm_drv.h"
#include "vttm_gem.h"
#include "vttm_vm.h"

static struct dma_fence *get_fence(struct vttm_vm *vm, u64 seqno)
{
	struct dma_fence *fence;

	xa_lock(&vm->fences);
	fence = dma_fence_get(xa_load(&vm->fences, seqno));
	xa_unlock(&vm->fences);

	return fence;
}

static int wait_fence(struct dma_fence *fence, s64 *timeout_ns)
{
	unsigned long timeout = MAX_SCHEDULE_TIMEOUT;
	ktime_t start = ktime_get();
	long ret;

	if (*timeout_ns >= 0)
		timeout = min_t(u64, nsecs_to_jiffies64((u64)*timeout_ns + TICK_NSEC - 1),
				MAX_SCHEDULE_TIMEOUT);
	if (!*timeout_ns)
		return dma_fence_is_signaled(fence) ? 0 : -ETIME;

	ret = dma_fence_wait_timeout(fence, true, timeout);

	/* For those who call again with the same arguments. */
	if (ret == -ERESTARTSYS && *timeout_ns > 0)
		*timeout_ns = max(*timeout_ns - ktime_to_ns(ktime_sub(ktime_get(), start)), 1);

	if (ret < 0)
		return ret;
	return ret ? 0 : -ETIME;
}

/**
 * vttm_wait_ioctl() - Wait for a submission
 * @drm: DRM device
 * @data: struct drm_vttm_wait
 * @file: DRM file
 *
 * Return: 0, -EINVAL if it was not submitted yet, -ETIME, -ERESTARTSYS, or the
 * error that the job ended with.
 */
int vttm_wait_ioctl(struct drm_device *drm, void *data, struct drm_file *file)
{
	struct vttm_device *vdev = to_vttm_device(drm);
	struct drm_vttm_wait *args = data;
	struct vttm_vm *vm = file->driver_priv;
	struct dma_fence *fence;
	int ret;

	if (!args->seqno || args->seqno > READ_ONCE(vm->seqno))
		return -EINVAL;

	fence = get_fence(vm, args->seqno);
	if (!fence)
		return 0;

	ret = wait_fence(fence, &args->timeout_ns);
	if (!ret && fence->error)
		ret = fence->error;
	dma_fence_put(fence);

	vttm_clock_end_op(vdev);
	return ret;
}

/**
 * vttm_vm_set_label_ioctl() - Name this file's VM
 * @drm: DRM device
 * @data: struct drm_vttm_vm_set_label
 * @file: DRM file
 *
 * Return: 0, or -EINVAL.
 */
int vttm_vm_set_label_ioctl(struct drm_device *drm, void *data,
			    struct drm_file *file)
{
	struct drm_vttm_vm_set_label *args = data;
	struct vttm_vm *vm = file->driver_priv;

	if (args->pad || args->label == VTTM_LABEL_NONE)
		return -EINVAL;

	WRITE_ONCE(vm->root->label, args->label);
	vttm_owner_set_label(vm, args->label);
	return 0;
}
