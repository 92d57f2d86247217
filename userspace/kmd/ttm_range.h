// SPDX-License-Identifier: MIT
// The patchset's choice of a contiguous range: what a place that must be contiguous costs where, so that TTM
// evicts what is in the way there and nothing else. Models drivers/gpu/drm/ttm/ttm_range.c and
// include/drm/ttm/ttm_range.h of kernel/patches; mainline has nothing of the kind.
//
// A range costs what has to be moved out of it: of each BO that has a part in it all bytes, once, times its
// weight. Pinned BOs, those that dmem protects and those whose lock cannot be had make a range impossible; so
// does what failed before in the same search. BOs that are protected by dmem.low only are the last resort:
// bytes of theirs are compared first. What is deleted already costs nothing. Of equal ranges the lowest
// address is taken.
//
// What is looked at is not locked, so that a choice is a hint: TTM checks again under each lock.
#pragma once

#include "kmd/ttm_placement.h"

#include <array>
#include <compare>
#include <vector>

namespace vramlab::kmd {

struct dma_resv;
struct ttm_bo_alloc_state;
struct ttm_buffer_object;
struct ttm_operation_ctx;
struct ttm_resource;
struct ttm_resource_manager;
struct ww_acquire_ctx;

// How often TTM looks for a range before it gives up.
inline constexpr u32 TTM_RANGE_SEARCHES = 8;
// Weight of a BO that is in use, idle ones count once. The driver's weight is a factor beside it.
inline constexpr u32 TTM_RANGE_WEIGHT_BUSY = 2;
inline constexpr u32 TTM_RANGE_WEIGHT_MAX = 16; // of the driver

struct ttm_range_cost {
    u64 low_bytes = 0; // weighted, of BOs below their dmem.low
    u64 bytes = 0;     // weighted, of all others

    auto operator<=>(const ttm_range_cost &) const = default;
};

// What a resource adds to the cost of a range: scratch of a search, which the manager keeps for each of its
// resources.
struct ttm_range_hint {
    ttm_range_cost cost;
    bool never = false; // makes a range impossible
    u32 extents = 0;    // of this resource in the range that is looked at; 0 when no search is under way
};

// What is at an address, [start, end) in pages.
struct ttm_range_extent {
    u64 start = 0;
    u64 end = 0;
    ttm_resource *res = nullptr; // nullptr: free, or claimed
    ttm_range_hint *hint = nullptr;
};

// A search, and the range that it found. The range's free parts, and what comes free in it, are the claim's
// until it is given up: nobody else is given them.
struct ttm_range_claim {
    // What is asked for; set by TTM.
    ttm_buffer_object *bo = nullptr; // for whom; its resv is held
    const ttm_place *place = nullptr;
    const ttm_operation_ctx *ctx = nullptr;
    ww_acquire_ctx *ticket = nullptr;
    ttm_bo_alloc_state *alloc_state = nullptr;
    std::array<const ttm_resource *, TTM_RANGE_SEARCHES> failed{}; // only compared: they may be gone
    u32 searches = 0;

    // What was found; set by ttm_range_choose().
    ttm_place range; // the place, with the range's limits
    ttm_range_cost cost;
};

// The extent that a page is in. Whole: it may begin before the page.
using ttm_range_extent_at = ttm_range_extent (*)(ttm_resource_manager *man, u64 page);

// Finds the cheapest range of claim->bo's size in [0, size_pages) within the place, disjoint from those of
// `others`. 0, or -ENOSPC if all are impossible. The manager's lock is held: extents don't change.
int ttm_range_choose(ttm_range_claim *claim, ttm_resource_manager *man, u64 size_pages,
                     const std::vector<const ttm_range_claim *> &others, ttm_range_extent_at extent_at);
// The resource with the lowest address that is in the claim's range, nullptr if there is none.
ttm_resource *ttm_range_first(const ttm_range_claim *claim, ttm_resource_manager *man,
                              ttm_range_extent_at extent_at);

} // namespace vramlab::kmd
