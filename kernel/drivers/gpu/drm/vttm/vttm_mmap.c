// SPDX-License-Identifier: GPL-2.0 OR MIT

#include <linux/dma-buf.h>
#include <linux/dma-resv.h>
#include <linux/highmem.h>
#include <linux/iosys-map.h>
#include <linux/vmalloc.h>

#include <drm/drm_drv.h>
#include <drm/drm_vma_manager.h>
#include <drm/ttm/ttm_tt.h>

#include "vttm_drv.h"
#include "vttm_gem.h"
#include "vttm_mmap.h"
#include "vttm_pin.h"

/**
 * vttm_io_mem_reserve() - Prepare a resource to be mapped
 * @bdev: TTM device
 * @res: the resource
 *
 * Return: 0.
 */
int vttm_io_mem_reserve(struct ttm_device *bdev, struct ttm_resource *res)
{
	/* Mapped by page number; not iomem, but this is how TTM is told. */
	if (res->mem_type == TTM_PL_VRAM) {
		res->bus.is_iomem = true;
		res->bus.caching = ttm_cached;
	}

	return 0;
}

/* Page of video memory behind a page of a BO, which is present. */
static struct page *vram_page(struct ttm_buffer_object *tbo, u64 offset)
{
	struct vttm_device *vdev = bdev_to_vttm_device(tbo->bdev);
	struct vttm_vram_resource *vres = to_vttm_vram_resource(tbo->resource);
	struct gpu_buddy_block *block;

	list_for_each_entry(block, &vres->blocks, link) {
		u64 size = gpu_buddy_block_size(&vdev->vram_mgr.mm, block);

		if (offset < size)
			return vttm_vram_store_get_page(&vdev->vram_store,
							gpu_buddy_block_offset(block) + offset);
		offset -= size;
	}

	return ERR_PTR(-EFAULT);
}

/**
 * vttm_io_mem_pfn() - Page to map
 * @tbo: a BO in video memory, with its reservation lock held
 * @page_offset: page of the BO
 *
 * Return: page number.
 */
unsigned long vttm_io_mem_pfn(struct ttm_buffer_object *tbo,
			      unsigned long page_offset)
{
	struct page *page = vram_page(tbo, (u64)page_offset << PAGE_SHIFT);

	/* Our fault handler has populated the range; this maps nothing. */
	if (WARN_ON_ONCE(IS_ERR(page)))
		return ~0UL >> PAGE_SHIFT;

	return page_to_pfn(page);
}

/**
 * vttm_access_memory() - Read or write memory for a debugger
 * @tbo: a BO in video memory, with its reservation lock held
 * @offset: where in the BO
 * @buf: what to write or where to read to
 * @len: number of bytes
 * @write: write, don't read
 *
 * Return: @len or -EIO.
 */
int vttm_access_memory(struct ttm_buffer_object *tbo, unsigned long offset, void *buf,
		       int len, int write)
{
	int left = len;

	while (left) {
		unsigned long start = offset_in_page(offset);
		int n = min_t(unsigned long, left, PAGE_SIZE - start);
		struct page *page = vram_page(tbo, offset & PAGE_MASK);

		if (IS_ERR(page))
			return -EIO;

		if (write)
			memcpy_to_page(page, start, buf, n);
		else
			memcpy_from_page(buf, page, start, n);

		buf += n;
		offset += n;
		left -= n;
	}

	return len;
}

/* Pages of video memory are allocated when they are touched. */
static int populate_vram(struct ttm_buffer_object *tbo, unsigned long page,
			 unsigned long num)
{
	struct vttm_device *vdev = bdev_to_vttm_device(tbo->bdev);
	struct vttm_vram_resource *vres = to_vttm_vram_resource(tbo->resource);
	u64 start = (u64)page << PAGE_SHIFT, size = (u64)num << PAGE_SHIFT;
	struct gpu_buddy_block *block;
	int ret;

	dma_resv_assert_held(tbo->base.resv);

	list_for_each_entry(block, &vres->blocks, link) {
		u64 len = gpu_buddy_block_size(&vdev->vram_mgr.mm, block);

		if (start < len && size) {
			u64 n = min(len - start, size);

			ret = vttm_vram_store_populate(&vdev->vram_store,
						       gpu_buddy_block_offset(block) + start,
						       n);
			if (ret)
				return ret;
			size -= n;
			start = 0;
		} else {
			start -= len;
		}
		if (!size)
			break;
	}

	return 0;
}

