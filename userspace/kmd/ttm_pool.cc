// SPDX-License-Identifier: MIT
// See ttm_pool.h.
#include "kmd/ttm_pool.h"

#include <algorithm>
#include <bit>

namespace vramlab::kmd {

// ttm_pool_alloc_find_order(): orders only ever fall, since remaining does.
static u32 find_order(u32 remaining_pages)
{
    return std::min<u32>(MAX_PAGE_ORDER, static_cast<u32>(std::bit_width(remaining_pages)) - 1);
}

void ttm_pool_init(ttm_pool *pool, u32 alloc_flags)
{
    *pool = {};
    pool->alloc_flags = alloc_flags;
}

void ttm_pool_fini(ttm_pool *pool)
{
    for (auto &orders : pool->blocks)
        std::fill_n(orders, NR_PAGE_ORDERS, 0);
}

int ttm_pool_alloc(ttm_pool *pool, ttm_tt *tt, ttm_operation_ctx *)
{
    // Without coherent DMA, cached pages have no pool; the global ones for other caching are not modelled.
    if (!pool->uses_dma_alloc())
        return 0;

    ttm_caching page_caching = tt->caching;
    bool allow_pools = true;
    for (u32 remaining = tt->num_pages; remaining;) {
        const u32 order = find_order(remaining);
        u32 &held = pool->blocks[page_caching][order];

        if (allow_pools && held) {
            held--;
        } else { // from the system, and the kernel asks no pool again for this tt
            page_caching = ttm_cached;
            allow_pools = false;
        }
        remaining -= 1u << order;
    }
    return 0;
}

void ttm_pool_free(ttm_pool *pool, ttm_tt *tt)
{
    if (!pool->uses_dma_alloc())
        return;

    for (u32 remaining = tt->num_pages; remaining;) {
        const u32 order = find_order(remaining);
        pool->blocks[tt->caching][order]++;
        remaining -= 1u << order;
    }
}

ttm_pool_block ttm_pool_find_block(u32 num_pages, u32 page_index)
{
    u32 first = 0;
    for (;;) {
        const u32 order = find_order(num_pages - first);
        if (page_index < first + (1u << order))
            return {first, order};
        first += 1u << order;
    }
}

} // namespace vramlab::kmd
