/* SPDX-License-Identifier: GPL-2.0 OR MIT */
#ifndef _VTTM_VRAM_STORE_H_
#define _VTTM_VRAM_STORE_H_

#include <linux/types.h>
#include <linux/xarray.h>

struct page;

/**
 * struct vttm_vram_store - Contents of video memory
 *
 * Pages of video memory that were never written have no page of system memory
 * and read as zeros.
 */
struct vttm_vram_store {
	/** @pages: Pages by page number in video memory. */
	struct xarray pages;
};

void vttm_vram_store_init(struct vttm_vram_store *store);
void vttm_vram_store_fini(struct vttm_vram_store *store);
struct page *vttm_vram_store_get_page(struct vttm_vram_store *store, u64 offset);
int vttm_vram_store_populate(struct vttm_vram_store *store, u64 offset, u64 size);
struct page *vttm_vram_store_find_page(struct vttm_vram_store *store, u64 offset);

#endif
