// SPDX-License-Identifier: GPL-2.0 OR MIT

#include <linux/err.h>
#include <linux/gfp.h>
#include <linux/mm.h>
#include <linux/sched.h>

#include "vttm_vram_store.h"

/**
 * vttm_vram_store_init() - Initialize the contents of video memory
 * @store: the contents
 */
void vttm_vram_store_init(struct vttm_vram_store *store)
{
	xa_init(&store->pages);
}

/**
 * vttm_vram_store_fini() - Free all contents
 * @store: the contents, which can be used again
 */
void vttm_vram_store_fini(struct vttm_vram_store *store)
{
	unsigned long index;
	struct page *page;

	xa_for_each(&store->pages, index, page) {
		__free_page(page);
		cond_resched();
	}
	xa_destroy(&store->pages);
}

/**
 * vttm_vram_store_find_page() - Find the page behind a page of video memory
 * @store: the contents
 * @offset: offset in video memory, bytes
 *
 * Return: the page, or NULL if it was never written.
 */
struct page *vttm_vram_store_find_page(struct vttm_vram_store *store, u64 offset)
{
	return xa_load(&store->pages, offset >> PAGE_SHIFT);
}

/**
 * vttm_vram_store_get_page() - Find or allocate the page behind a page
 * @store: the contents
 * @offset: offset in video memory, bytes
 *
 * Return: the page, or an ERR_PTR().
 */
struct page *vttm_vram_store_get_page(struct vttm_vram_store *store, u64 offset)
{
	struct page *page, *old;

	page = vttm_vram_store_find_page(store, offset);
	if (page)
		return page;

	page = alloc_page(GFP_KERNEL | __GFP_ZERO | __GFP_RETRY_MAYFAIL |
			  __GFP_NOWARN);
	if (!page)
		return ERR_PTR(-ENOMEM);

	old = xa_cmpxchg(&store->pages, offset >> PAGE_SHIFT, NULL, page, GFP_KERNEL);
	if (old) {
		__free_page(page);
		page = xa_is_err(old) ? ERR_PTR(xa_err(old)) : old;
	}

	return page;
}

/**
 * vttm_vram_store_populate() - Allocate the pages behind a range
 * @store: the contents
 * @offset: start of the range in video memory, bytes
 * @size: size of the range, bytes
 *
 * Return: 0, or a negative error code.
 */
int vttm_vram_store_populate(struct vttm_vram_store *store, u64 offset, u64 size)
{
	struct page *page;
	u64 end;

	for (end = offset + size; offset < end; offset += PAGE_SIZE) {
		page = vttm_vram_store_get_page(store, offset);
		if (IS_ERR(page))
			return PTR_ERR(page);
	}

	return 0;
}
