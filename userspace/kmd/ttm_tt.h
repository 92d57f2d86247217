// SPDX-License-Identifier: MIT
// Models drivers/gpu/drm/ttm/ttm_tt.c: the state of the system pages behind a BO, and how many there are in
// all. There are no pages: populated, swapped out and so on are flags. Backup (the shrinker's way out) is
// omitted.
#pragma once

#include "base/types.h"

namespace vramlab::kmd {

struct ttm_buffer_object;
struct ttm_device;
struct ttm_operation_ctx;

inline constexpr u32 TTM_TT_FLAG_SWAPPED = 1u << 0;
inline constexpr u32 TTM_TT_FLAG_ZERO_ALLOC = 1u << 1;
inline constexpr u32 TTM_TT_FLAG_EXTERNAL = 1u << 2; // pages are somebody else's: not counted, never swapped
inline constexpr u32 TTM_TT_FLAG_EXTERNAL_MAPPABLE = 1u << 3;
inline constexpr u32 TTM_TT_FLAG_DECRYPTED = 1u << 4;
inline constexpr u32 TTM_TT_FLAG_BACKED_UP = 1u << 5;
inline constexpr u32 TTM_TT_FLAG_PRIV_POPULATED = 1u << 6; // TTM's own

enum ttm_caching : u8 { ttm_uncached, ttm_write_combined, ttm_cached };
inline constexpr u32 TTM_NUM_CACHING_TYPES = 3;

// Created and destroyed by the driver (ttm_device_funcs), owned by the BO.
struct ttm_tt {
    u32 page_flags = 0; // TTM_TT_FLAG_*
    u32 num_pages = 0;
    ttm_caching caching = ttm_cached;
    bool pages = false;        // has a page directory
    bool dma_address = false;  // has DMA addresses
    bool swap_storage = false; // contents are in shmem
};

inline bool ttm_tt_is_populated(const ttm_tt *tt)
{
    return (tt->page_flags & TTM_TT_FLAG_PRIV_POPULATED) != 0;
}
inline bool ttm_tt_is_swapped(const ttm_tt *tt)
{
    return (tt->page_flags & (TTM_TT_FLAG_SWAPPED | TTM_TT_FLAG_BACKED_UP)) != 0;
}
inline bool ttm_tt_is_backed_up(const ttm_tt *tt)
{
    return (tt->page_flags & TTM_TT_FLAG_BACKED_UP) != 0;
}
inline void ttm_tt_mark_for_clear(ttm_tt *tt)
{
    tt->page_flags |= TTM_TT_FLAG_ZERO_ALLOC;
}

// Makes bo->ttm if there is none, without pages. 0, -EINVAL (bad type), -ENOMEM (the driver made none). The
// resv is held.
int ttm_tt_create(ttm_buffer_object *bo, bool zero_alloc);
int ttm_tt_init(ttm_tt *tt, ttm_buffer_object *bo, u32 page_flags, ttm_caching caching, u32 extra_pages);
int ttm_sg_tt_init(ttm_tt *tt, ttm_buffer_object *bo, u32 page_flags, ttm_caching caching);
void ttm_tt_fini(ttm_tt *tt);
void ttm_tt_destroy(ttm_device *bdev, ttm_tt *tt);
int ttm_tt_swapin(ttm_tt *tt);
// Number of pages swapped out.
int ttm_tt_swapout(ttm_device *bdev, ttm_tt *tt);
// May swap out other BOs to stay below ttm_global::pages_limit. 0, -EINVAL (no tt) or an error of that or of
// the driver.
int ttm_tt_populate(ttm_device *bdev, ttm_tt *tt, ttm_operation_ctx *ctx);
void ttm_tt_unpopulate(ttm_device *bdev, ttm_tt *tt);

} // namespace vramlab::kmd
