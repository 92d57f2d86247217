// SPDX-License-Identifier: MIT
#include "workload/expander.h"

#include "workload/checker.h"
#include "workload/limits.h"

#include <algorithm>
#include <fmt/format.h>

namespace vramlab::workload {

drawn_group *expanded_process::find_group(const std::string &name)
{
    for (drawn_group &g : groups)
        if (g.config->name == name)
            return &g;
    return nullptr;
}

expander::expander(const scenario &s, const expansion_limits &limits) : s_(s), limits_(limits) {}

void expander::fail(u32 line, const std::string &problem, const std::string &expected) const
{
    throw parse_error(s_.file, line, problem, expected);
}

void expander::push(operation op)
{
    if (program_.size() >= limits_.operations)
        fail(op.line, "the scenario expands to too many operations",
             fmt::format("at most {}", limits_.operations));
    program_.push_back({now_ns_, op.process, std::move(op)});
}

void expander::count_elements(u64 n)
{
    elements_ += n;
    if (elements_ > limits_.elements)
        fail(0, "the scenario expands to too many elements of lists and touch sets",
             fmt::format("at most {}", limits_.elements));
}

void expander::count_work(u64 n, u32 line)
{
    work_ += n + 1;
    if (work_ > limits_.work)
        fail(line, "the scenario takes too long to expand",
             fmt::format("at most {} BOs in all submissions", limits_.work));
}

void expander::make_system()
{
    const auto scaled_rate = [&](u64 rate) { return std::max(bandwidth_min, rate / s_.scale); };
    device_config &d = out_.system.device;

    d = s_.device;
    d.vram_size_bytes = scaled_size(d.vram_size_bytes, s_.scale);
    d.gtt_size_bytes = scaled_size(d.gtt_size_bytes, s_.scale);
    d.vram_bandwidth = scaled_rate(d.vram_bandwidth);
    d.link_bandwidth = scaled_rate(d.link_bandwidth);
    for (cgroup_config g : s_.cgroups) {
        for (u64 *limit : {&g.min_bytes, &g.low_bytes, &g.max_bytes})
            if (*limit && *limit != ~u64{0})
                *limit = scaled_size(*limit, s_.scale);
        out_.system.cgroups.push_back(std::move(g));
    }
}

void expander::make_processes()
{
    const rng random(s_.seed);
    u64 vms = 0;

    for (const process_spec &spec : s_.processes) {
        for (u32 copy = 0; copy < spec.count; copy++) {
            if (processes_.size() == process_max)
                fail(spec.line, "too many processes", fmt::format("at most {}", process_max));
            expanded_process &p = processes_.emplace_back();

            p.spec = &spec;
            p.number = static_cast<u32>(processes_.size());
            p.copy = copy;
            for (u32 v = 0; v < spec.vms; v++)
                p.vms.push_back(static_cast<u32>(++vms));
            if (vms > vm_max)
                fail(spec.line, "too many VMs", fmt::format("at most {}", vm_max));
            for (const group_config &g : spec.groups) {
                const u64 max_count = std::min<u64>({bo_max - (next_bo_ - 1), limits_.operations});
                const rng stream = random.fork(p.number).fork(p.groups.size() + 1);

                p.groups.push_back(draw_group(g, stream, s_, max_count));
                p.groups.back().first_bo = next_bo_;
                next_bo_ += p.groups.back().count();
            }
            const std::string name = spec.count == 1 ? spec.name : fmt::format("{}{}", spec.name, copy + 1);

            out_.system.processes.push_back({p.number, name, spec.cgroup});
        }
    }
}

void expander::link_clients()
{
    for (expanded_process &shower : processes_)
        for (expanded_process &client : processes_)
            if (client.spec->scanout == shower.spec->name)
                shower.clients.push_back({&client});
}

// Programs were written one after another: by time now, the lower process first, each in its own order.
void expander::merge()
{
    std::stable_sort(program_.begin(), program_.end(),
                     [](const timed_operation &a, const timed_operation &b) {
                         return a.at_ns != b.at_ns ? a.at_ns < b.at_ns : a.process < b.process;
                     });
}

void expander::check()
{
    checker c;

    if (const defect d = check_system(out_.system))
        fail(0, d.problem, d.expected);
    for (const expectation &e : out_.expectations)
        if (const defect d = check_expectations(out_.system, {e}))
            fail(e.line, d.problem, d.expected);
    c.reset(out_.system, out_.order);
    for (const operation &op : out_.operations)
        if (const defect d = c.take(op))
            fail(op.line, d.problem, d.expected);
    if (const defect d = c.finish())
        fail(0, d.problem, d.expected);
}

workload expander::run()
{
    out_.name = s_.name;
    out_.description = s_.description;
    out_.order = s_.order;
    out_.expectations = s_.expectations;
    make_system();
    make_processes();
    link_clients();
    if (s_.order == order_kind::file) {
        steps_program();
    } else {
        system_program();
        for (expanded_process &p : processes_)
            time_program(p);
        merge();
    }
    out_.operations.reserve(program_.size() + 1);
    for (timed_operation &t : program_)
        out_.operations.push_back(std::move(t.op));
    if (s_.order == order_kind::time && s_.end_by_time) {
        operation end = make(op_kind::end, 0, 0);

        end.at_ns = s_.duration_ns;
        out_.operations.push_back(end);
    }
    check();
    return std::move(out_);
}

workload expand(const scenario &s, const expansion_limits &limits)
{
    return expander(s, limits).run();
}

} // namespace vramlab::workload
