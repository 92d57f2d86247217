// SPDX-License-Identifier: MIT
// See vram_mgr.h. What vttm's manager of video memory adds for places that must be contiguous: the cheapest
// range (kmd/ttm_range.h), and claims, which are blocks of the allocator without an owner.
#include "driver/vram_mgr.h"

#include "kmd/ttm_bo.h"

#include <algorithm>

namespace vramlab::driver {

using namespace kmd;

namespace {

bool is_in(const gpu_buddy &mm, block_id b, u64 addr)
{
    const u64 offset = gpu_buddy_block_offset(mm, b);
    return addr >= offset && addr - offset < gpu_buddy_block_size(mm, b);
}

// The block that an address is in and that is not split. near: where to start from, or no_block.
block_id block_at(const gpu_buddy &mm, u64 addr, block_id near)
{
    block_id b = near;
    while (b != no_block && !is_in(mm, b, addr))
        b = mm[b].parent;
    if (b == no_block)
        b = mm.first_root;
    while (!is_in(mm, b, addr))
        b++; // the next root
    while (gpu_buddy_block_is_split(mm[b])) {
        const block_id right = mm[b].left + 1;
        b = addr < gpu_buddy_block_offset(mm, right) ? mm[b].left : right;
    }
    return b;
}

// What extent_at() needs. No block is added, split or merged while a search is under way.
void begin_search(vttm_vram_mgr &mgr)
{
    mgr.looked_at = no_block;
    if (mgr.hints.size() < mgr.mm.arena_used)
        mgr.hints.resize(mgr.mm.arena_used);
}

ttm_range_extent extent_at(ttm_resource_manager *man, u64 page)
{
    vttm_vram_mgr &mgr = to_vram_mgr(man);
    const block_id b = mgr.looked_at = block_at(mgr.mm, page << PAGE_SHIFT, mgr.looked_at);
    const u64 start = gpu_buddy_block_offset(mgr.mm, b) >> PAGE_SHIFT;
    ttm_range_extent e{.start = start, .end = start + (gpu_buddy_block_size(mgr.mm, b) >> PAGE_SHIFT)};
    vttm_vram_mgr_resource *owner = gpu_buddy_block_is_allocated(mgr.mm[b]) ? mgr.owners[b] : nullptr;
    if (owner) {
        e.res = owner;
        e.hint = &mgr.hints[owner->blocks.first];
    }
    return e;
}

void take_free_parts(vttm_vram_mgr &mgr, vttm_vram_claim &c)
{
    const u64 end = c.claim->range.lpfn << PAGE_SHIFT;
    for (u64 at = c.claim->range.fpfn << PAGE_SHIFT; at < end;) {
        const block_id b = block_at(mgr.mm, at, no_block);
        const u64 to = std::min(gpu_buddy_block_offset(mgr.mm, b) + gpu_buddy_block_size(mgr.mm, b), end);
        if (gpu_buddy_block_is_free(mgr.mm[b]))
            gpu_buddy_alloc_blocks(mgr.mm, at, to, to - at, mgr.mm.chunk_size, c.blocks,
                                   GPU_BUDDY_RANGE_ALLOCATION);
        at = to;
    }
    if (mgr.owners.size() < mgr.mm.arena_used)
        mgr.owners.resize(mgr.mm.arena_used);
    for (block_id b = c.blocks.first; b != no_block; b = gpu_buddy_list_next(mgr.mm, b))
        mgr.owners[b] = nullptr;
}

} // namespace

int vttm_vram_mgr_claim_range(ttm_resource_manager *man, ttm_range_claim *claim)
{
    vttm_vram_mgr &mgr = to_vram_mgr(man);
    std::vector<const ttm_range_claim *> others;
    for (const vttm_vram_claim &c : mgr.claims)
        others.push_back(c.claim);
    begin_search(mgr);
    if (const int r = ttm_range_choose(claim, man, mgr.mm.size >> PAGE_SHIFT, others, extent_at))
        return r;
    mgr.claims.push_back({claim, {}});
    take_free_parts(mgr, mgr.claims.back());
    return 0;
}

void vttm_vram_mgr_unclaim_range(ttm_resource_manager *man, ttm_range_claim *claim)
{
    vttm_vram_mgr &mgr = to_vram_mgr(man);
    const auto it = std::find_if(mgr.claims.begin(), mgr.claims.end(),
                                 [&](const vttm_vram_claim &c) { return c.claim == claim; });
    gpu_buddy_free_list(mgr.mm, it->blocks, 0);
    mgr.claims.erase(it);
}

ttm_resource *vttm_vram_mgr_range_first(ttm_resource_manager *man, const ttm_range_claim *claim)
{
    begin_search(to_vram_mgr(man));
    return ttm_range_first(claim, man, extent_at);
}

void vttm_vram_open_claim(vttm_vram_mgr &mgr, const ttm_buffer_object *bo)
{
    for (vttm_vram_claim &c : mgr.claims)
        if (c.claim->bo == bo)
            gpu_buddy_free_list(mgr.mm, c.blocks, 0);
}

void vttm_vram_close_claims(vttm_vram_mgr &mgr)
{
    for (vttm_vram_claim &c : mgr.claims)
        take_free_parts(mgr, c);
}

} // namespace vramlab::driver
