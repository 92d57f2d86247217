// SPDX-License-Identifier: MIT
// The patchset's recovery: a VM's private BOs that lost VRAM, and were then left where they are allowed to
// be, come back when there is room. Part of the throttle mechanism; vttm_recovery.c in the kernel. Mainline
// has nothing of the kind: amdgpu validates an evicted BO once, and what that leaves in GTT stays there.
//
// A BO is *displaced* if validation left it outside of its preferred domains. Each submission that is not in
// the strong phase tries displaced BOs again: highest priority first, then who has waited longest. Nobody is
// evicted for them but by dmem's rules (GTT is a fallback place). A BO of priority 0 never comes back.
#pragma once

#include "base/request.h"
#include "kmd/list.h"

#include <array>

namespace vramlab::driver {

struct vttm_bo;

inline constexpr u32 recovery_failures_max = 8;     // BOs tried in vain in one submission
inline constexpr u64 recovery_bytes_max = 32 * MiB; // after which a submission recovers no more

struct displaced_bos {
    std::array<kmd::list_head, priority_max + 1> lists; // of vttm_bo by bulk_priority; under the VM's resv
};

// After bo was validated: puts it at the end of its priority's list if it is displaced, else takes it off.
// The resv is held.
void vttm_recovery_update(displaced_bos &displaced, vttm_bo &bo);
// After a change of bo's priority: to the end of another list, or off all of them, wherever the BO is now.
void vttm_recovery_priority_changed(displaced_bos &displaced, vttm_bo &bo);
// Who is to be tried first; nullptr: nobody.
vttm_bo *vttm_recovery_first(const displaced_bos &displaced);

} // namespace vramlab::driver
