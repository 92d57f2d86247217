// SPDX-License-Identifier: MIT
// Models include/drm/ttm/ttm_placement.h.
#pragma once

#include "base/types.h"

namespace vramlab::kmd {

inline constexpr u64 PAGE_SHIFT = 12;
inline constexpr u64 PAGE_SIZE = 1ull << PAGE_SHIFT;

// Memory types, indices of ttm_device::man_drv.
inline constexpr u32 TTM_PL_SYSTEM = 0;
inline constexpr u32 TTM_PL_TT = 1;
inline constexpr u32 TTM_PL_VRAM = 2;
inline constexpr u32 TTM_PL_PRIV = 3;
inline constexpr u32 TTM_NUM_MEM_TYPES = 9;

// Priorities of the LRU lists of a manager.
inline constexpr u32 TTM_MAX_BO_PRIORITY = 4;

inline constexpr u32 TTM_PL_FLAG_CONTIGUOUS = 1u << 0;
inline constexpr u32 TTM_PL_FLAG_TOPDOWN = 1u << 1;
inline constexpr u32 TTM_PL_FLAG_TEMPORARY = 1u << 2; // a hop: never compatible
inline constexpr u32 TTM_PL_FLAG_DESIRED = 1u << 3;   // never used during eviction
inline constexpr u32 TTM_PL_FLAG_FALLBACK = 1u << 4;  // only used during eviction

struct ttm_place {
    u64 fpfn = 0; // first page
    u64 lpfn = 0; // page after the last one, 0: no limit
    u32 mem_type = TTM_PL_SYSTEM;
    u32 flags = 0;
};

// Places in order of preference; points at memory of the caller.
struct ttm_placement {
    u32 num_placement = 0;
    const ttm_place *placement = nullptr;
};

} // namespace vramlab::kmd
