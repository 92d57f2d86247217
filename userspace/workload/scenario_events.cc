// SPDX-License-Identifier: MIT
// Timed events and scripted steps.
#include "workload/limits.h"
#include "workload/names.h"
#include "workload/scenario_parts.h"

#include <fmt/format.h>

namespace vramlab::workload {

namespace {

void parse_limits(toml_fields &f, cgroup_config &g)
{
    g.path = f.text("cgroup", text_max_bytes);
    g.min_bytes = f.limit("min", 0);
    g.low_bytes = f.limit("low", 0);
    g.max_bytes = f.limit("max", ~u64{0});
}

} // namespace

timed_event parse_event(const toml::table &table, const std::string &file)
{
    toml_fields f(table, file, "event");
    timed_event e;

    e.line = f.line();
    e.kind = f.choice<event_kind>("do", {{"pause", event_kind::pause},
                                         {"grow", event_kind::grow},
                                         {"burst", event_kind::burst},
                                         {"set_priority", event_kind::set_priority},
                                         {"exit", event_kind::exit},
                                         {"evict_all", event_kind::evict_all},
                                         {"suspend", event_kind::suspend},
                                         {"swapout", event_kind::swapout},
                                         {"set_limits", event_kind::set_limits}});
    e.at_ns = f.time("at", 0, time_max_ns);
    switch (e.kind) {
    case event_kind::pause:
        e.process = f.name("process");
        e.for_ns = f.time("for", 1, time_max_ns);
        break;
    case event_kind::burst:
        e.for_ns = f.time("for", 1, time_max_ns);
        [[fallthrough]];
    case event_kind::grow:
        e.process = f.name("process");
        e.group = f.name("group");
        break;
    case event_kind::set_priority:
        e.process = f.name("process");
        e.group = f.name("group");
        e.priority = f.integer32("priority", 0, priority_max);
        break;
    case event_kind::exit:
        e.process = f.name("process");
        break;
    case event_kind::suspend:
        e.for_ns = f.time("for", 1, time_max_ns);
        break;
    case event_kind::evict_all:
    case event_kind::swapout:
        break;
    case event_kind::set_limits:
        parse_limits(f, e.cgroup);
        break;
    }
    f.done();
    return e;
}

scripted_step parse_step(const toml::table &table, const std::string &file)
{
    toml_fields f(table, file, "step");
    scripted_step s;

    s.line = f.line();
    s.kind = f.choice<step_kind>("do", {{"create", step_kind::create},
                                        {"destroy", step_kind::destroy},
                                        {"pin", step_kind::pin},
                                        {"unpin", step_kind::unpin},
                                        {"submit", step_kind::submit},
                                        {"wait", step_kind::wait},
                                        {"round", step_kind::round},
                                        {"evict_all", step_kind::evict_all},
                                        {"swapout", step_kind::swapout},
                                        {"advance", step_kind::advance},
                                        {"set_limits", step_kind::set_limits}});
    s.repeat = f.integer32("repeat", 1, 1'000'000, 1);
    switch (s.kind) {
    case step_kind::destroy:
    case step_kind::pin:
    case step_kind::unpin:
        s.all = !f.has("bo");
        s.bo = f.integer32("bo", 1, bo_max, 1);
        [[fallthrough]];
    case step_kind::create:
        s.process = f.name("process");
        s.group = f.name("group");
        break;
    case step_kind::submit:
    case step_kind::wait:
        s.process = f.name("process", "");
        break;
    case step_kind::advance:
        s.by_ns = f.time("by", 1, time_max_ns);
        break;
    case step_kind::set_limits:
        parse_limits(f, s.cgroup);
        break;
    case step_kind::round:
        s.by_ns = f.time("by", 0, time_max_ns, 0);
        break;
    case step_kind::evict_all:
    case step_kind::swapout:
        break;
    }
    f.done();
    return s;
}

} // namespace vramlab::workload
