// SPDX-License-Identifier: MIT
#include "driver/vram_mgr.h"

#include "driver/bo.h"
#include "kmd/ttm_bo.h"
#include "kmd/ttm_device.h"

#include <algorithm>
#include <stdexcept>

namespace vramlab::driver {

using namespace kmd;

namespace {

constexpr u64 pages_per_2mib = 2 * MiB >> PAGE_SHIFT;

// Whether the blocks make one range, in whatever order they are. (amdgpu_is_vram_mgr_blocks_contiguous()
// wants them in ascending order, which blocks taken from the top are not in; the driver sorts them before it
// looks.)
bool blocks_adjoin(const gpu_buddy &mm, const gpu_buddy_list &blocks)
{
    u64 first = ~u64{0}, end = 0, size = 0;
    gpu_buddy_for_each_block(mm, blocks, [&](const gpu_buddy_block &b) {
        first = std::min(first, gpu_buddy_block_offset(b));
        end = std::max(end, gpu_buddy_block_offset(b) + gpu_buddy_block_size(mm, b));
        size += gpu_buddy_block_size(mm, b);
    });
    return !blocks.empty() && end - first == size;
}

// The loop of amdgpu_vram_mgr_new(). An allocation succeeds as a whole, so the loop only repeats to give up
// contiguity.
int alloc_blocks(vttm_vram_mgr &mgr, const ttm_place &place, u64 size, bool contiguous,
                 gpu_buddy_list &blocks)
{
    const u64 fpfn = place.fpfn << PAGE_SHIFT;
    u64 lpfn = place.lpfn << PAGE_SHIFT;
    if (!lpfn || lpfn > mgr.size)
        lpfn = mgr.size;

    u32 flags = 0;
    if (place.flags & TTM_PL_FLAG_TOPDOWN)
        flags |= GPU_BUDDY_TOPDOWN_ALLOCATION;
    if (contiguous)
        flags |= GPU_BUDDY_CONTIGUOUS_ALLOCATION;
    if (fpfn || lpfn != mgr.mm.size)
        flags |= GPU_BUDDY_RANGE_ALLOCATION;

    for (;;) {
        // ~0 pages for one range: as bytes, that is more than any BO has.
        u64 min_block_size = PAGE_SIZE;
        if (!contiguous && size >= pages_per_2mib << PAGE_SHIFT &&
            !(size & ((pages_per_2mib << PAGE_SHIFT) - 1)))
            min_block_size = pages_per_2mib << PAGE_SHIFT;
        const int r = gpu_buddy_alloc_blocks(mgr.mm, fpfn, lpfn, size, min_block_size, blocks, flags);
        if (r == -ENOSPC && contiguous && !(place.flags & TTM_PL_FLAG_CONTIGUOUS)) {
            flags &= ~GPU_BUDDY_CONTIGUOUS_ALLOCATION;
            contiguous = false;
            continue;
        }
        return r;
    }
}

void set_owner(vttm_vram_mgr &mgr, vttm_vram_mgr_resource *vres)
{
    if (mgr.owners.size() < mgr.mm.arena_used)
        mgr.owners.resize(mgr.mm.arena_used);
    for (block_id b = vres->blocks.first; b != no_block; b = gpu_buddy_list_next(mgr.mm, b))
        mgr.owners[b] = vres;
}

int vttm_vram_mgr_new(ttm_resource_manager *man, ttm_buffer_object *tbo, const ttm_place *place,
                      ttm_resource **res)
{
    vttm_vram_mgr &mgr = to_vram_mgr(man);
    const vttm_bo &bo = *to_vttm_bo(tbo);
    vttm_vram_mgr_resource *vres = mgr.resources.create();

    ttm_resource_init(tbo, place, vres);
    int r = -ENOSPC;
    // Bail out quickly if there's likely not enough VRAM for this BO; its own size is counted already.
    if (ttm_resource_manager_usage(man) <= man->size) {
        vttm_vram_open_claim(mgr, tbo);
        r = alloc_blocks(mgr, *place, ttm_resource_size(vres), bo.flags & bo_contiguous, vres->blocks);
        if (r)
            gpu_buddy_free_list(mgr.mm, vres->blocks, 0);
        set_owner(mgr, vres);
        vttm_vram_close_claims(mgr);
    }
    if (r) {
        ttm_resource_fini(man, vres);
        mgr.resources.destroy(vres);
        return r;
    }

    if (blocks_adjoin(mgr.mm, vres->blocks))
        vres->placement |= TTM_PL_FLAG_CONTIGUOUS;
    *res = vres;
    return 0;
}

void vttm_vram_mgr_del(ttm_resource_manager *man, ttm_resource *res)
{
    vttm_vram_mgr &mgr = to_vram_mgr(man);
    vttm_vram_mgr_resource *vres = to_vttm_vram_mgr_resource(res);
    gpu_buddy_free_list(mgr.mm, vres->blocks, 0);
    vttm_vram_close_claims(mgr);
    ttm_resource_fini(man, res);
    mgr.resources.destroy(vres);
}

bool vttm_vram_mgr_intersects(ttm_resource_manager *man, ttm_resource *res, const ttm_place *place, u64)
{
    const gpu_buddy &mm = to_vram_mgr(man).mm;
    if (!place->fpfn && !place->lpfn)
        return true; // any block does, and there is one
    for (block_id b = to_vttm_vram_mgr_resource(res)->blocks.first; b != no_block;
         b = gpu_buddy_list_next(mm, b)) {
        const u64 fpfn = gpu_buddy_block_offset(mm, b) >> PAGE_SHIFT;
        const u64 lpfn = fpfn + (gpu_buddy_block_size(mm, b) >> PAGE_SHIFT);
        if (place->fpfn < lpfn && (!place->lpfn || place->lpfn > fpfn))
            return true;
    }
    return false;
}

bool vttm_vram_mgr_compatible(ttm_resource_manager *man, ttm_resource *res, const ttm_place *place, u64)
{
    const gpu_buddy &mm = to_vram_mgr(man).mm;
    if (!place->fpfn && !place->lpfn)
        return true;
    for (block_id b = to_vttm_vram_mgr_resource(res)->blocks.first; b != no_block;
         b = gpu_buddy_list_next(mm, b)) {
        const u64 fpfn = gpu_buddy_block_offset(mm, b) >> PAGE_SHIFT;
        const u64 lpfn = fpfn + (gpu_buddy_block_size(mm, b) >> PAGE_SHIFT);
        if (fpfn < place->fpfn || (place->lpfn && lpfn > place->lpfn))
            return false;
    }
    return true;
}

constexpr ttm_resource_manager_func vttm_vram_mgr_func = {
    .alloc = vttm_vram_mgr_new,
    .free = vttm_vram_mgr_del,
    .intersects = vttm_vram_mgr_intersects,
    .compatible = vttm_vram_mgr_compatible,
    .claim_range = vttm_vram_mgr_claim_range,
    .unclaim_range = vttm_vram_mgr_unclaim_range,
    .range_first = vttm_vram_mgr_range_first,
};

constexpr dmem_cgroup_ops vttm_vram_mgr_dmem_ops = {
    .reclaim = ttm_resource_manager_dmem_reclaim,
};

} // namespace

void vttm_vram_mgr_init(vttm_vram_mgr &mgr, ttm_device &bdev, u64 size_bytes, dmemcg_state &root)
{
    ttm_resource_manager_init(&mgr, &bdev, size_bytes);
    mgr.func = &vttm_vram_mgr_func;
    mgr.use_throttle = true;
    if (gpu_buddy_init(mgr.mm, size_bytes, PAGE_SIZE))
        throw std::runtime_error("bad size of video memory");
    ttm_resource_manager *man = &mgr; // what reclaim casts priv to
    mgr.cg_region = dmem_cgroup_register_region(
        {.size = size_bytes, .ops = &vttm_vram_mgr_dmem_ops, .reclaim_priv = man, .root = &root},
        "drm/vttm/vram");
    ttm_resource_manager_set_dmem_region(&mgr, mgr.cg_region.get());
    ttm_set_driver_manager(&bdev, TTM_PL_VRAM, &mgr);
    ttm_resource_manager_set_used(&mgr, true);
}

void vttm_vram_mgr_fini(vttm_vram_mgr &mgr)
{
    ttm_resource_manager_set_used(&mgr, false);
    ttm_resource_manager_set_dmem_region(&mgr, nullptr);
    mgr.cg_region.reset();
    gpu_buddy_fini(mgr.mm);
    ttm_resource_manager_cleanup(&mgr);
    ttm_set_driver_manager(mgr.bdev, TTM_PL_VRAM, nullptr);
}

} // namespace vramlab::driver
