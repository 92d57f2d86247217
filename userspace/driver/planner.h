// SPDX-License-Identifier: MIT
// The seam for policies that keep books of their own: what jobs touch, and what should be where because of
// it. Not in the kernel. One for each device.
#pragma once

#include "driver/vm.h"
#include "kmd/ttm_device.h"

#include <vector>

namespace vramlab::driver {

struct vttm_touch;

// Moves to make while all of a submission's BOs are locked: first those out of VRAM, then those into it. For
// whom there is no room, and nobody whom order() lets be evicted, stays outside.
struct vttm_plan {
    std::vector<vttm_bo *> out;
    std::vector<vttm_bo *> in;
};

class planner : public kmd::ttm_walk_policy { // order(): whom to evict for whom
public:
    // A BO is about to get its first place; it is gone.
    virtual void created(const vttm_bo &bo) = 0;
    virtual void freed(const vttm_bo &bo) = 0;
    // Whether the submission of vm that is about to be validated should ask for a plan.
    virtual bool due(const vttm_vm &vm) const = 0;
    // Then: bos are those listed, and private to the VM.
    virtual vttm_plan plan(const vttm_vm &vm, const std::vector<vttm_bo *> &bos) = 0;
    // Domains in which a submission wants a BO that the plan does not name.
    virtual u32 domains(const vttm_bo &bo) const = 0;
    // A job will touch this, as a driver could read from counters of each BO's accesses.
    virtual void touched(const vttm_touch &t) = 0;
};

} // namespace vramlab::driver
