// SPDX-License-Identifier: MIT
// Models drivers/gpu/drm/amd/amdgpu/amdgpu_gtt_mgr.c of 7.3.4 as far as it counts bytes: memory that the GPU
// reaches over the link. Omits: GART addresses, so that every resource intersects and is compatible with
// every place.
#pragma once

#include "driver/object_pool.h"
#include "kmd/ttm_resource.h"

namespace vramlab::driver {

struct vttm_gtt_mgr_resource final : kmd::ttm_resource {};

struct vttm_gtt_mgr final : kmd::ttm_resource_manager {
    object_pool<vttm_gtt_mgr_resource> resources;
};

// Makes the manager that of TTM_PL_TT.
void vttm_gtt_mgr_init(vttm_gtt_mgr &mgr, kmd::ttm_device &bdev, u64 size_bytes);
void vttm_gtt_mgr_fini(vttm_gtt_mgr &mgr); // nothing may be allocated any more

} // namespace vramlab::driver
