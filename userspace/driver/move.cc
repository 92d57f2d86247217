// SPDX-License-Identifier: MIT
#include "driver/move.h"

#include "driver/device.h"
#include "gpu/timing.h"
#include "kmd/trace.h"

namespace vramlab::driver {

using namespace kmd;

namespace {

// ---- where to evict to

// amdgpu_bo_placement_from_domain() of GTT | SYSTEM and of SYSTEM is the same for every BO: without VRAM
// among the domains GTT is no fallback.
constexpr ttm_place evict_places[] = {{.mem_type = TTM_PL_TT}, {.mem_type = TTM_PL_SYSTEM}};
constexpr ttm_placement evict_from_vram = {2, &evict_places[0]};
constexpr ttm_placement evict_to_system = {1, &evict_places[1]};

void vttm_evict_flags(ttm_buffer_object *bo, ttm_placement *placement)
{
    const bool in_vram = vttm_bo_is_vttm_bo(bo) && bo->resource->mem_type == TTM_PL_VRAM;
    *placement = in_vram ? evict_from_vram : evict_to_system;
}

// ---- system pages

ttm_tt *vttm_tt_create(ttm_buffer_object *bo, u32 page_flags)
{
    ttm_tt *tt = to_vttm_device(bo->bdev).tt_pool.create();
    ttm_tt_init(tt, bo, page_flags, ttm_cached, 0);
    return tt;
}

void vttm_tt_destroy(ttm_device *bdev, ttm_tt *tt)
{
    ttm_tt_fini(tt);
    to_vttm_device(bdev).tt_pool.destroy(tt);
}

// ---- jobs of the copy engine

// amdgpu_ttm_prepare_job() and amdgpu_ttm_job_submit(): one entity, behind everything that uses the BO.
fence_ref push_job(vttm_device &dev, const vttm_bo &bo, job_kind kind, u64 link_bytes,
                   const gpu::job_time &time)
{
    vttm_job *job = dev.job_pool.create();
    job->dev = &dev;
    job->kind = kind;
    job->tag = bo.tag;
    job->link_bytes = link_bytes;
    job->vm_label = bo.vm ? bo.vm->label : 0;
    job->process = trace.process;
    job->time = time;
    drm_sched_job_init(*job, dev.copy_entity);
    dma_resv_for_each_fence(*bo.resv, dma_resv_usage::bookkeep,
                            [&](dma_fence &f, dma_resv_usage) { drm_sched_job_add_dependency(*job, f); });
    drm_sched_job_arm(*job, nullptr);
    job->seqno = job->finished().seqno;
    const fence_ref fence = job->s_fence;
    drm_sched_entity_push_job(*job);
    return fence;
}

// ---- moves

// amdgpu_bo_move_notify(): before the move happens. The event of the move is TTM's, after it.
void move_notify(ttm_buffer_object *bo, bool evict)
{
    if (!vttm_bo_is_vttm_bo(bo))
        return;
    vttm_vm_bo_move(*to_vttm_bo(bo), evict);
}

// amdgpu_move_blit()
int move_blit(ttm_buffer_object *bo, bool evict, ttm_resource *new_mem)
{
    vttm_device &dev = to_vttm_device(bo->bdev);
    const bool within_vram = bo->resource->mem_type == TTM_PL_VRAM && new_mem->mem_type == TTM_PL_VRAM;
    const auto direction =
        new_mem->mem_type == TTM_PL_VRAM ? gpu::link_direction::in : gpu::link_direction::out;
    const gpu::job_time time = within_vram ? gpu::time_of_vram_copy(dev.config, bo->size)
                                           : gpu::time_of_link_copy(dev.config, bo->size, direction);
    const fence_ref fence = push_job(dev, *to_vttm_bo(bo), job_kind::copy, within_vram ? 0 : bo->size, time);
    return ttm_bo_move_accel_cleanup(bo, fence.get(), evict, true, new_mem);
}

bool is_between(u32 a, u32 b, u32 x, u32 y)
{
    return (a == x && b == y) || (a == y && b == x);
}

// amdgpu_bo_move()
int vttm_bo_move(ttm_buffer_object *bo, bool evict, ttm_operation_ctx *ctx, ttm_resource *new_mem,
                 ttm_place *hop)
{
    ttm_resource *old_mem = bo->resource;
    vttm_bo &vbo = *to_vttm_bo(bo);
    vttm_device &dev = to_vttm_device(bo->bdev);
    const u32 to = new_mem->mem_type;

    // ttm_bo_evict_first() does not look again when it has waited for the lock.
    if (evict && bo->pin_count)
        return -EBUSY;

    if (to == TTM_PL_TT && old_mem && old_mem->mem_type == TTM_PL_TT)
        if (const int r = ttm_bo_wait_ctx(bo, ctx))
            return r;

    if (!old_mem || (old_mem->mem_type == TTM_PL_SYSTEM && (!bo->ttm || to == TTM_PL_TT))) {
        move_notify(bo, evict);
        ttm_bo_move_null(bo, new_mem);
        return 0;
    }

    const u32 from = old_mem->mem_type;
    if (from == TTM_PL_TT && (to == TTM_PL_SYSTEM || to == TTM_PL_TT)) {
        if (to == TTM_PL_SYSTEM)
            if (const int r = ttm_bo_wait_ctx(bo, ctx))
                return r;
        move_notify(bo, evict);
        ttm_resource_free(bo, &bo->resource);
        ttm_bo_assign_mem(bo, new_mem);
        return 0;
    }

    // The CPU has not touched it there yet.
    if (to == TTM_PL_VRAM && from != TTM_PL_VRAM)
        vbo.cpu_access = false;

    if (is_between(from, to, TTM_PL_SYSTEM, TTM_PL_VRAM)) {
        *hop = {.mem_type = TTM_PL_TT, .flags = TTM_PL_FLAG_TEMPORARY};
        return -EMULTIHOP;
    }

    move_notify(bo, evict);
    if (const int r = move_blit(bo, evict, new_mem))
        return r;
    if (evict)
        dev.num_evictions++;
    dev.num_bytes_moved += bo->size;
    return 0;
}

// ---- the rest

// A private BO is its VM's. A shared one is the creator's, whoever else has it, as long as that lives.
ttm_throttle *vttm_throttle_of(ttm_buffer_object *bo)
{
    if (!vttm_bo_is_vttm_bo(bo))
        return nullptr;
    const vttm_device &dev = to_vttm_device(bo->bdev);
    const auto vm = dev.vms_by_serial.find(to_vttm_bo(bo)->owner);
    return vm == dev.vms_by_serial.end() ? nullptr : &vm->second->throttle;
}

u64 vttm_now_ns(const ttm_device *bdev)
{
    return static_cast<const vttm_ttm_device *>(bdev)->device->now_ns();
}

ttm_trace_id vttm_trace_id(const ttm_buffer_object *bo)
{
    const vttm_bo &vbo = *to_vttm_bo(bo);
    return {vbo.tag, vbo.vm ? vbo.vm->label : 0};
}

} // namespace

// What was scanned out is going to be again, most likely, and then needs one range itself.
u32 vttm_evict_weight(const ttm_buffer_object *bo)
{
    return vttm_bo_is_vttm_bo(bo) && (to_vttm_bo(bo)->flags & bo_contiguous) ? 4 : 1;
}

const ttm_device_funcs vttm_bo_driver = {
    .ttm_tt_create = vttm_tt_create,
    .ttm_tt_populate = nullptr,
    .ttm_tt_unpopulate = nullptr,
    .ttm_tt_destroy = vttm_tt_destroy,
    .eviction_valuable = ttm_bo_eviction_valuable,
    .evict_flags = vttm_evict_flags,
    .move = vttm_bo_move,
    .delete_mem_notify = nullptr,
    .swap_notify = nullptr,
    .release_notify = nullptr,
    .throttle_of = vttm_throttle_of,
    .now_ns = vttm_now_ns,
    .evict_weight = vttm_evict_weight,
    .trace_id = vttm_trace_id,
};

void vttm_fill(vttm_device &dev, vttm_bo &bo)
{
    const fence_ref fence = push_job(dev, bo, job_kind::fill, 0, gpu::time_of_fill(dev.config, bo.size));
    dma_resv_add_fence(*bo.resv, *fence, dma_resv_usage::kernel);
}

} // namespace vramlab::driver
