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

// A creation, with all of its attempts.
struct creation {
    vttm_device &dev;
    vttm_vm &owner;  // who asks
    vttm_vm *vm;     // whose resv the BO has, and that resv is held; or nullptr
    drm_exec *exec;  // what evictions lock with, or nullptr
    u64 bytes_moved; // by attempts that met contention
};

// amdgpu_bo_create(), once. Returns the BO with its resv held.
int bo_create(creation &c, const vttm_bo_create_args &args, vttm_bo **ret)
{
    vttm_device &dev = c.dev;
    vttm_vm *const vm = c.vm;
    ttm_operation_ctx ctx{.interruptible = true,
                          .gfp_retry_mayfail = true,
                          .allow_res_evict = true,
                          .resv = vm ? vm->resv : nullptr,
                          .throttle = &c.owner.throttle,
                          .exec = c.exec,
                          .bytes_moved = c.bytes_moved};
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
    bo->owner = c.owner.serial;
    bo->bdev = &dev.bdev;
    if (vm) {
        drm_gem_object_get(vm);
        bo->vm = vm;
    }

    dev.bos[bo->tag] = bo; // also while making room for it sleeps
    if (dev.plans)
        dev.plans->created(*bo);
    const vttm_placement pl = vttm_bo_placement_from_domain(*bo, dev.pol.create_domains(*bo));
    const ttm_placement placement = pl.ttm();
    if (const int r = ttm_bo_init_reserved(&dev.bdev, bo, ttm_bo_type_device, &placement, 0, &ctx, ctx.resv,
                                           vttm_bo_destroy)) { // and bo is gone
        if (r == -EDEADLK)
            c.bytes_moved = ctx.bytes_moved;
        return r;
    }

    dev.budget.report_moved(ctx.bytes_moved);
    if (bo->resource->mem_type == TTM_PL_VRAM) {
        dma_resv_reserve_fences(*bo->resv, 1);
        vttm_fill(dev, *bo);
    }
    *ret = bo;
    return 0;
}

// It is complete: others may have its lock, or the VM's.
void bo_publish(const creation &c, vttm_bo &bo)
{
    if (c.vm)
        vttm_vm_bo_add(*c.vm, bo);
    else
        dma_resv_unlock(*bo.resv);
}

// In a preferred domain, or else in GTT.
int bo_create_attempt(creation &c, const vttm_bo_create_args &args, vttm_bo **ret)
{
    const int r = bo_create(c, args, ret);
    if (!r || r == -ERESTARTSYS_ || r == -EDEADLK || args.preferred != domain_vram ||
        !(args.allowed & domain_gtt))
        return r;
    vttm_bo_create_args a = args;
    a.preferred |= domain_gtt;
    return bo_create(c, a, ret);
}

// Mainline: evictions only try to lock.
int bo_create_plain(creation &c, const vttm_bo_create_args &args, vttm_bo **ret)
{
    if (c.vm)
        if (const int r = dma_resv_lock(*c.vm->resv, nullptr))
            return r;
    const int r = bo_create_attempt(c, args, ret);
    if (!r)
        bo_publish(c, **ret);
    if (c.vm)
        dma_resv_unlock(*c.vm->resv);
    return r;
}

// The new BO's own lock has the ticket, too, but is not one of the loop's.
int bo_create_retry(creation &c, const vttm_bo_create_args &args, vttm_bo **ret)
{
    drm_exec exec(DRM_EXEC_INTERRUPTIBLE_WAIT, 1);
    c.exec = &exec;
    while (exec.cleanup()) {
        int r = c.vm ? exec.lock_obj(c.vm) : exec.prepare_array(nullptr, 0, 0);
        if (!r)
            r = bo_create_attempt(c, args, ret);
        if (exec.is_contended())
            continue;
        if (r)
            return r;
    }
    bo_publish(c, **ret);
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

    creation c{dev, vm, a.flags & bo_vm_private ? &vm : nullptr, nullptr, 0};
    return dev.bdev.mechanisms.retry ? bo_create_retry(c, a, ret) : bo_create_plain(c, a, ret);
}

} // namespace vramlab::driver
