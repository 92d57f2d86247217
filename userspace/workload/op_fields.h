// SPDX-License-Identifier: MIT
// The keys of every operation, in canonical order, once for reading and writing: a codec's methods either
// fill the members from a line or print them (then the structs are const). Documentation/workload-format.rst
// has the same table.
#pragma once

#include "workload/limits.h"
#include "workload/workload.h"

namespace vramlab::workload {

template <typename codec, typename limits> void transfer_cgroup(codec &c, limits &g)
{
    c.limit("min", g.min_bytes, 0);
    c.limit("low", g.low_bytes, 0);
    c.limit("max", g.max_bytes, ~u64{0});
}

template <typename codec, typename any_request> void transfer_create(codec &c, any_request &r)
{
    c.integer("bo", r.bo, 1, ~u64{0});
    c.integer("size", r.size_bytes, 0, ~u64{0}); // judged by the checker
    c.domains("preferred", r.preferred, true);
    c.domains("allowed", r.allowed, false);
    c.flags("flags", r.flags);
    c.optional("priority", r.priority, 0, priority_max, priority_default);
}

// r.kind is set; the process is the operation's.
template <typename codec, typename any_request> void transfer_request(codec &c, any_request &r)
{
    constexpr u32 label_max = ~u32{0};

    c.integer("vm", r.vm, 1, label_max);
    switch (r.kind) {
    case request_kind::vm_open:
    case request_kind::vm_close:
        break;
    case request_kind::bo_create:
        transfer_create(c, r);
        break;
    case request_kind::bo_share:
        c.integer("bo", r.bo, 1, ~u64{0});
        c.integer("target_vm", r.target_vm, 1, label_max);
        break;
    case request_kind::bo_destroy:
    case request_kind::pin:
    case request_kind::unpin:
        c.integer("bo", r.bo, 1, ~u64{0});
        break;
    case request_kind::bo_set_priority:
        c.integer("bo", r.bo, 1, ~u64{0});
        c.integer("priority", r.priority, 0, priority_max);
        break;
    case request_kind::list_define:
        c.integer("id", r.id, 1, id_max);
        c.list("bos", r.bos);
        break;
    case request_kind::touch_define:
        c.integer("id", r.id, 1, id_max);
        c.touches("touches", r.touches);
        break;
    case request_kind::submit:
        c.optional("list", r.list, 1, id_max, 0);
        c.optional("touch", r.touch_set, 1, id_max, 0);
        c.optional("compute_ns", r.compute_ns, 0, compute_max_ns, 0);
        break;
    case request_kind::wait:
        c.optional("seqno", r.seqno, 1, ~u64{0}, 0);
        break;
    }
}

// op.kind and op.req.kind are set.
template <typename codec, typename any_operation> void transfer_operation(codec &c, any_operation &op)
{
    switch (op.kind) {
    case op_kind::request:
    case op_kind::begin:
        c.integer("p", op.process, 1, process_max);
        transfer_request(c, op.req);
        c.begin(op.kind);
        break;
    case op_kind::step:
    case op_kind::finish:
    case op_kind::frame:
        c.integer("p", op.process, 1, process_max);
        break;
    case op_kind::run:
        c.integer("seed", op.seed, 0, ~u64{0});
        break;
    case op_kind::advance:
    case op_kind::end:
        c.integer("at_ns", op.at_ns, 0, time_max_ns);
        break;
    case op_kind::sleep:
        c.integer("p", op.process, 0, process_max);
        c.integer("at_ns", op.at_ns, 0, time_max_ns);
        break;
    case op_kind::cpu:
        c.integer("p", op.process, 1, process_max);
        c.integer("for_ns", op.period_ns, 1, cpu_max_ns);
        break;
    case op_kind::vblank:
        c.integer("p", op.process, 1, process_max);
        c.integer("period_ns", op.period_ns, 1, time_max_ns);
        break;
    case op_kind::wait_back:
        c.integer("p", op.process, 1, process_max);
        c.integer("vm", op.vm, 1, ~u32{0});
        c.optional("back", op.back, 0, ~u32{0}, 0);
        break;
    case op_kind::flip:
        c.integer("p", op.process, 1, process_max);
        c.integer("vm", op.vm, 1, ~u32{0});
        c.integer("bo", op.bo, 0, ~u64{0});
        break;
    case op_kind::evict_all:
    case op_kind::swapout:
        break;
    case op_kind::set_limits:
        c.text("cgroup", op.cgroup.path);
        transfer_cgroup(c, op.cgroup);
        break;
    }
}

} // namespace vramlab::workload
