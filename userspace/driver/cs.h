// SPDX-License-Identifier: MIT
// Models amdgpu_cs.c of 7.3.4: command submission, which makes a job's BOs resident
// (Documentation/semantics.rst, "Submit"). Omits: rings other than gfx, gangs, user pointers, sync objects,
// command parsing, page table updates.
#pragma once

#include "driver/device.h"

#include <span>

namespace vramlab::driver {

struct vttm_touch {
    vttm_bo *bo = nullptr;
    u64 vram_bytes = 0;
    u64 link_bytes = 0;
};

struct vttm_submit_args {
    std::span<vttm_bo *const> bos;       // shared ones, in the order of the list; duplicates allowed
    std::span<const vttm_touch> touches; // of BOs that are private to the VM or listed
    u64 compute_ns = 0;
};

// 0 with *seqno; -ENOMEM: what must be somewhere has no place there; -EINVAL: it would take longer than
// gpu::duration_max_ns. May sleep on locks and fences.
int vttm_submit(vttm_device &dev, vttm_vm &vm, const vttm_submit_args &args, u64 *seqno);

} // namespace vramlab::driver
