// SPDX-License-Identifier: MIT
// Single operations: VMs, BOs, sleeps, limits.
#include "workload/expander.h"

#include "workload/limits.h"

namespace vramlab::workload {

operation expander::make(op_kind kind, u32 process, u32 line) const
{
    operation op;

    op.kind = kind;
    op.process = process;
    op.line = line;
    return op;
}

// Pushes a request of the process's VM; the caller fills in the rest.
request &expander::request_of(expanded_process &p, u32 vm, request_kind kind, u32 line)
{
    operation op = make(op_kind::request, p.number, line);

    op.req.kind = kind;
    op.req.process = p.number;
    op.req.vm = vm;
    push(std::move(op));
    return last().req;
}

void expander::open_vms(expanded_process &p)
{
    for (u32 vm : p.vms)
        request_of(p, vm, request_kind::vm_open, p.spec->line);
}

void expander::create_bo(expanded_process &p, drawn_group &g, u32 bo)
{
    const group_config &c = *g.config;
    request &r = request_of(p, p.vms[c.vm - 1], request_kind::bo_create, c.line);

    r.bo = g.tag(bo);
    r.size_bytes = g.sizes_bytes[bo];
    r.preferred = c.preferred;
    r.allowed = c.allowed;
    r.flags = c.flags;
    r.priority = c.priority;
}

void expander::create_group(expanded_process &p, drawn_group &g)
{
    for (u32 bo : g.creation)
        create_bo(p, g, bo);
    g.alive = true;
}

// All groups but those that come later, the swapchain first: it must be shared before anybody may ask for it.
void expander::create_groups(expanded_process &p)
{
    std::vector<std::pair<drawn_group *, u32>> order;
    u32 rounds = 0;

    for (drawn_group &g : p.groups) {
        if (g.alive || g.config->deferred)
            continue;
        rounds = std::max(rounds, g.count());
        if (p.spec->allocation == allocation_kind::interleaved)
            continue;
        for (u32 bo : g.creation)
            order.emplace_back(&g, bo);
    }
    if (p.spec->allocation == allocation_kind::interleaved)
        for (u32 i = 0; i < rounds; i++)
            for (drawn_group &g : p.groups)
                if (!g.alive && !g.config->deferred && i < g.count())
                    order.emplace_back(&g, g.creation[i]);
    if (p.spec->allocation == allocation_kind::shuffled)
        rng(s_.seed).fork(p.number).fork(0).shuffle(order);
    for (const auto &[g, bo] : order)
        create_bo(p, *g, bo);
    for (drawn_group &g : p.groups)
        g.alive = g.alive || !g.config->deferred;
}

void expander::destroy_group(expanded_process &p, drawn_group &g)
{
    for (u32 bo : g.creation)
        request_of(p, p.vms[g.config->vm - 1], request_kind::bo_destroy, g.config->line).bo = g.tag(bo);
    g.alive = false;
}

void expander::sleep_until(u32 process, u64 at_ns, u32 line)
{
    operation op = make(op_kind::sleep, process, line);

    op.at_ns = at_ns;
    push(std::move(op));
}

void expander::set_limits(const cgroup_config &g, u32 line)
{
    operation op = make(op_kind::set_limits, 0, line);

    op.cgroup = g;
    for (u64 *limit : {&op.cgroup.min_bytes, &op.cgroup.low_bytes, &op.cgroup.max_bytes})
        if (*limit && *limit != ~u64{0})
            *limit = scaled_size(*limit, s_.scale);
    push(std::move(op));
}

} // namespace vramlab::workload
