// SPDX-License-Identifier: MIT
// Models amdgpu_vm.c of 7.3.4 as far as it keeps BOs valid, and the DRM file that each VM belongs to:
// handles, pins, submissions.
//
// A file has one VM. The VM is a GEM object without memory: locking it locks the resv that its private BOs
// share. It lives until the file is closed and its last private BO is freed. Omits: page tables and their
// updates, address ranges, page faults, compute.
#pragma once

#include "base/request.h"
#include "driver/bo.h"
#include "driver/recovery.h"
#include "kmd/drm_exec.h"
#include "kmd/drm_sched.h"

#include <deque>
#include <unordered_map>
#include <vector>

namespace vramlab::driver {

// Handles of a file, as drm_gem.c's idr: the lowest free number from 1.
class handle_table {
public:
    struct entry {
        vttm_bo *bo = nullptr; // one reference; nullptr: free
        u32 pins = 0;          // taken through this file
    };

    // Takes over the caller's reference.
    u32 create(vttm_bo &bo);
    // 0 if the file does not have it.
    u32 find(u64 tag) const;
    entry &at(u32 handle) { return entries_[handle]; }
    // Gives the reference back to the caller.
    vttm_bo *remove(u32 handle);
    u32 end() const { return static_cast<u32>(entries_.size()); } // beyond the last handle
    // Changes with every handle made or closed.
    u64 generation() const { return generation_; }

private:
    std::vector<entry> entries_{1};       // by handle; 0 is none
    std::vector<u32> free_;               // heap, lowest in front
    std::unordered_map<u64, u32> by_tag_; // looked up, never iterated
    u64 generation_ = 1;
};

struct vttm_vm final : kmd::drm_gem_object {
    vttm_device *dev = nullptr;
    u32 label = 0;
    u32 process = 0;
    u32 serial = 0; // tells the VMs of a device apart, open or closed
    kmd::ttm_throttle throttle;
    kmd::dma_resv own_resv;
    kmd::ttm_lru_bulk_move lru_bulk_move;
    // Of vttm_bo, by vttm_priority_level(); under the resv. Validated from the last list to the first.
    std::array<kmd::list_head, priority_max + 1> evicted;
    displaced_bos displaced;

    // The file.
    handle_table handles;
    kmd::drm_sched_entity entity;         // of gfx; its fence_seq is the number of the last submission
    u64 finished_seqno = 0;               // submissions of a VM finish in order
    std::deque<kmd::fence_ref> in_flight; // finished_seqno + 1 ...
};

vttm_vm *vttm_vm_open(vttm_device &dev, u32 label, u32 process);
// drm_gem_object_close() of one handle: drops its pins, takes a private BO out of the VM, drops the
// reference. -EINVAL: no handle.
int vttm_gem_close(vttm_vm &vm, u32 handle);
// Closes the file: its handles in ascending order, then waits for its last submission. vm is gone.
void vttm_vm_close(vttm_vm &vm);
void vttm_vm_put(vttm_vm &vm);

// amdgpu_vm_bo_base_init() of a private BO. The resv is held.
void vttm_vm_bo_add(vttm_vm &vm, vttm_bo &bo);
// amdgpu_vm_bo_move(): an evicted private BO has to be validated again. The resv is held.
void vttm_vm_bo_move(vttm_bo &bo, bool evicted);
// Who is to be validated first; nullptr: nobody. The resv is held.
vttm_bo *vttm_vm_first_evicted(const vttm_vm &vm);
// The next submission validates bo, of those of the same priority first. The resv is held.
void vttm_vm_bo_evicted(vttm_bo &bo);
// amdgpu_vm_bo_validated(): off the evicted list. The resv is held.
void vttm_vm_bo_validated(vttm_vm &vm, vttm_bo &bo);

// DRM_IOCTL_VTTM_WAIT. seqno 0: the last one. -EINVAL: not submitted yet.
int vttm_vm_wait(vttm_vm &vm, u64 seqno);

} // namespace vramlab::driver
