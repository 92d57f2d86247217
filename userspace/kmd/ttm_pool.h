// SPDX-License-Identifier: MIT
// Models drivers/gpu/drm/ttm/ttm_pool.c as far as numbers go: which pool of (caching, order) a page block
// comes from and returns to, and how many each holds. There are no pages, so allocation never fails and the
// decomposition of a ttm_tt into blocks (largest order first) is a function of its size. Omits: NUMA, DMA
// mapping, backup, the shrinker, the limit on what the pools hold.
#pragma once

#include "kmd/ttm_tt.h"

namespace vramlab::kmd {

inline constexpr u32 TTM_ALLOCATION_POOL_USE_DMA_ALLOC = 1u << 8;
inline constexpr u32 TTM_ALLOCATION_POOL_USE_DMA32 = 1u << 9;
inline constexpr u32 TTM_ALLOCATION_PROPAGATE_ENOSPC = 1u << 10;

inline constexpr u32 MAX_PAGE_ORDER = 10;
inline constexpr u32 NR_PAGE_ORDERS = MAX_PAGE_ORDER + 1;

struct ttm_pool {
    u32 alloc_flags = 0;
    u32 blocks[TTM_NUM_CACHING_TYPES][NR_PAGE_ORDERS] = {}; // free blocks held, of 2^order pages

    bool uses_dma_alloc() const { return (alloc_flags & TTM_ALLOCATION_POOL_USE_DMA_ALLOC) != 0; }
    bool uses_dma32() const { return (alloc_flags & TTM_ALLOCATION_POOL_USE_DMA32) != 0; }
};

void ttm_pool_init(ttm_pool *pool, u32 alloc_flags);
void ttm_pool_fini(ttm_pool *pool);
int ttm_pool_alloc(ttm_pool *pool, ttm_tt *tt, ttm_operation_ctx *ctx);
void ttm_pool_free(ttm_pool *pool, ttm_tt *tt);
// The block of a ttm_tt of num_pages that page page_index (below num_pages) is in.
struct ttm_pool_block {
    u32 first_page;
    u32 order;
};
ttm_pool_block ttm_pool_find_block(u32 num_pages, u32 page_index);

} // namespace vramlab::kmd
