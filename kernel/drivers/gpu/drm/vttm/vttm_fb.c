// SPDX-License-Identifier: GPL-2.0 OR MIT

#include <linux/dma-resv.h>
#include <linux/sizes.h>

#include <drm/drm_dumb_buffers.h>
#include <drm/drm_framebuffer.h>
#include <drm/drm_gem.h>
#include <drm/drm_gem_framebuffer_helper.h>
#include <drm/drm_print.h>

#include "vttm_drv.h"
#include "vttm_fb.h"
#include "vttm_gem.h"
#include "vttm_mmap.h"
#include "vttm_pin.h"

/* What another device owns can't be in video memory. */
static int check_handle(struct drm_device *drm, struct drm_file *file, u32 handle)
{
	struct drm_gem_object *obj = drm_gem_object_lookup(file, handle);
	int ret = 0;

	if (!obj)
		return -ENOENT;

	if (drm_gem_is_imported(obj)) {
		drm_dbg_kms(drm, "imported buffers can't be shown\n");
		ret = -EINVAL;
	}
	drm_gem_object_put(obj);

	return ret;
}

/**
 * vttm_fb_create() - Create a framebuffer
 * @drm: DRM device
 * @file: file that the handles belong to
 * @info: pixel format
 * @cmd: what user space asks for
 *
 * Return: the framebuffer, or an ERR_PTR(): -ENOENT, -ENOMEM, or -EINVAL for
 * what no plane can show, or for an imported BO.
 */
struct drm_framebuffer *vttm_fb_create(struct drm_device *drm, struct drm_file *file,
				       const struct drm_format_info *info,
				       const struct drm_mode_fb_cmd2 *cmd)
{
	unsigned int i;
	int ret;

	for (i = 0; i < info->num_planes; i++) {
		ret = check_handle(drm, file, cmd->handles[i]);
		if (ret)
			return ERR_PTR(ret);
	}

	return drm_gem_fb_create(drm, file, info, cmd);
}

static void unpin_plane(struct vttm_bo *bo)
{
	dma_resv_lock(bo->tbo.base.resv, NULL);
	vttm_bo_unmap(bo);
	vttm_bo_unpin(bo);
	dma_resv_unlock(bo->tbo.base.resv);
}

/* As the ioctl; the pin is the framebuffer's, not a file's. */
static int pin_plane(struct vttm_bo *bo, void **vaddr)
{
	int ret;

	ret = vttm_bo_lock_and_pin(NULL, bo);
	if (ret)
		return ret;

	dma_resv_lock(bo->tbo.base.resv, NULL);
	ret = vttm_bo_map(bo, vaddr);
	if (ret)
		vttm_bo_unpin(bo);
	dma_resv_unlock(bo->tbo.base.resv);

	return ret;
}

/**
 * vttm_fb_pin() - Bring a framebuffer to where it can be shown
 * @fb: the framebuffer
 * @vaddr: returns where each plane of its format is mapped for the kernel; NULL
 *	if the device keeps no contents
 *
 * It is in video memory afterwards, each BO in one range, and stays there until
 * vttm_fb_unpin(). Its contents may still be on their way.
 *
 * Return: 0, -ENOMEM if there is no room, or -EINVAL if a BO is pinned elsewhere.
 */
int vttm_fb_pin(struct drm_framebuffer *fb, void **vaddr)
{
	unsigned int i;
	int ret;

	for (i = 0; i < fb->format->num_planes; i++) {
		ret = pin_plane(gem_to_vttm_bo(fb->obj[i]), &vaddr[i]);
		if (ret)
			goto err_unpin;
		if (vaddr[i])
			vaddr[i] += fb->offsets[i];
	}

	return 0;

err_unpin:
	while (i--)
		unpin_plane(gem_to_vttm_bo(fb->obj[i]));
	return ret;
}

/**
 * vttm_fb_unpin() - Take back vttm_fb_pin()
 * @fb: the framebuffer
 */
void vttm_fb_unpin(struct drm_framebuffer *fb)
{
	unsigned int i;

	for (i = 0; i < fb->format->num_planes; i++)
		unpin_plane(gem_to_vttm_bo(fb->obj[i]));
}

/**
 * vttm_fb_wait() - Wait until nobody writes to a framebuffer
 * @fb: the framebuffer
 * @moves_only: only until its contents are where it is
 *
 * Return: 0, or a negative error code.
 */
int vttm_fb_wait(struct drm_framebuffer *fb, bool moves_only)
{
	enum dma_resv_usage usage = moves_only ? DMA_RESV_USAGE_KERNEL : DMA_RESV_USAGE_WRITE;
	unsigned int i;
	long ret;

	for (i = 0; i < fb->format->num_planes; i++) {
		ret = dma_resv_wait_timeout(fb->obj[i]->resv, usage, false,
					    MAX_SCHEDULE_TIMEOUT);
		if (ret < 0)
			return ret;
	}

	return 0;
}

/**
 * vttm_dumb_create() - Create a BO to draw on with the CPU and show
 * @file: DRM file
 * @drm: DRM device
 * @args: width, height, bits a pixel; returns handle, pitch and size
 *
 * It prefers video memory, in one range, and is content with GTT.
 *
 * Return: 0, -EINVAL, -ENOMEM or -ERESTARTSYS.
 */
int vttm_dumb_create(struct drm_file *file, struct drm_device *drm,
		     struct drm_mode_create_dumb *args)
{
	struct drm_vttm_gem_create create = {
		.preferred_domains = DRM_VTTM_DOMAIN_VRAM,
		.flags = DRM_VTTM_GEM_CONTIGUOUS,
		.priority = DRM_VTTM_PRIORITY_DEFAULT,
	};
	int ret;

	ret = drm_mode_size_dumb(drm, args, SZ_8, 0);
	if (ret)
		return ret;

	create.size = args->size;
	return vttm_gem_create_handle(file, &create, &args->handle);
}
