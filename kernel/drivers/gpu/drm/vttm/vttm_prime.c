// SPDX-License-Identifier: GPL-2.0 OR MIT

/**
 * DOC: Sharing buffers with other devices
 *
 * No other device reaches video memory. A BO that another device maps moves to
 * GTT, and stays there for as long as an importer needs that: one that can be
 * told of moves has to map it again after the next one, others pin it.
 *
 * An imported BO is in GTT or, while it has no mapping, in SYSTEM. The engines
 * access it at its DMA addresses, as those of a real device do.
 */

#include <linux/dma-buf.h>
#include <linux/dma-direct.h>
#include <linux/dma-mapping.h>
#include <linux/dma-resv.h>
#include <linux/file_ref.h>
#include <linux/fs.h>

#include <drm/drm_drv.h>
#include <drm/drm_prime.h>
#include <drm/drm_print.h>
#include <drm/ttm/ttm_bo.h>
#include <drm/ttm/ttm_tt.h>

#include "vttm_drv.h"
#include "vttm_gem.h"
#include "vttm_pin.h"
#include "vttm_prime.h"

static struct vttm_bo *dma_buf_to_vttm_bo(struct dma_buf *dma_buf)
{
	return gem_to_vttm_bo(dma_buf->priv);
}

/* There must be something to share, and time must not depend on others. */
static bool can_share(struct vttm_device *vdev)
{
	return !vdev->config.virtual_clock && !vdev->config.no_contents;
}

static int vttm_dma_buf_attach(struct dma_buf *dma_buf,
			       struct dma_buf_attachment *attach)
{
	struct vttm_bo *bo = dma_buf_to_vttm_bo(dma_buf);

	attach->peer2peer = false;
	if (drm_dev_is_unplugged(bo->tbo.base.dev))
		return -ENODEV;

	return can_share(to_vttm_device(bo->tbo.base.dev)) ? 0 : -EOPNOTSUPP;
}

static int vttm_dma_buf_pin(struct dma_buf_attachment *attach)
{
	struct vttm_bo *bo = dma_buf_to_vttm_bo(attach->dmabuf);
	int idx, ret;

	if (!drm_dev_enter(bo->tbo.base.dev, &idx))
		return -ENODEV;

	ret = vttm_bo_pin_in(bo, DRM_VTTM_DOMAIN_GTT);
	drm_dev_exit(idx);
	return ret;
}

static void vttm_dma_buf_unpin(struct dma_buf_attachment *attach)
{
	vttm_bo_unpin(dma_buf_to_vttm_bo(attach->dmabuf));
}

static struct sg_table *map_attachment(struct vttm_bo *bo,
				       struct dma_buf_attachment *attach,
				       enum dma_data_direction dir)
{
	struct ttm_operation_ctx ctx = {};
	struct sg_table *sgt;
	int ret;

	if (!bo->tbo.pin_count) {
		vttm_bo_placement_from_domain(bo, DRM_VTTM_DOMAIN_GTT);
		ret = ttm_bo_validate(&bo->tbo, &bo->placement, &ctx);
		if (ret)
			return ERR_PTR(ret);
	}

	/* Pinned for scanout. */
	if (bo->tbo.resource->mem_type != TTM_PL_TT)
		return ERR_PTR(-EBUSY);

	sgt = drm_prime_pages_to_sg(bo->tbo.base.dev, bo->tbo.ttm->pages,
				    bo->tbo.ttm->num_pages);
	if (IS_ERR(sgt))
		return sgt;

	ret = dma_map_sgtable(attach->dev, sgt, dir, DMA_ATTR_SKIP_CPU_SYNC);
	if (ret) {
		sg_free_table(sgt);
		kfree(sgt);
		return ERR_PTR(ret);
	}

	return sgt;
}

static struct sg_table *vttm_dma_buf_map(struct dma_buf_attachment *attach,
					 enum dma_data_direction dir)
{
	struct vttm_bo *bo = dma_buf_to_vttm_bo(attach->dmabuf);
	struct sg_table *sgt;
	int idx;

	dma_resv_assert_held(bo->tbo.base.resv);

	/* What was mapped before stays: it is memory of the guest. */
	if (!drm_dev_enter(bo->tbo.base.dev, &idx))
		return ERR_PTR(-ENODEV);

	sgt = map_attachment(bo, attach, dir);
	drm_dev_exit(idx);
	return sgt;
}

static void vttm_dma_buf_unmap(struct dma_buf_attachment *attach,
			       struct sg_table *sgt, enum dma_data_direction dir)
{
	dma_unmap_sgtable(attach->dev, sgt, dir, 0);
	sg_free_table(sgt);
	kfree(sgt);
}

