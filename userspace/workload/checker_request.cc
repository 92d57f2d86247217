// SPDX-License-Identifier: MIT
// The part of the checker that follows requests: VMs, BOs and who holds them, lists and touch sets, pins.
#include "workload/checker.h"
#include "workload/limits.h"
#include "workload/names.h"

#include <algorithm>
#include <fmt/format.h>

namespace vramlab::workload {

namespace {

// A BO that no placement of its can ever hold.
defect check_fits(const request &r, const device_config &d)
{
    const u32 allowed = effective_allowed(r.preferred, r.allowed);
    u64 room = 0;

    if (allowed & domain_system)
        return {};
    if (allowed & domain_vram)
        room = std::max(room, d.vram_size_bytes);
    if (allowed & domain_gtt)
        room = std::max(room, d.gtt_size_bytes);
    if (r.size_bytes > room)
        return {fmt::format("BO {} of {} bytes can never fit in \"{}\"", r.bo, r.size_bytes,
                            domains_text(allowed)),
                fmt::format("at most {}", room)};
    return {};
}

u64 nanoseconds(u64 bytes, u64 bandwidth)
{
    return static_cast<u64>(u128{bytes} * ns_per_s / bandwidth) + 1;
}

} // namespace

defect checker::take_request(const operation &op)
{
    const request &r = op.req;

    if (r.process != op.process)
        return {fmt::format("request of process {} in an operation of process {}", r.process, op.process),
                "the same"};
    if (defect e = check_idle(r.process))
        return e;
    if (op.kind == op_kind::begin)
        set_busy(r.process, true);
    if (r.kind == request_kind::vm_open)
        return take_vm_open(r);
    vm_state *vm = nullptr;

    if (defect e = find_vm(r.process, r.vm, vm))
        return e;
    return take_on_vm(r, *vm);
}

defect checker::take_vm_open(const request &r)
{
    if (r.vm == 0)
        return {"VM 0", "a label from 1"};
    if (vms_.size() == vm_max)
        return {"too many VMs", fmt::format("at most {}", vm_max)};
    const auto [vm, is_new] = vms_.try_emplace(r.vm);

    if (!is_new)
        return {fmt::format("VM {} opened twice", r.vm), "a label not used before"};
    vm->second.process = r.process;
    return {};
}

defect checker::take_on_vm(const request &r, vm_state &vm)
{
    switch (r.kind) {
    case request_kind::vm_close:
        for (const auto &[bo, pins] : vm.handles)
            bos_.at(bo).handles--;
        vm = {.process = vm.process, .open = false};
        return {};
    case request_kind::bo_create:
        return take_create(r, vm);
    case request_kind::list_define:
        if (r.id == 0 || r.id > id_max || r.bos.size() > list_max)
            return {fmt::format("list {} of {} BOs", r.id, r.bos.size()),
                    fmt::format("1 to {}, of at most {}", id_max, list_max)};
        vm.lists[r.id] = {next_version_++, r.bos};
        return {};
    case request_kind::touch_define:
        if (r.id == 0 || r.id > id_max || r.touches.size() > list_max)
            return {fmt::format("touch set {} of {} BOs", r.id, r.touches.size()),
                    fmt::format("1 to {}, of at most {}", id_max, list_max)};
        vm.touch_sets[r.id] = {next_version_++, r.touches};
        return {};
    case request_kind::submit:
        return take_submit(r, vm);
    case request_kind::wait:
        if (r.seqno > vm.submissions)
            return {fmt::format("wait for submission {} of VM {}", r.seqno, r.vm),
                    fmt::format("at most {}, as many as there are", vm.submissions)};
        return {};
    default:
        break;
    }
    // The rest is about a BO that the VM has.
    if (defect e = check_handle(r.vm, vm, r.bo))
        return e;
    switch (r.kind) {
    case request_kind::bo_share:
        return take_share(r);
    case request_kind::bo_destroy:
        drop_handle(vm, r.bo);
        return {};
    case request_kind::bo_set_priority:
        if (!(bos_.at(r.bo).flags & bo_vm_private))
            return {fmt::format("priority of BO {}, which is not private", r.bo),
                    "a BO with flag \"private\""};
        if (r.priority > priority_max)
            return {fmt::format("priority {}", r.priority), fmt::format("0 to {}", priority_max)};
        return {};
    default:
        return take_pin(r, vm);
    }
}

defect checker::take_create(const request &r, vm_state &vm)
{
    if (r.bo == 0)
        return {"BO 0", "a tag from 1"};
    if (r.size_bytes == 0 || r.size_bytes % page_bytes || r.size_bytes > size_max_bytes)
        return {fmt::format("BO {} of {} bytes", r.bo, r.size_bytes),
                fmt::format("a multiple of {} from {} to {}", page_bytes, page_bytes, size_max_bytes)};
    if (r.preferred == 0 || r.preferred & ~domain_mask)
        return {fmt::format("BO {} with preferred domains {}", r.bo, r.preferred), domain_words};
    if (r.allowed && (r.allowed & ~domain_mask || (r.allowed & r.preferred) != r.preferred))
        return {fmt::format("BO {} allowed in \"{}\"", r.bo, domains_text(r.allowed)),
                fmt::format("the preferred \"{}\" among them", domains_text(r.preferred))};
    if (r.flags & ~bo_flags_mask)
        return {fmt::format("BO {} with flags {}", r.bo, r.flags), flag_words};
    if (r.priority > priority_max)
        return {fmt::format("BO {} with priority {}", r.bo, r.priority),
                fmt::format("0 to {}", priority_max)};
    if (defect e = check_fits(r, system_.device))
        return e;
    if (bos_.size() == bo_max)
        return {"too many BOs", fmt::format("at most {}", bo_max)};
    if (!bos_.try_emplace(r.bo, bo_state{r.size_bytes, r.flags, 1}).second)
        return {fmt::format("BO {} created twice", r.bo), "a tag not used before"};
    vm.handles.emplace(r.bo, 0);
    return {};
}

defect checker::take_share(const request &r)
{
    const auto target = vms_.find(r.target_vm);

    if (target == vms_.end() || !target->second.open)
        return {fmt::format("BO {} shared with VM {}, which is {}", r.bo, r.target_vm,
                            target == vms_.end() ? "unknown" : "closed"),
                "an open VM"};
    if (bos_.at(r.bo).flags & bo_vm_private)
        return {fmt::format("BO {} shared, which is private", r.bo), "a BO without flag \"private\""};
    if (!target->second.handles.emplace(r.bo, 0).second)
        return {fmt::format("BO {} shared with VM {}, which has it", r.bo, r.target_vm), "another VM"};
    bos_.at(r.bo).handles++;
    return {};
}

defect checker::take_pin(const request &r, vm_state &vm)
{
    u32 &pins = vm.handles.at(r.bo);

    if (r.kind == request_kind::pin) {
        if (defect e = check_pinnable(r.bo))
            return e;
        pins++;
        return {};
    }
    if (pins == 0)
        return {fmt::format("VM {} has no pin on BO {}", r.vm, r.bo), "\"pin\" before"};
    pins--;
    return {};
}

// Every listed BO is held and not private; every touched one is private or listed.
defect checker::check_memory(const request &r, const vm_state &vm, const std::vector<u64> &list,
                             const std::vector<touch> &touches, u64 &longest_ns) const
{
    std::unordered_set<u64> listed;
    u64 vram_bytes = 0;
    u64 link_bytes = 0;

    for (u64 bo : list) {
        if (defect e = check_handle(r.vm, vm, bo))
            return e;
        if (bos_.at(bo).flags & bo_vm_private)
            return {fmt::format("list {} of VM {} has BO {}, which is private", r.list, r.vm, bo),
                    "BOs without flag \"private\""};
        if (!touches.empty())
            listed.insert(bo);
    }
    for (const touch &t : touches) {
        if (defect e = check_handle(r.vm, vm, t.bo))
            return e;
        if (!(bos_.at(t.bo).flags & bo_vm_private) && !listed.contains(t.bo))
            return {fmt::format("touch set {} of VM {} has BO {}, which is neither private nor listed",
                                r.touch_set, r.vm, t.bo),
                    "a private or listed BO"};
        if (t.vram_bytes > size_max_bytes - vram_bytes || t.link_bytes > size_max_bytes - link_bytes)
            return {fmt::format("touch set {} of VM {} is too large", r.touch_set, r.vm),
                    fmt::format("at most {} bytes in all", size_max_bytes)};
        vram_bytes += t.vram_bytes;
        link_bytes += t.link_bytes;
    }
    longest_ns = nanoseconds(vram_bytes, system_.device.vram_bandwidth) +
                 nanoseconds(link_bytes, system_.device.link_bandwidth);
    return {};
}

defect checker::take_submit(const request &r, vm_state &vm)
{
    static const std::vector<u64> no_list;
    static const std::vector<touch> no_touches;
    const auto list = vm.lists.find(r.list);
    const auto touches = vm.touch_sets.find(r.touch_set);
    const bool has_list = r.list != 0;
    const bool has_touches = r.touch_set != 0;

    if (has_list && list == vm.lists.end())
        return {fmt::format("unknown list {} of VM {}", r.list, r.vm), "\"list_define\" before"};
    if (has_touches && touches == vm.touch_sets.end())
        return {fmt::format("unknown touch set {} of VM {}", r.touch_set, r.vm), "\"touch_define\" before"};
    if (r.compute_ns > compute_max_ns)
        return {fmt::format("compute_ns {}", r.compute_ns), fmt::format("at most {}", compute_max_ns)};
    const u64 key = (has_list ? list->second.first : 0) << 32 | (has_touches ? touches->second.first : 0);
    auto checked = vm.checked.find(key);

    if (checked == vm.checked.end()) {
        u64 longest_ns = 0;

        if (defect e = check_memory(r, vm, has_list ? list->second.second : no_list,
                                    has_touches ? touches->second.second : no_touches, longest_ns))
            return e;
        if (vm.checked.size() >= 256) // sets redefined every frame leave stale ones behind
            vm.checked.clear();
        checked = vm.checked.emplace(key, longest_ns).first;
    }
    total_job_ns_ += checked->second + r.compute_ns;
    if (total_job_ns_ > total_job_max_ns)
        return {"the jobs take too long", fmt::format("at most {} ns in all", total_job_max_ns)};
    vm.submissions++;
    return {};
}

} // namespace vramlab::workload
