// SPDX-License-Identifier: MIT
#include "driver/vm.h"

#include "driver/device.h"
#include "driver/priority.h"
#include "kmd/trace.h"

#include <algorithm>
#include <functional>

namespace vramlab::driver {

using namespace kmd;

// ---- handles

u32 handle_table::create(vttm_bo &bo)
{
    u32 handle = end();
    if (free_.empty()) {
        entries_.emplace_back();
    } else {
        std::pop_heap(free_.begin(), free_.end(), std::greater<>());
        handle = free_.back();
        free_.pop_back();
    }
    entries_[handle] = {&bo, 0};
    by_tag_[bo.tag] = handle;
    generation_++;
    return handle;
}

u32 handle_table::find(u64 tag) const
{
    const auto it = by_tag_.find(tag);
    return it == by_tag_.end() ? 0 : it->second;
}

vttm_bo *handle_table::remove(u32 handle)
{
    vttm_bo *bo = entries_[handle].bo;
    entries_[handle] = {};
    by_tag_.erase(bo->tag);
    free_.push_back(handle);
    std::push_heap(free_.begin(), free_.end(), std::greater<>());
    generation_++;
    return bo;
}

// ---- the file

namespace {

void vttm_vm_free(drm_gem_object *obj)
{
    delete static_cast<vttm_vm *>(obj);
}

// amdgpu_gem_object_close() of a private BO. One object, so contention is waited for by the ticket, and never
// dies: the loop is what drivers write.
void vm_bo_del(vttm_vm &vm, vttm_bo &bo)
{
    drm_exec exec(0);
    while (exec.cleanup()) {
        exec.lock_obj(&vm);
        if (exec.is_contended())
            continue;
    }
    ttm_bo_set_bulk_move(&bo, nullptr);
    list_del_init(bo);
    bo.displaced = false;
    bo.in_vm = false;
    exec.fini();
}

} // namespace

vttm_vm *vttm_vm_open(vttm_device &dev, u32 label, u32 process)
{
    auto *vm = new vttm_vm;
    vm->free = vttm_vm_free;
    vm->resv = &vm->own_resv;
    vm->dev = &dev;
    vm->label = label;
    vm->process = process;
    vm->serial = ++dev.vm_serials;
    vm->throttle.label = label;
    ttm_lru_bulk_move_init(&vm->lru_bulk_move);
    drm_sched_entity_init(vm->entity, dev.gfx_sched);
    dev.vms[label] = vm;
    dev.vms_by_serial[vm->serial] = vm;
    return vm;
}

int vttm_gem_close(vttm_vm &vm, u32 handle)
{
    if (!handle || handle >= vm.handles.end() || !vm.handles.at(handle).bo)
        return -EINVAL;
    vttm_bo &bo = *vm.handles.at(handle).bo;
    while (vm.handles.at(handle).pins)
        vttm_bo_unpin(*vm.dev, bo, &vm.handles.at(handle).pins);
    if (bo.vm)
        vm_bo_del(vm, bo);
    vm.handles.remove(handle);
    drm_gem_object_put(&bo);
    return 0;
}

void vttm_vm_close(vttm_vm &vm)
{
    for (u32 handle = 1; handle < vm.handles.end(); handle++)
        vttm_gem_close(vm, handle);
    vttm_vm_wait(vm, 0);
    drm_sched_entity_fini(vm.entity);
    ttm_lru_bulk_move_fini(&vm.dev->bdev, &vm.lru_bulk_move);
    vm.dev->vms.erase(vm.label);
    vm.dev->vms_by_serial.erase(vm.serial);
    drm_gem_object_put(&vm);
}

int vttm_vm_wait(vttm_vm &vm, u64 seqno)
{
    if (!seqno)
        seqno = vm.entity.fence_seq;
    if (seqno > vm.entity.fence_seq)
        return -EINVAL;
    if (seqno <= vm.finished_seqno)
        return 0;
    const fence_ref fence = vm.in_flight[seqno - vm.finished_seqno - 1];
    return dma_fence_wait(*fence);
}

// ---- what keeps private BOs valid

vttm_bo *vttm_vm_first_evicted(const vttm_vm &vm)
{
    for (u32 level = priority_max + 1; level--;)
        if (const list_head &list = vm.evicted[level]; !list_empty(list))
            return static_cast<vttm_bo *>(list.next);
    return nullptr;
}

void vttm_vm_bo_evicted(vttm_bo &bo)
{
    bo.displaced = false;
    list_move(bo, bo.vm->evicted[vttm_priority_level(bo)]);
    if (tracing())
        record_event({.bo = bo.tag, .vm = bo.vm->label, .type = events::event_type::evicted_list});
}

void vttm_vm_bo_add(vttm_vm &vm, vttm_bo &bo)
{
    bo.in_vm = true;
    ttm_bo_set_bulk_move(&bo, &vm.lru_bulk_move);
    // Not in a domain that it prefers: to be validated at the next occasion.
    if (!(bo.preferred_domains & vttm_domain_of(bo.resource)))
        vttm_vm_bo_evicted(bo);
}

void vttm_vm_bo_move(vttm_bo &bo, bool evicted)
{
    if (evicted && bo.in_vm)
        vttm_vm_bo_evicted(bo);
}

void vttm_vm_bo_validated(vttm_vm &vm, vttm_bo &bo)
{
    if (vm.dev->bdev.mechanisms.throttle)
        vttm_recovery_update(vm.displaced, bo);
    else
        list_del_init(bo);
}

} // namespace vramlab::driver
