// SPDX-License-Identifier: MIT
#include "driver/priority.h"

#include "driver/device.h"

namespace vramlab::driver {

using namespace kmd;

u32 vttm_priority_level(const vttm_bo &bo)
{
    return bo.bdev->mechanisms.priority ? bo.bulk_priority : 0;
}

u32 vttm_priority_domains(const vttm_bo &bo, u32 domains)
{
    if (!bo.bdev->mechanisms.priority || !bo.vm || bo.bulk_priority ||
        vttm_domain_of(bo.resource) == domain_vram)
        return domains;
    const u32 others = bo.allowed_domains & ~domain_vram;
    return others ? others : domains;
}

int vttm_priority_set(vttm_vm &vm, vttm_bo &bo, u32 priority)
{
    if (!bo.bdev->mechanisms.priority) {
        bo.bulk_priority = priority & priority_max;
        vttm_recovery_priority_changed(vm.displaced, bo);
        return 0;
    }

    if (const int r = dma_resv_lock(*bo.resv, nullptr))
        return r;
    const bool raised = priority > bo.bulk_priority;
    ttm_bo_set_bulk_priority(&bo, priority);
    vttm_recovery_priority_changed(vm.displaced, bo);
    // What it could not have before it perhaps can now.
    const bool evicted = !list_empty(bo) && !bo.displaced;
    if (bo.in_vm && (evicted || (raised && !(vttm_domain_of(bo.resource) & bo.preferred_domains))))
        vttm_vm_bo_evicted(bo);
    dma_resv_unlock(*bo.resv);
    return 0;
}

} // namespace vramlab::driver
