// SPDX-License-Identifier: MIT
// Pins for scanout.
#include "driver/bo.h"
#include "driver/device.h"
#include "driver/policy.h"
#include "driver/vm.h"
#include "kmd/drm_exec.h"
#include "kmd/trace.h"

namespace vramlab::driver {

using namespace kmd;

namespace {

// amdgpu_bo_pin() for display. The resv is held.
int pin_locked(vttm_device &dev, vttm_vm &vm, vttm_bo &bo, drm_exec *exec)
{
    if (dev.pol.scanout_contiguous())
        bo.flags |= bo_contiguous;
    if (bo.pin_count) {
        const ttm_resource &res = *bo.resource;
        if (!(vttm_domain_of(&res) & dev.pol.scanout_domains()) ||
            (dev.pol.scanout_contiguous() && !(res.placement & TTM_PL_FLAG_CONTIGUOUS)))
            return -EINVAL;
        ttm_bo_pin(&bo);
        return 0;
    }

    bo.cpu_access = true; // force it into the visible part: from the bottom
    vttm_placement pl = vttm_bo_placement_from_domain(bo, dev.pol.scanout_domains());
    if (dev.pol.scanout_contiguous())
        pl.places[0].flags |= TTM_PL_FLAG_CONTIGUOUS;
    const ttm_placement placement = pl.ttm();
    ttm_operation_ctx ctx{.throttle = &vm.throttle, .exec = exec};
    if (const int r = ttm_bo_validate(&bo, &placement, &ctx))
        return r;
    ttm_bo_pin(&bo);
    if (bo.resource->mem_type == TTM_PL_VRAM)
        dev.vram_pinned_bytes += bo.size;
    return 0;
}

void emit_pin(const vttm_bo &bo, events::event_type type, int error)
{
    if (tracing())
        record_event({.bo = bo.tag, .vm = bo.vm ? bo.vm->label : 0, .error = error, .type = type});
}

// Mainline: evictions only try to lock.
int pin_plain(vttm_device &dev, vttm_vm &vm, vttm_bo &bo)
{
    if (const int r = dma_resv_lock(*bo.resv, nullptr))
        return r;
    int r = dma_resv_reserve_fences(*bo.resv, 1);
    if (!r)
        r = pin_locked(dev, vm, bo, nullptr);
    emit_pin(bo, events::event_type::pin, r);
    dma_resv_unlock(*bo.resv);
    return r;
}

int pin_retry(vttm_device &dev, vttm_vm &vm, vttm_bo &bo)
{
    drm_exec exec(0, 1);
    int r = 0;
    while (exec.cleanup()) {
        r = exec.prepare_obj(&bo, 1);
        if (!r)
            r = pin_locked(dev, vm, bo, &exec);
        if (exec.is_contended())
            continue;
        if (r)
            break;
    }
    emit_pin(bo, events::event_type::pin, r);
    return r;
}

} // namespace

int vttm_bo_pin(vttm_device &dev, vttm_vm &vm, vttm_bo &bo, u32 *pins)
{
    const int r = dev.bdev.mechanisms.retry ? pin_retry(dev, vm, bo) : pin_plain(dev, vm, bo);
    if (!r)
        ++*pins;
    return r;
}

int vttm_bo_unpin(vttm_device &dev, vttm_bo &bo, u32 *pins)
{
    if (const int r = dma_resv_lock(*bo.resv, nullptr))
        return r;
    const int r = *pins ? 0 : -EINVAL;
    if (!r) {
        --*pins;
        ttm_bo_unpin(&bo);
        if (!bo.pin_count && bo.resource->mem_type == TTM_PL_VRAM)
            dev.vram_pinned_bytes -= bo.size;
    }
    emit_pin(bo, events::event_type::unpin, r);
    dma_resv_unlock(*bo.resv);
    return r;
}

} // namespace vramlab::driver
