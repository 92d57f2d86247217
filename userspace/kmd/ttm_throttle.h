// SPDX-License-Identifier: MIT
// The patchset's eviction throttle: who has just lost memory to somebody else does not fight for it at once.
// Models drivers/gpu/drm/ttm/ttm_throttle.c and include/drm/ttm/ttm_throttle.h of kernel/patches; mainline
// has nothing of the kind.
//
// When another owner, or reclaim, evicts an owner's BO from VRAM, the owner enters the *strong* phase: none
// of its BOs moves that is where it is allowed to be. Then the *weak* phase: its BOs may return into what is
// free, and nobody is evicted for them, not even if dmem protects the allocation (unless ttm_mechanisms::
// throttle_protected says so). A further eviction starts over. BOs that have to be where they are not are
// exempt.
//
// Phases follow from the device clock, so there is no timer. Locking: the owner's driver serializes its
// submissions; evictions by others write evicted_at_ns under the resv of the BO that they evict.
#pragma once

#include "base/types.h"

namespace vramlab::kmd {

struct ttm_buffer_object;
struct ttm_device;
struct ttm_operation_ctx;

enum class ttm_throttle_phase : u8 { normal, strong, weak };

// An owner's: part of a VM.
struct ttm_throttle {
    u64 evicted_at_ns = 0; // of the last eviction by others; valid if evicted
    bool evicted = false;
    u32 label = 0; // of events
};

// normal if the mechanism is off or throttle is nullptr (the operation has no owner).
ttm_throttle_phase ttm_throttle_phase_of(const ttm_device *bdev, const ttm_throttle *throttle);
// bo has just been evicted from a memory type that is throttled, in an operation with this context.
void ttm_throttle_evicted(ttm_buffer_object *bo, const ttm_operation_ctx *ctx);
// After a suspend everything has been evicted, and nobody competes for it.
inline void ttm_throttle_reset(ttm_throttle &throttle)
{
    throttle.evicted = false;
}

} // namespace vramlab::kmd
