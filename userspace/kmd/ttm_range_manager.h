// SPDX-License-Identifier: MIT
// Models drivers/gpu/drm/ttm/ttm_range_manager.c: one contiguous range of pages for each resource, from the
// smallest hole that fits (drm_mm's BEST), or from the highest one with TTM_PL_FLAG_TOPDOWN.
#pragma once

#include "kmd/ttm_device.h"

namespace vramlab::kmd {

// Installs a manager of size_pages for a memory type. 0.
int ttm_range_man_init(ttm_device *bdev, u32 type, bool use_tt, u64 size_pages);
// Evicts everything and removes the manager. 0 or the error of the eviction, which leaves the manager there,
// unused.
int ttm_range_man_fini(ttm_device *bdev, u32 type);

} // namespace vramlab::kmd
