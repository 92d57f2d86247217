// SPDX-License-Identifier: MIT
#include "report/bo_tracker.h"

#include "base/request.h"

namespace vramlab::report {

using events::event;
using events::event_type;

bo_info *bo_tracker::find(u64 bo)
{
    auto it = bos_.find(bo);
    return it == bos_.end() ? nullptr : &it->second;
}

const operation_info &bo_tracker::operation(u32 process) const
{
    static const operation_info none;
    return process < operations_.size() ? operations_[process] : none;
}

u32 bo_tracker::process_of_vm(u32 vm) const
{
    auto it = vms_.find(vm);
    return it == vms_.end() ? 0 : it->second.process;
}

bool bo_tracker::is_scanout(u64 bo, u32 process) const
{
    auto it = bos_.find(bo);
    if (it != bos_.end() && it->second.scanout)
        return true;
    const operation_info &op = operation(process);
    return op.under_way && op.bo == bo && (op.name == "flip" || op.name == "pin");
}

void bo_tracker::begin_operation(const event &e)
{
    if (operations_.size() <= e.process)
        operations_.resize(e.process + 1);
    operation_info &op = operations_[e.process];
    op = {e.a, e.time_ns, e.bo, e.b, e.vm, e.vm2, true, e.where ? e.where : ""};
    if (op.name == "vm_open")
        vms_[e.vm].process = e.process;
    if (op.name != "bo_create")
        return;
    bo_info &bo = bos_[e.bo];
    bo = {};
    bo.size_bytes = e.c;
    bo.process = e.process;
    bo.vm = e.vm;
    bo.handles = 1;
    bo.preferred = e.b & 0xff;
    bo.allowed = e.b >> 8 & 0xff;
    bo.flags = e.b >> 16 & 0xff;
    bo.priority = e.b >> 24 & 0xff;
    vms_[e.vm].handles.insert(e.bo);
}

void bo_tracker::drop_handle(u64 bo)
{
    bo_info *b = find(bo);
    if (b && b->handles && --b->handles == 0)
        gone_.push_back(bo);
}

void bo_tracker::end_operation(const event &e)
{
    if (e.process >= operations_.size())
        return;
    operation_info &op = operations_[e.process];
    op.under_way = false;
    if (op.name == "bo_create" && e.error)
        drop_handle(e.bo);
    if (e.error)
        return;
    if (op.name == "bo_destroy") {
        vms_[e.vm].handles.erase(e.bo);
        drop_handle(e.bo);
    } else if (op.name == "bo_share") {
        if (bo_info *b = find(e.bo)) {
            b->handles++;
            vms_[op.target_vm].handles.insert(e.bo);
        }
    } else if (op.name == "bo_set_priority") {
        if (bo_info *b = find(e.bo))
            b->priority = op.properties >> 24 & 0xff;
    } else if (op.name == "vm_close") {
        for (u64 bo : vms_[e.vm].handles)
            drop_handle(bo);
        vms_[e.vm].handles.clear();
    }
}

void bo_tracker::record(const event &e)
{
    switch (e.type) {
    case event_type::op_begin:
        begin_operation(e);
        break;
    case event_type::op_end:
        end_operation(e);
        break;
    case event_type::evict_begin:
        if (bo_info *b = find(e.bo)) {
            b->evictor = e.process;
            b->evicted_for_scanout = e.bo2 && is_scanout(e.bo2, e.process);
        }
        break;
    case event_type::move:
        if (bo_info *b = find(e.bo)) {
            if (e.a == domain_vram && e.b != domain_vram)
                b->left_vram_ns = e.time_ns;
            else if (e.b == domain_vram)
                b->left_vram_ns = never_ns;
            b->domain = static_cast<u8>(e.b);
        }
        break;
    case event_type::pin:
    case event_type::flip:
        if (bo_info *b = find(e.bo))
            b->scanout |= !e.error;
        break;
    default:
        break;
    }
}

void bo_tracker::forget_ended()
{
    for (u64 bo : gone_)
        bos_.erase(bo);
    gone_.clear();
}

} // namespace vramlab::report