static vm_fault_t vttm_gem_fault_reserved(struct vm_fault *vmf)
{
	struct vm_area_struct *vma = vmf->vma;
	struct ttm_buffer_object *tbo = vma->vm_private_data;
	unsigned long page, num = TTM_BO_VM_NUM_PREFAULT;
	vm_fault_t ret;

	page = vmf->pgoff - drm_vma_node_start(&tbo->base.vma_node);
	if (tbo->resource->mem_type == TTM_PL_VRAM && page < PFN_UP(tbo->base.size)) {
		num = min(num, PFN_UP(tbo->base.size) - page);
		if (populate_vram(tbo, page, num))
			return VM_FAULT_OOM;
	}

	ret = ttm_bo_vm_fault_reserved(vmf, vma->vm_page_prot, num);

	/* In SYSTEM it gets its pages, or gets them back, when it is accessed. */
	if (ret == VM_FAULT_NOPAGE && tbo->ttm && ttm_tt_is_populated(tbo->ttm))
		WRITE_ONCE(to_vttm_bo(tbo)->has_pages, true);

	return ret;
}

static vm_fault_t vttm_gem_fault(struct vm_fault *vmf)
{
	struct ttm_buffer_object *tbo = vmf->vma->vm_private_data;
	vm_fault_t ret;
	int idx;

	ret = ttm_bo_vm_reserve(tbo, vmf);
	if (ret)
		return ret;

	if (!tbo->resource) {
		ret = VM_FAULT_SIGBUS;
	} else if (drm_dev_enter(tbo->base.dev, &idx)) {
		ret = vttm_gem_fault_reserved(vmf);
		drm_dev_exit(idx);
	} else {
		ret = ttm_bo_vm_dummy_page(vmf, vmf->vma->vm_page_prot);
	}

	/* A retry has dropped the lock. */
	if (ret == VM_FAULT_RETRY && !(vmf->flags & FAULT_FLAG_RETRY_NOWAIT))
		return ret;

	dma_resv_unlock(tbo->base.resv);
	return ret;
}

/* For debuggers. */
static int vttm_gem_access(struct vm_area_struct *vma, unsigned long addr, void *buf,
			   int len, int write)
{
	struct ttm_buffer_object *tbo = vma->vm_private_data;
	int idx, ret;

	if (!drm_dev_enter(tbo->base.dev, &idx))
		return -EIO;

	ret = ttm_bo_vm_access(vma, addr, buf, len, write);
	if (ret > 0 && !dma_resv_lock_interruptible(tbo->base.resv, NULL)) {
		if (tbo->ttm && ttm_tt_is_populated(tbo->ttm))
			WRITE_ONCE(to_vttm_bo(tbo)->has_pages, true);
		dma_resv_unlock(tbo->base.resv);
	}

	drm_dev_exit(idx);
	return ret;
}

/** vttm_gem_vm_ops - Operations of mappings. */
const struct vm_operations_struct vttm_gem_vm_ops = {
	.fault = vttm_gem_fault,
	.open = ttm_bo_vm_open,
	.close = ttm_bo_vm_close,
	.access = vttm_gem_access,
};

/**
 * vttm_gem_mmap() - Map a BO
 * @obj: the BO
 * @vma: where to
 *
 * Return: 0, -EINVAL, or -EOPNOTSUPP if the device has no contents.
 */
int vttm_gem_mmap(struct drm_gem_object *obj, struct vm_area_struct *vma)
{
	int ret;

	if (to_vttm_device(obj->dev)->config.no_contents)
		return -EOPNOTSUPP;

	if (drm_gem_is_imported(obj)) {
		/* Whose pages these are knows how to map them. */
		vma->vm_private_data = NULL;
		vma->vm_ops = NULL;
		ret = dma_buf_mmap(obj->import_attach->dmabuf, vma, 0);
		if (!ret)
			drm_gem_object_put(obj);
		return ret;
	}

	ret = ttm_bo_mmap_obj(vma, &gem_to_vttm_bo(obj)->tbo);
	if (ret)
		return ret;

	/* TTM has taken a reference of its own. */
	drm_gem_object_put(obj);
	return 0;
}

static struct page **get_pages(struct ttm_buffer_object *tbo)
{
	u64 i, num = PFN_UP(tbo->base.size);
	struct page **pages;

	pages = kvmalloc_objs(*pages, num);
	if (!pages)
		return ERR_PTR(-ENOMEM);

