// SPDX-License-Identifier: MIT
// Models drivers/gpu/drm/amd/amdgpu/amdgpu_vram_mgr.c of 7.3.4: the resource manager of video memory on
// gpu_buddy. Omits: DCC, cleared blocks, reservations, visible VRAM, pinned ranges, alignment above a page,
// ttm_resource::start.
#pragma once

#include "driver/object_pool.h"
#include "kmd/dmem_cgroup.h"
#include "kmd/gpu_buddy.h"
#include "kmd/ttm_resource.h"

#include <memory>

namespace vramlab::driver {

struct vttm_vram_mgr_resource final : kmd::ttm_resource {
    kmd::gpu_buddy_list blocks; // owned
};

inline vttm_vram_mgr_resource *to_vttm_vram_mgr_resource(kmd::ttm_resource *res)
{
    return static_cast<vttm_vram_mgr_resource *>(res);
}

struct vttm_vram_mgr final : kmd::ttm_resource_manager {
    kmd::gpu_buddy mm;
    std::unique_ptr<kmd::dmem_cgroup_region> cg_region;
    object_pool<vttm_vram_mgr_resource> resources;
};

// amdgpu_vram_mgr_init(): makes the manager that of TTM_PL_VRAM. size_bytes is a multiple of 4096. root: of
// the cgroups; the caller's.
void vttm_vram_mgr_init(vttm_vram_mgr &mgr, kmd::ttm_device &bdev, u64 size_bytes, kmd::dmemcg_state &root);
// amdgpu_vram_mgr_fini(): nothing may be allocated any more.
void vttm_vram_mgr_fini(vttm_vram_mgr &mgr);

} // namespace vramlab::driver
