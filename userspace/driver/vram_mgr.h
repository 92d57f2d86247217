// SPDX-License-Identifier: MIT
// Models drivers/gpu/drm/amd/amdgpu/amdgpu_vram_mgr.c of 7.3.4: the resource manager of video memory on
// gpu_buddy. Omits: DCC, cleared blocks, reservations, visible VRAM, pinned ranges, alignment above a page,
// ttm_resource::start.
#pragma once

#include "driver/object_pool.h"
#include "kmd/dmem_cgroup.h"
#include "kmd/gpu_buddy.h"
#include "kmd/ttm_range.h"
#include "kmd/ttm_resource.h"

#include <memory>
#include <vector>

namespace vramlab::driver {

struct vttm_vram_mgr_resource final : kmd::ttm_resource {
    kmd::gpu_buddy_list blocks; // owned
};

// A range that TTM is making room in: the parts of it that are free are allocated.
struct vttm_vram_claim {
    const kmd::ttm_range_claim *claim; // TTM's
    kmd::gpu_buddy_list blocks;        // owned
};

inline vttm_vram_mgr_resource *to_vttm_vram_mgr_resource(kmd::ttm_resource *res)
{
    return static_cast<vttm_vram_mgr_resource *>(res);
}

struct vttm_vram_mgr final : kmd::ttm_resource_manager {
    kmd::gpu_buddy mm;
    std::unique_ptr<kmd::dmem_cgroup_region> cg_region;
    object_pool<vttm_vram_mgr_resource> resources;
    std::vector<vttm_vram_mgr_resource *> owners; // of allocated blocks, by block_id; nullptr: claimed
    std::vector<vttm_vram_claim> claims;          // under way, with ranges that are disjoint
    // Scratch of a search, by a resource's first block. Apart from the resources, which are many and of which
    // few are ever in a search.
    std::vector<kmd::ttm_range_hint> hints;
    // Of a search for a range: where it looked last, as the next address is mostly that of the next block.
    kmd::block_id looked_at = kmd::no_block;
};

// amdgpu_vram_mgr_init(): makes the manager that of TTM_PL_VRAM. size_bytes is a multiple of 4096. root: of
// the cgroups; the caller's.
void vttm_vram_mgr_init(vttm_vram_mgr &mgr, kmd::ttm_device &bdev, u64 size_bytes, kmd::dmemcg_state &root);
// amdgpu_vram_mgr_fini(): nothing may be allocated any more.
void vttm_vram_mgr_fini(vttm_vram_mgr &mgr);

// vram_range.cc: operations of the manager, and what its allocations and releases have to heed.
int vttm_vram_mgr_claim_range(kmd::ttm_resource_manager *man, kmd::ttm_range_claim *claim);
void vttm_vram_mgr_unclaim_range(kmd::ttm_resource_manager *man, kmd::ttm_range_claim *claim);
kmd::ttm_resource *vttm_vram_mgr_range_first(kmd::ttm_resource_manager *man,
                                             const kmd::ttm_range_claim *claim);
// Frees what is claimed for bo, so that it can be allocated for it.
void vttm_vram_open_claim(vttm_vram_mgr &mgr, const kmd::ttm_buffer_object *bo);
// Allocates what is free in the claimed ranges.
void vttm_vram_close_claims(vttm_vram_mgr &mgr);

inline vttm_vram_mgr &to_vram_mgr(kmd::ttm_resource_manager *man)
{
    return *static_cast<vttm_vram_mgr *>(man);
}

} // namespace vramlab::driver