	for (i = 0; i < num; i++) {
		pages[i] = tbo->resource->mem_type == TTM_PL_VRAM ?
			vram_page(tbo, i << PAGE_SHIFT) : tbo->ttm->pages[i];
		if (IS_ERR(pages[i])) {
			void *err = pages[i];

			kvfree(pages);
			return err;
		}
	}

	return pages;
}

/**
 * vttm_bo_map() - Map a BO for the kernel where it is pinned
 * @bo: the BO, with its reservation lock held
 * @vaddr: returns the address, NULL if the device keeps no contents
 *
 * Its contents may still be on their way.
 *
 * Return: 0, or -ENOMEM.
 */
int vttm_bo_map(struct vttm_bo *bo, void **vaddr)
{
	struct ttm_buffer_object *tbo = &bo->tbo;
	struct page **pages;

	dma_resv_assert_held(tbo->base.resv);
	WARN_ON_ONCE(!tbo->pin_count);

	if (!bo->vmap_count && !bdev_to_vttm_device(tbo->bdev)->config.no_contents) {
		pages = get_pages(tbo);
		if (IS_ERR(pages))
			return PTR_ERR(pages);

		bo->vaddr = vmap(pages, PFN_UP(tbo->base.size), VM_MAP, PAGE_KERNEL);
		kvfree(pages);
		if (!bo->vaddr)
			return -ENOMEM;
	}

	bo->vmap_count++;
	*vaddr = bo->vaddr;
	return 0;
}

/**
 * vttm_bo_unmap() - Take back vttm_bo_map()
 * @bo: the BO, with its reservation lock held
 */
void vttm_bo_unmap(struct vttm_bo *bo)
{
	dma_resv_assert_held(bo->tbo.base.resv);

	if (!--bo->vmap_count) {
		vunmap(bo->vaddr);
		bo->vaddr = NULL;
	}
}

/* Mapped once contents that are on their way have arrived. */
static int map_settled(struct vttm_bo *bo, void **vaddr)
{
	long ret;

	ret = dma_resv_wait_timeout(bo->tbo.base.resv, DMA_RESV_USAGE_KERNEL, false,
				    MAX_SCHEDULE_TIMEOUT);
	return ret < 0 ? ret : vttm_bo_map(bo, vaddr);
}

static int gem_vmap(struct drm_gem_object *obj, struct iosys_map *map)
{
	struct vttm_bo *bo = gem_to_vttm_bo(obj);
	struct ttm_resource *res = bo->tbo.resource;
	void *vaddr;
	u32 domain;
	int ret;

	domain = res && res->mem_type == TTM_PL_VRAM ? DRM_VTTM_DOMAIN_VRAM :
						       DRM_VTTM_DOMAIN_GTT;
	ret = vttm_bo_pin_in(bo, domain);
	if (ret)
		return ret;

	ret = map_settled(bo, &vaddr);
	if (ret) {
		vttm_bo_unpin(bo);
		return ret;
	}

	iosys_map_set_vaddr(map, vaddr);
	return 0;
}

/**
 * vttm_gem_vmap() - Map a BO for the kernel
 * @obj: the BO, with its reservation lock held
 * @map: returns the address
 *
 * Pins it where it is, in GTT if that is nowhere yet.
 *
 * Return: 0, -EOPNOTSUPP if the device has no contents, -ENODEV if it is gone, or
 * what pinning or mapping returns.
 */
int vttm_gem_vmap(struct drm_gem_object *obj, struct iosys_map *map)
{
	int idx, ret;

	dma_resv_assert_held(obj->resv);

	if (to_vttm_device(obj->dev)->config.no_contents)
		return -EOPNOTSUPP;

	if (drm_gem_is_imported(obj))
		return dma_buf_vmap(obj->import_attach->dmabuf, map);

	if (!drm_dev_enter(obj->dev, &idx))
		return -ENODEV;

	ret = gem_vmap(obj, map);
	drm_dev_exit(idx);
	return ret;
}

/**
 * vttm_gem_vunmap() - Take back vttm_gem_vmap()
 * @obj: the BO, with its reservation lock held
 * @map: the address
 */
void vttm_gem_vunmap(struct drm_gem_object *obj, struct iosys_map *map)
{
	struct vttm_bo *bo = gem_to_vttm_bo(obj);

	dma_resv_assert_held(obj->resv);

	if (drm_gem_is_imported(obj)) {
		dma_buf_vunmap(obj->import_attach->dmabuf, map);
		return;
	}

	vttm_bo_unmap(bo);
	vttm_bo_unpin(bo);
}
