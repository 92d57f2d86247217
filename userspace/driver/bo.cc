// SPDX-License-Identifier: MIT
#include "driver/bo.h"

#include "driver/device.h"
#include "driver/move.h"
#include "driver/planner.h"
#include "kmd/trace.h"

namespace vramlab::driver {

using namespace kmd;

namespace {

constexpr u8 tbo_priority = 1;               // amdgpu_bo_create() of a BO for user space
constexpr u64 bo_size_max_bytes = 256 * GiB; // the driver's own limit

void vttm_gem_object_free(drm_gem_object *obj)
{
    ttm_bo_fini(static_cast<vttm_bo *>(obj));
}

// amdgpu_bo_destroy()
void vttm_bo_destroy(ttm_buffer_object *tbo)
{
    vttm_bo *bo = to_vttm_bo(tbo);
    vttm_device &dev = to_vttm_device(tbo->bdev);
    if (const auto it = dev.bos.find(bo->tag); it != dev.bos.end() && it->second == bo)
        dev.bos.erase(it);
    if (dev.plans)
        dev.plans->freed(*bo);
    vttm_vm *vm = bo->vm;
    dev.bo_pool.destroy(bo);
    if (vm)
        drm_gem_object_put(vm);
}

bool args_valid(const vttm_bo_create_args &a)
{
    return a.size_bytes && a.size_bytes % PAGE_SIZE == 0 && a.preferred && !(a.preferred & ~domain_mask) &&
           !(a.allowed & ~domain_mask) && !(a.allowed && (a.preferred & ~a.allowed)) &&
           !(a.flags & ~bo_flags_mask) && a.priority <= priority_max;
}

// amdgpu_bo_validate_size()
bool size_valid(const vttm_device &dev, u64 size, u32 domain)
{
    if (domain & domain_gtt)
        return size < dev.config.gtt_size_bytes;
    return !(domain & domain_vram) || size < dev.config.vram_size_bytes;
}

// amdgpu_bo_create(): one attempt. owner: who asks. vm: whose resv the BO has, and that resv is held; or
// nullptr.
int bo_create(vttm_device &dev, vttm_vm &owner, vttm_vm *vm, const vttm_bo_create_args &args, vttm_bo **ret)
{
    ttm_operation_ctx ctx{.interruptible = true,
                          .gfp_retry_mayfail = true,
                          .allow_res_evict = true,
                          .resv = vm ? vm->resv : nullptr,
                          .throttle = &owner.throttle};
    if (!size_valid(dev, args.size_bytes, args.preferred))
        return -ENOMEM;
    vttm_bo *bo = dev.bo_pool.create();
    bo->free = vttm_gem_object_free;
    bo->size = args.size_bytes;
    bo->priority = tbo_priority;
    bo->tag = args.tag;
    bo->preferred_domains = static_cast<u8>(args.preferred);
    bo->allowed_domains = static_cast<u8>(args.allowed);
    bo->flags = static_cast<u8>(args.flags);
    bo->bulk_priority = args.priority & priority_max; // checked: a bit-field wants to hear it
    bo->owner = owner.serial;
    bo->bdev = &dev.bdev;
    if (vm) {
        drm_gem_object_get(vm);
        bo->vm = vm;
    }

    if (dev.plans)
        dev.plans->created(*bo);
    const vttm_placement pl = vttm_bo_placement_from_domain(*bo, dev.pol.create_domains(*bo));
    const ttm_placement placement = pl.ttm();
    if (const int r = ttm_bo_init_reserved(&dev.bdev, bo, ttm_bo_type_device, &placement, 0, &ctx, ctx.resv,
                                           vttm_bo_destroy))
        return r; // and bo is gone

    dev.bos[bo->tag] = bo;
    dev.budget.report_moved(ctx.bytes_moved);
    if (bo->resource->mem_type == TTM_PL_VRAM) {
        dma_resv_reserve_fences(*bo->resv, 1);
        vttm_fill(dev, *bo);
    }
    if (vm)
        vttm_vm_bo_add(*vm, *bo);
    else
        dma_resv_unlock(*bo->resv);
    *ret = bo;
    return 0;
}

} // namespace

bool vttm_bo_is_vttm_bo(const ttm_buffer_object *bo)
{
    return bo->destroy == vttm_bo_destroy;
}

vttm_placement vttm_bo_placement_from_domain(const vttm_bo &bo, u32 domain)
{
    vttm_placement p;
    if (domain & domain_vram)
        p.places[p.count++] = {.mem_type = TTM_PL_VRAM, .flags = bo.cpu_access ? 0 : TTM_PL_FLAG_TOPDOWN};
    if (domain & domain_gtt)
        // When GTT is just an alternative to VRAM, use it as a fallback only and fill up VRAM first.
        p.places[p.count++] = {
            .mem_type = TTM_PL_TT,
            .flags = bo.resource && (domain & bo.preferred_domains & domain_vram) ? TTM_PL_FLAG_FALLBACK : 0};
    if (domain & domain_system || !p.count)
        p.places[p.count++] = {.mem_type = TTM_PL_SYSTEM};
    return p;
}

int vttm_gem_create(vttm_device &dev, vttm_vm &vm, const vttm_bo_create_args &args, vttm_bo **ret)
{
    if (!args_valid(args))
        return -EINVAL;
    vttm_bo_create_args a = args;
    if (!a.allowed)
        a.allowed = a.preferred | (a.preferred == domain_vram ? domain_gtt : 0);
    if (a.size_bytes > bo_size_max_bytes)
        return -ENOMEM;

    vttm_vm *const shared_resv = a.flags & bo_vm_private ? &vm : nullptr;
    if (shared_resv)
        if (const int r = dma_resv_lock(*shared_resv->resv, nullptr))
            return r;
    int r = bo_create(dev, vm, shared_resv, a, ret);
    if (r && r != -ERESTARTSYS_ && a.preferred == domain_vram && (a.allowed & domain_gtt)) {
        a.preferred |= domain_gtt;
        r = bo_create(dev, vm, shared_resv, a, ret);
    }
    if (shared_resv)
        dma_resv_unlock(*shared_resv->resv);
    return r;
}

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

} // namespace

namespace {

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