/* As amdgpu: who reads much does it where reading is fast, if that is allowed. */
static int vttm_dma_buf_begin_cpu_access(struct dma_buf *dma_buf,
					 enum dma_data_direction dir)
{
	struct vttm_bo *bo = dma_buf_to_vttm_bo(dma_buf);
	struct ttm_operation_ctx ctx = { .interruptible = true };
	int idx, ret;

	if (!drm_dev_enter(bo->tbo.base.dev, &idx))
		return -ENODEV;

	ret = dma_resv_lock_interruptible(dma_buf->resv, NULL);
	if (ret)
		goto out_exit;

	if (dir != DMA_TO_DEVICE && !bo->tbo.pin_count &&
	    (bo->allowed & DRM_VTTM_DOMAIN_GTT)) {
		vttm_bo_placement_from_domain(bo, DRM_VTTM_DOMAIN_GTT);
		ret = ttm_bo_validate(&bo->tbo, &bo->placement, &ctx);
	}
	dma_resv_unlock(dma_buf->resv);

out_exit:
	drm_dev_exit(idx);
	return ret;
}

/* The last attachment and mapping are gone. */
static void vttm_dma_buf_release(struct dma_buf *dma_buf)
{
	struct vttm_bo *bo = dma_buf_to_vttm_bo(dma_buf);

	scoped_guard(spinlock, &to_vttm_device(bo->tbo.base.dev)->bos_lock)
		if (bo->exported == dma_buf)
			bo->exported = NULL;

	drm_gem_dmabuf_release(dma_buf);
}

static const struct dma_buf_ops vttm_dma_buf_ops = {
	.attach = vttm_dma_buf_attach,
	.pin = vttm_dma_buf_pin,
	.unpin = vttm_dma_buf_unpin,
	.map_dma_buf = vttm_dma_buf_map,
	.unmap_dma_buf = vttm_dma_buf_unmap,
	.release = vttm_dma_buf_release,
	.begin_cpu_access = vttm_dma_buf_begin_cpu_access,
	.mmap = drm_gem_dmabuf_mmap,
	.vmap = drm_gem_dmabuf_vmap,
	.vunmap = drm_gem_dmabuf_vunmap,
};

/**
 * vttm_prime_export() - Export a BO
 * @obj: the BO
 * @flags: DRM_CLOEXEC, DRM_RDWR
 *
 * Return: the dma-buf, or an ERR_PTR(): -EPERM for a private BO, whose
 * reservation object is not its own to share.
 */
struct dma_buf *vttm_prime_export(struct drm_gem_object *obj, int flags)
{
	struct vttm_bo *bo = gem_to_vttm_bo(obj);
	struct dma_buf *dma_buf;

	if (bo->root)
		return ERR_PTR(-EPERM);

	dma_buf = drm_gem_prime_export(obj, flags);
	if (IS_ERR(dma_buf))
		return dma_buf;

	dma_buf->ops = &vttm_dma_buf_ops;

	/*
	 * &drm_gem_object.dma_buf goes with the last handle, but importers
	 * that have to be told of moves can live longer.
	 */
	scoped_guard(spinlock, &to_vttm_device(obj->dev)->bos_lock)
		bo->exported = dma_buf;

	return dma_buf;
}

/* Who releases it doesn't hold the reservation lock: it may be about to go. */
static struct dma_buf *get_exported(struct vttm_bo *bo)
{
	guard(spinlock)(&to_vttm_device(bo->tbo.base.dev)->bos_lock);
	if (bo->exported && file_ref_get(&bo->exported->file->f_ref))
		return bo->exported;

	return NULL;
}

/**
 * vttm_prime_moving() - A BO is about to move
 * @bo: the BO, with its reservation lock held
 *
 * Tells those who import it.
 */
void vttm_prime_moving(struct vttm_bo *bo)
{
	struct ttm_resource *res = bo->tbo.resource;
	struct dma_buf *dma_buf;

	dma_resv_assert_held(bo->tbo.base.resv);

	/* Nobody has mapped it where it can't be mapped. */
	if (!res || res->mem_type != TTM_PL_TT || !READ_ONCE(bo->exported))
		return;

	dma_buf = get_exported(bo);
	if (dma_buf) {
		dma_buf_invalidate_mappings(dma_buf);
		dma_buf_put(dma_buf);
	}
}

