// SPDX-License-Identifier: MIT
// The patchset's priorities: what a private BO's priority does beside the order of recovery (recovery.h).
// vttm_priority.c in the kernel; mainline does not look at it. All of this only with the mechanism.
//
// A BO's priority is its priority within the VM's bulk move. A submission validates what was evicted from the
// highest priority down, and lets TTM evict BOs of lower priority for it: so nothing is evicted that the
// submission has validated already. What goes has its turn later in the same submission. A BO of priority 0
// stays where eviction has put it, if it is allowed there.
#pragma once

#include "driver/bo.h"

namespace vramlab::driver {

// In which of vttm_vm::evicted a private BO belongs.
u32 vttm_priority_level(const vttm_bo &bo);
// What a submission asks for a BO, given what it would without priorities. The resv is held.
u32 vttm_priority_domains(const vttm_bo &bo, u32 domains);
// DRM_IOCTL_VTTM_GEM_SET_PRIORITY of a private BO. Locks the VM's resv, but only with the mechanism.
int vttm_priority_set(vttm_vm &vm, vttm_bo &bo, u32 priority);

} // namespace vramlab::driver
