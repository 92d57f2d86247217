// SPDX-License-Identifier: MIT
// What must hold between the parts of a scenario. What expansion would find out by itself (cgroups, BOs that
// never fit) is left to the checker.
#include "workload/names.h"
#include "workload/scenario_parts.h"

#include <fmt/format.h>
#include <map>
#include <set>

namespace vramlab::workload {

namespace {

[[noreturn]] void fail(const scenario &s, u32 line, const std::string &problem, const std::string &expected)
{
    throw parse_error(s.file, line, problem, expected);
}

process_spec *find_process(scenario &s, const std::string &name)
{
    for (process_spec &p : s.processes)
        if (p.name == name)
            return &p;
    return nullptr;
}

process_spec &need_process(scenario &s, u32 line, const std::string &name)
{
    process_spec *p = find_process(s, name);

    if (!p)
        fail(s, line, fmt::format("unknown process \"{}\"", name), "a [[process]]");
    return *p;
}

group_config &need_group(scenario &s, u32 line, process_spec &p, const std::string &name)
{
    for (group_config &g : p.groups)
        if (g.name == name)
            return g;
    fail(s, line, fmt::format("unknown group \"{}\" of process \"{}\"", name, p.name), "a [[process.group]]");
}

void check_groups(const scenario &s, const process_spec &p)
{
    std::set<std::string> names;

    for (const group_config &g : p.groups) {
        if (!names.insert(g.name).second)
            fail(s, g.line, fmt::format("group \"{}\" of process \"{}\" twice", g.name, p.name), "each once");
        if (g.vm > p.vms)
            fail(s, g.line, fmt::format("group \"{}\" in VM {}", g.name, g.vm),
                 fmt::format("1 to {}, the process's vms", p.vms));
    }
}

// The swapchain, who shows it, and how the process comes to an end.
void check_present(scenario &s, process_spec &p)
{
    if (!p.scanout.empty() && p.swapchain.empty())
        fail(s, p.line, fmt::format("process \"{}\": scanout without swapchain", p.name), "both");
    if (!p.swapchain.empty()) {
        const group_config &g = need_group(s, p.line, p, p.swapchain);

        if (g.vm != 1)
            fail(s, g.line, fmt::format("swapchain \"{}\" in VM {}", g.name, g.vm), "VM 1");
        if (s.order == order_kind::file && !p.scanout.empty() && p.scanout != "self")
            fail(s, p.line, fmt::format("process \"{}\" is shown by \"{}\"", p.name, p.scanout),
                 "order \"time\", or scanout = \"self\"");
        if (!p.scanout.empty() && p.scanout != "self" && g.flags & bo_vm_private)
            fail(s, g.line,
                 fmt::format("group \"{}\" is private and a swapchain that \"{}\" shows", g.name, p.scanout),
                 "private = false");
    }
    if (!p.scanout.empty() && p.scanout != "self") {
        const process_spec &shower = need_process(s, p.line, p.scanout);

        // At equal times the lower number goes first: the compositor must have its VM before it is given
        // images.
        if (&shower >= &p || shower.start_ns > p.start_ns || shower.count != 1)
            fail(s, p.line, fmt::format("process \"{}\" is shown by \"{}\"", p.name, p.scanout),
                 "a single process that is written before it and starts no later");
    }
    if (s.order == order_kind::time && p.submissions && p.present != present_kind::fifo && !p.max_fps &&
        !p.frames)
        fail(s, p.line, fmt::format("process \"{}\" without end", p.name),
             "max_fps or frames, or present = \"fifo\"");
}

bool is_shown_by(const scenario &s, const std::string &name)
{
    for (const process_spec &p : s.processes)
        if (p.scanout == name)
            return true;
    return false;
}

void check_processes(scenario &s)
{
    std::set<std::string> names;

    if (s.processes.empty())
        fail(s, 0, "no process", "a [[process]]");
    for (process_spec &p : s.processes) {
        if (p.name == "self")
            fail(s, p.line, "process \"self\"", "another name: it means the process itself in scanout");
        for (u32 i = 1; i <= p.count; i++)
            if (!names.insert(p.count == 1 ? p.name : fmt::format("{}{}", p.name, i)).second)
                fail(s, p.line, fmt::format("process \"{}\" twice", p.name),
                     "each once, copies numbered from 1");
        check_groups(s, p);
        check_present(s, p);
        if (p.direct_scanout && !is_shown_by(s, p.name))
            fail(s, p.line, fmt::format("process \"{}\": direct_scanout", p.name),
                 "a process whose scanout it is");
    }
}

// When each group that events create is there: until (never_ns: for good).
using lifetimes = std::map<const group_config *, u64>;

void check_event(scenario &s, timed_event &e, lifetimes &until)
{
    if (s.order == order_kind::file)
        fail(s, e.line, "event in a scenario of order \"file\"", "steps");
    if (e.process.empty())
        return;
    process_spec &p = need_process(s, e.line, e.process);

    if (e.at_ns < p.start_ns)
        fail(s, e.line, fmt::format("event before process \"{}\" starts", p.name),
             fmt::format("at {} ns or later", p.start_ns));
    if (e.group.empty())
        return;
    group_config &g = need_group(s, e.line, p, e.group);

    if (e.kind == event_kind::set_priority) {
        if (!(g.flags & bo_vm_private))
            fail(s, e.line, fmt::format("priority of group \"{}\", which is not private", g.name),
                 "a private group");
        return;
    }
    if (g.name == p.swapchain)
        fail(s, e.line, fmt::format("group \"{}\" is the swapchain", g.name), "another group");
    if (const auto [before, is_new] = until.try_emplace(&g, 0); !is_new && e.at_ns <= before->second)
        fail(s, e.line, fmt::format("group \"{}\" exists already then", g.name), "a time after its burst");
    until[&g] = e.kind == event_kind::grow ? never_ns : e.at_ns + e.for_ns;
    g.deferred = true;
}

void check_step(scenario &s, scripted_step &t)
{
    if (s.order == order_kind::time)
        fail(s, t.line, "step in a scenario of order \"time\"", "events, or order = \"file\"");
    if (t.process.empty())
        return;
    process_spec &p = need_process(s, t.line, t.process);

    if (t.group.empty())
        return;
    group_config &g = need_group(s, t.line, p, t.group);

    if (t.kind == step_kind::create)
        g.deferred = true;
}

} // namespace

void check_scenario(scenario &s)
{
    check_processes(s);
    lifetimes until;

    for (timed_event &e : s.events)
        check_event(s, e, until);
    for (scripted_step &t : s.steps)
        check_step(s, t);
}

} // namespace vramlab::workload