/* The other side moves: wait until nobody uses the mapping, and drop it. */
static void vttm_import_invalidate(struct dma_buf_attachment *attach)
{
	struct vttm_bo *bo = gem_to_vttm_bo(attach->importer_priv);
	struct ttm_operation_ctx ctx = {};
	int ret;

	if (!bo->tbo.resource || bo->tbo.resource->mem_type == TTM_PL_SYSTEM)
		return;

	vttm_bo_placement_from_domain(bo, DRM_VTTM_DOMAIN_SYSTEM);
	ret = ttm_bo_validate(&bo->tbo, &bo->placement, &ctx);
	if (ret)
		drm_err(bo->tbo.base.dev, "can't let go of an imported BO: %d\n", ret);
}

static const struct dma_buf_attach_ops vttm_attach_ops = {
	.invalidate_mappings = vttm_import_invalidate,
};

/* What the device can't address must not become a page. */
static int check_addresses(struct vttm_device *vdev, struct ttm_tt *tt)
{
	u32 i;

	for (i = 0; i < tt->num_pages; i++) {
		phys_addr_t phys = dma_to_phys(vdev->drm.dev, tt->dma_address[i]);

		if (offset_in_page(phys) || !pfn_valid(PHYS_PFN(phys)))
			return -EINVAL;
	}

	return 0;
}

/**
 * vttm_prime_map_import() - Map an imported BO
 * @bo: the BO, with its reservation lock held
 * @tt: its pages, of which the DMA addresses are filled in
 *
 * Return: 0, -EINVAL for memory that isn't RAM, or what the exporter returns.
 */
int vttm_prime_map_import(struct vttm_bo *bo, struct ttm_tt *tt)
{
	struct dma_buf_attachment *attach = bo->tbo.base.import_attach;
	struct sg_table *sgt;
	int ret;

	/* Creation has failed half way. */
	if (!attach)
		return -EINVAL;

	sgt = dma_buf_map_attachment(attach, DMA_BIDIRECTIONAL);
	if (IS_ERR(sgt))
		return PTR_ERR(sgt);

	ret = drm_prime_sg_to_dma_addr_array(sgt, tt->dma_address, tt->num_pages);
	if (!ret)
		ret = check_addresses(to_vttm_device(bo->tbo.base.dev), tt);
	if (ret) {
		dma_buf_unmap_attachment(attach, sgt, DMA_BIDIRECTIONAL);
		return ret;
	}

	tt->sg = sgt;
	return 0;
}

/**
 * vttm_prime_unmap_import() - Drop the mapping of an imported BO
 * @bo: the BO, with its reservation lock held
 * @tt: its pages
 */
void vttm_prime_unmap_import(struct vttm_bo *bo, struct ttm_tt *tt)
{
	if (!tt->sg)
		return;

	dma_buf_unmap_attachment(bo->tbo.base.import_attach, tt->sg, DMA_BIDIRECTIONAL);
	tt->sg = NULL;
}

static struct drm_gem_object *import_foreign(struct vttm_device *vdev,
					     struct dma_buf *dma_buf)
{
	struct dma_buf_attachment *attach;
	struct drm_gem_object *obj;
	struct vttm_bo *bo;

	guard(rwsem_read)(&vdev->reset_lock);

	if (!can_share(vdev))
		return ERR_PTR(-EOPNOTSUPP);

	bo = vttm_bo_create_import(vdev, dma_buf);
	if (IS_ERR(bo))
		return ERR_CAST(bo);
	obj = &bo->tbo.base;

	attach = dma_buf_dynamic_attach(dma_buf, vdev->drm.dev, &vttm_attach_ops, obj);
	if (IS_ERR(attach)) {
		drm_gem_object_put(obj);
		return ERR_CAST(attach);
	}

	get_dma_buf(dma_buf);
	obj->import_attach = attach;
	return obj;
}

/**
 * vttm_prime_import() - Import a dma-buf
 * @drm: DRM device
 * @dma_buf: the dma-buf
 *
 * Return: the BO, or an ERR_PTR(): -EOPNOTSUPP under the virtual clock and
 * without contents, where only BOs of this device can be imported, or -ENODEV.
 */
struct drm_gem_object *vttm_prime_import(struct drm_device *drm,
					 struct dma_buf *dma_buf)
{
	struct drm_gem_object *obj;
	int idx;

	if (dma_buf->ops == &vttm_dma_buf_ops) {
		obj = dma_buf->priv;
		if (obj->dev == drm) {
			drm_gem_object_get(obj);
			return obj;
		}
	}

	if (!drm_dev_enter(drm, &idx))
		return ERR_PTR(-ENODEV);

	obj = import_foreign(to_vttm_device(drm), dma_buf);
	drm_dev_exit(idx);
	return obj;
}
