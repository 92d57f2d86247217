// SPDX-License-Identifier: MIT
// Models amdgpu_object.c and the BO half of amdgpu_gem.c of 7.3.4: buffer objects, where they want to be,
// creation, pins.
//
// A private BO (bo_vm_private) has its VM's resv and holds the VM until it is freed; it is in the VM's bulk
// move, and in the VM's evicted list when it has to be validated. A shared one has a resv of its own. Omits:
// CPU mappings, kernel BOs, alignment, metadata, statistics a VM.
#pragma once

#include "base/request.h"
#include "kmd/list.h"
#include "kmd/ttm_bo.h"

#include <array>

namespace vramlab::driver {

struct vttm_device;
struct vttm_vm;

// Members in the order in which they pack: there are many of these.
struct vttm_bo final : kmd::list_head,
                       kmd::ttm_buffer_object { // list_head: the link in vttm_vm::evicted or displaced
    u8 preferred_domains : 3 = 0;               // domain_*
    u8 allowed_domains : 3 = 0;
    bool in_vm : 1 = false;      // private, and its handle is not closed yet
    bool cpu_access : 1 = false; // AMDGPU_GEM_CREATE_CPU_ACCESS_REQUIRED
    u8 flags = 0;                // bo_*; a pin sets bo_contiguous
    bool displaced = false;      // in vttm_vm::displaced, and not in vttm_vm::evicted
    u32 owner = 0;               // serial of the VM that created it, which may be gone
    vttm_vm *vm = nullptr;       // whose resv a private BO shares, referenced; nullptr for a shared BO
    u64 tag = 0;
};
static_assert(sizeof(vttm_bo) == 168);

inline vttm_bo *to_vttm_bo(kmd::ttm_buffer_object *bo)
{
    return static_cast<vttm_bo *>(bo);
}
inline const vttm_bo *to_vttm_bo(const kmd::ttm_buffer_object *bo)
{
    return static_cast<const vttm_bo *>(bo);
}
// amdgpu_bo_is_amdgpu_bo(): false for a ghost.
bool vttm_bo_is_vttm_bo(const kmd::ttm_buffer_object *bo);

// The domain that a resource is in, 0 for none.
inline u32 vttm_domain_of(const kmd::ttm_resource *res)
{
    static_assert(1u << kmd::TTM_PL_SYSTEM == domain_system && 1u << kmd::TTM_PL_TT == domain_gtt &&
                  1u << kmd::TTM_PL_VRAM == domain_vram);
    return res ? 1u << res->mem_type : 0;
}

// amdgpu_bo_placement_from_domain(): a placement with its places, on the stack of whoever needs it.
struct vttm_placement {
    std::array<kmd::ttm_place, 3> places;
    u32 count = 0;
    kmd::ttm_placement ttm() const { return {count, places.data()}; }
};
vttm_placement vttm_bo_placement_from_domain(const vttm_bo &bo, u32 domain);

// What DRM_IOCTL_VTTM_GEM_CREATE asks for.
struct vttm_bo_create_args {
    u64 tag = 0;
    u64 size_bytes = 0;
    u32 preferred = 0;
    u32 allowed = 0; // 0: derived from preferred
    u32 flags = 0;
    u32 priority = priority_default;
};

// amdgpu_gem_create_ioctl() but for the handle: *ret has one reference. vm: who asks. -EINVAL: bad arguments;
// -ENOMEM: it fits nowhere. Locks the VM's resv for a private BO.
int vttm_gem_create(vttm_device &dev, vttm_vm &vm, const vttm_bo_create_args &args, vttm_bo **ret);

// amdgpu's display code on amdgpu_bo_pin(): into VRAM, one range; one more in *pins. vm: who asks. Locks the
// BO. -EINVAL: pinned, but not so; -ENOMEM: no room.
int vttm_bo_pin(vttm_device &dev, vttm_vm &vm, vttm_bo &bo, u32 *pins);
// Takes one of *pins back, which the caller holds through its file. Locks the BO. -EINVAL: it holds none.
int vttm_bo_unpin(vttm_device &dev, vttm_bo &bo, u32 *pins);

} // namespace vramlab::driver
