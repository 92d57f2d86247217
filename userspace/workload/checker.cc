// SPDX-License-Identifier: MIT
#include "workload/checker.h"

#include "workload/limits.h"
#include "workload/names.h"

#include <fmt/format.h>

namespace vramlab::workload {

namespace {

// Which kinds of order an operation makes sense in.
defect check_order(const operation &op, order_kind order)
{
    switch (op.kind) {
    case op_kind::begin:
    case op_kind::step:
    case op_kind::finish:
    case op_kind::run:
    case op_kind::advance:
        if (order != order_kind::file)
            return {fmt::format("\"{}\" in a workload of order \"time\"",
                                op.kind == op_kind::begin ? "begin" : op_word(op)),
                    "order \"file\""};
        return {};
    case op_kind::sleep:
    case op_kind::cpu:
    case op_kind::vblank:
    case op_kind::end:
        if (order != order_kind::time)
            return {fmt::format("\"{}\" in a workload of order \"file\"", op_word(op)), "order \"time\""};
        return {};
    default:
        return {};
    }
}

} // namespace

u32 effective_allowed(u32 preferred, u32 allowed)
{
    if (allowed)
        return allowed;
    return preferred == domain_vram ? domain_vram | domain_gtt : preferred;
}

void checker::reset(const system_config &s, order_kind order)
{
    *this = {};
    system_ = s;
    order_ = order;
    processes_.resize(s.processes.size() + 1);
    for (const cgroup_config &g : s.cgroups)
        cgroups_.insert(g.path);
}

defect checker::take(const operation &op)
{
    if (ended_)
        return {fmt::format("\"{}\" after \"end\"", op_word(op)), "\"end\" last"};
    if (defect e = check_order(op, order_))
        return e;
    return is_request(op.kind) ? take_request(op) : take_control(op);
}

defect checker::finish() const
{
    for (std::size_t p = 1; p < processes_.size(); p++)
        if (processes_[p].busy)
            return {fmt::format("process {} left with an operation under way", p),
                    "\"finish\" or \"run\" after \"begin\""};
    return {};
}

defect checker::check_process(u32 process) const
{
    if (process == 0 || process >= processes_.size())
        return {fmt::format("unknown process {}", process), fmt::format("1 to {}", processes_.size() - 1)};
    return {};
}

defect checker::check_idle(u32 process) const
{
    if (defect e = check_process(process))
        return e;
    if (processes_[process].busy)
        return {fmt::format("process {} has an operation under way", process),
                "\"finish\" or \"run\" before"};
    return {};
}

void checker::set_busy(u32 process, bool busy)
{
    if (processes_[process].busy == busy)
        return;
    processes_[process].busy = busy;
    busy ? busy_++ : busy_--;
}

defect checker::find_vm(u32 process, u32 label, vm_state *&vm)
{
    const auto found = vms_.find(label);

    if (found == vms_.end())
        return {fmt::format("unknown VM {}", label), "\"vm_open\" before"};
    if (!found->second.open)
        return {fmt::format("VM {} is closed", label), "an open VM"};
    if (found->second.process != process)
        return {fmt::format("VM {} belongs to process {}", label, found->second.process),
                fmt::format("a VM of process {}", process)};
    vm = &found->second;
    return {};
}

defect checker::check_handle(u32 label, const vm_state &vm, u64 bo) const
{
    if (vm.handles.contains(bo))
        return {};
    const auto found = bos_.find(bo);

    if (found == bos_.end())
        return {fmt::format("unknown BO {}", bo), "\"bo_create\" before"};
    return {fmt::format("VM {} has no BO {}", label, bo),
            found->second.handles ? "a BO shared with it" : "a BO that exists"};
}

defect checker::check_pinnable(u64 bo) const
{
    const u64 size = bos_.at(bo).size_bytes;

    if (size > system_.device.vram_size_bytes)
        return {fmt::format("BO {} of {} bytes can never be pinned", bo, size),
                fmt::format("at most VRAM's {}", system_.device.vram_size_bytes)};
    return {};
}

void checker::drop_handle(vm_state &vm, u64 bo)
{
    vm.handles.erase(bo);
    vm.checked.clear();
    bos_.at(bo).handles--;
}

defect checker::take_sleep(const operation &op)
{
    // Process 0 is the system, whose program is evict_all, swapout and set_limits.
    if (op.process != 0)
        if (defect e = check_process(op.process))
            return e;
    u64 &before = processes_[op.process].not_before_ns;

    if (op.at_ns < before)
        return {fmt::format("process {} sleeps until {}", op.process, op.at_ns),
                fmt::format("at least {}, as before", before)};
    before = op.at_ns;
    return {};
}

defect checker::take_control(const operation &op)
{
    vm_state *vm = nullptr;

    switch (op.kind) {
    case op_kind::step:
        return check_process(op.process);
    case op_kind::finish:
        if (defect e = check_process(op.process))
            return e;
        set_busy(op.process, false);
        return {};
    case op_kind::run:
        for (u32 p = 1; p < processes_.size(); p++)
            set_busy(p, false);
        return {};
    case op_kind::advance:
        if (op.at_ns < now_ns_)
            return {fmt::format("time goes back to {}", op.at_ns), fmt::format("at least {}", now_ns_)};
        now_ns_ = op.at_ns;
        return {};
    case op_kind::sleep:
        return take_sleep(op);
    case op_kind::cpu:
    case op_kind::vblank:
    case op_kind::frame:
        return check_idle(op.process);
    case op_kind::wait_back:
    case op_kind::flip:
        if (defect e = check_idle(op.process))
            return e;
        if (defect e = find_vm(op.process, op.vm, vm))
            return e;
        if (op.kind == op_kind::wait_back || op.bo == 0)
            return {};
        if (defect e = check_handle(op.vm, *vm, op.bo))
            return e;
        return check_pinnable(op.bo);
    case op_kind::evict_all:
    case op_kind::swapout:
    case op_kind::set_limits:
        if (busy_)
            return {fmt::format("\"{}\" with operations under way", op_word(op)),
                    "\"finish\" or \"run\" before"};
        if (op.kind != op_kind::set_limits)
            return {};
        if (!cgroups_.contains(op.cgroup.path))
            return {fmt::format("unknown cgroup \"{}\"", op.cgroup.path), "one of the header's"};
        return check_limits(op.cgroup);
    default: // end
        ended_ = true;
        return {};
    }
}

} // namespace vramlab::workload
