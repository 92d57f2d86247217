// SPDX-License-Identifier: MIT
#include "runner/shrink.h"

#include <algorithm>
#include <map>
#include <set>

namespace vramlab::runner {

namespace {

using workload::op_kind;
using workload::operation;

class filter {
public:
    explicit filter(const workload::workload &w) : w_(w) {}
    workload::workload run();

private:
    struct vm_state {
        u32 process = 0;
        std::set<u64> handles;
        std::multiset<u64> pins;
        std::map<u32, std::vector<u64>> lists;
        std::map<u32, std::vector<touch>> touches;
        u64 submissions = 0;
    };

    bool take(operation &op);
    bool take_request(request &r);
    bool take_submit(request &r, vm_state &vm);
    bool process_exists(u32 process) const
    {
        return std::any_of(w_.system.processes.begin(), w_.system.processes.end(),
                           [&](const process_config &p) { return p.process == process; });
    }

    const workload::workload &w_;
    std::map<u32, vm_state> vms_;
    std::map<u64, u32> flags_; // of BOs
    std::set<u32> busy_;
    u64 now_ns_ = 0;
};

bool filter::take_submit(request &r, vm_state &vm)
{
    const auto list = vm.lists.find(r.list);
    const auto touches = vm.touches.find(r.touch_set);
    static const std::vector<u64> empty;
    if (r.list && list == vm.lists.end())
        r.list = 0;
    const std::vector<u64> &listed = r.list ? list->second : empty;
    for (const u64 bo : listed)
        if (!vm.handles.contains(bo))
            return false;
    if (touches == vm.touches.end())
        r.touch_set = 0;
    if (r.touch_set)
        for (const touch &t : touches->second)
            if (!vm.handles.contains(t.bo) || (!(flags_[t.bo] & bo_vm_private) &&
                                               std::find(listed.begin(), listed.end(), t.bo) == listed.end()))
                r.touch_set = 0;
    vm.submissions++;
    return true;
}

bool filter::take_request(request &r)
{
    if (!process_exists(r.process) || busy_.contains(r.process))
        return false;
    if (r.kind == request_kind::vm_open) {
        if (!vms_.contains(r.vm))
            vms_[r.vm].process = r.process;
        return true;
    }
    const auto found = vms_.find(r.vm);
    if (found == vms_.end())
        return false;
    vm_state &vm = found->second;
    switch (r.kind) {
    case request_kind::vm_close:
        vms_.erase(found);
        return true;
    case request_kind::bo_create:
        vm.handles.insert(r.bo);
        flags_[r.bo] = r.flags;
        return true;
    case request_kind::list_define:
        std::erase_if(r.bos, [&](u64 bo) { return !vm.handles.contains(bo); });
        vm.lists[r.id] = r.bos;
        return true;
    case request_kind::touch_define:
        std::erase_if(r.touches, [&](const touch &t) { return !vm.handles.contains(t.bo); });
        vm.touches[r.id] = r.touches;
        return true;
    case request_kind::submit:
        return take_submit(r, vm);
    case request_kind::wait:
        r.seqno = std::min(r.seqno, vm.submissions);
        return true;
    default:
        break;
    }
    if (!vm.handles.contains(r.bo))
        return false;
    switch (r.kind) {
    case request_kind::bo_share: {
        const auto target = vms_.find(r.target_vm);
        return target != vms_.end() && target->second.handles.insert(r.bo).second;
    }
    case request_kind::bo_destroy:
        vm.handles.erase(r.bo);
        vm.pins.erase(r.bo);
        return true;
    case request_kind::pin:
        vm.pins.insert(r.bo);
        return true;
    case request_kind::unpin: {
        const auto pin = vm.pins.find(r.bo);
        if (pin == vm.pins.end())
            return false;
        vm.pins.erase(pin);
        return true;
    }
    default:
        return true;
    }
}

bool filter::take(operation &op)
{
    switch (op.kind) {
    case op_kind::request:
        return take_request(op.req);
    case op_kind::begin:
        if (!take_request(op.req))
            return false;
        busy_.insert(op.req.process);
        return true;
    case op_kind::step:
        return busy_.contains(op.process);
    case op_kind::finish:
        return busy_.erase(op.process) > 0;
    case op_kind::run: {
        const bool needed = !busy_.empty();
        busy_.clear();
        return needed;
    }
    case op_kind::advance:
        if (op.at_ns < now_ns_)
            return false;
        now_ns_ = op.at_ns;
        return true;
    case op_kind::evict_all:
    case op_kind::swapout:
        return busy_.empty();
    case op_kind::set_limits:
        return busy_.empty() && std::any_of(w_.system.cgroups.begin(), w_.system.cgroups.end(),
                                            [&](const cgroup_config &c) { return c.path == op.cgroup.path; });
    case op_kind::wait_back:
    case op_kind::flip: {
        const auto vm = vms_.find(op.vm);
        return process_exists(op.process) && !busy_.contains(op.process) && vm != vms_.end() &&
               (op.bo == 0 || vm->second.handles.contains(op.bo));
    }
    default:
        return true;
    }
}

workload::workload filter::run()
{
    workload::workload out = w_;
    out.operations.clear();
    for (operation op : w_.operations)
        if (take(op))
            out.operations.push_back(std::move(op));
    if (!busy_.empty()) {
        operation end;
        end.kind = op_kind::run;
        end.seed = 1;
        out.operations.push_back(end);
    }
    return out;
}

} // namespace

workload::workload make_well_formed(const workload::workload &w)
{
    return filter(w).run();
}

} // namespace vramlab::runner
