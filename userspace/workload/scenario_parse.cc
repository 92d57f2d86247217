// SPDX-License-Identifier: MIT
#include "workload/limits.h"
#include "workload/names.h"
#include "workload/reader.h"
#include "workload/scenario_parts.h"
#include "workload/settings.h"

#include <algorithm>
#include <fmt/format.h>

namespace vramlab::workload {

namespace {

constexpr std::size_t event_max = 65536;

void parse_top(toml_fields &f, scenario &s)
{
    f.integer("vramlab", format_version, format_version);
    s.name = f.name("name");
    s.description = f.text("description", text_max_bytes, "");
    s.url = f.text("url", text_max_bytes, "");
    s.reported = f.text("reported", text_max_bytes, "");
    s.chosen = f.text("chosen", text_max_bytes, "");
    s.order = f.choice<order_kind>("order", {{"time", order_kind::time}, {"file", order_kind::file}},
                                   order_kind::time);
    if (s.order == order_kind::time) {
        s.duration_ns = f.time("duration", 1, time_max_ns);
        s.end_by_time = f.choice<bool>("end", {{"time", true}, {"programs", false}}, true);
    }
    s.seed = f.integer("seed", 0, ~u64{0}, 1);
    s.scale = f.integer32("scale", 1, 4096, 1);
}

} // namespace

cgroup_config parse_cgroup_table(const toml::table &table, const std::string &file)
{
    toml_fields f(table, file, "cgroup");
    cgroup_config g;

    g.path = f.text("path", text_max_bytes);
    f.rename(fmt::format("cgroup \"{}\"", g.path));
    g.min_bytes = f.limit("min", 0);
    g.low_bytes = f.limit("low", 0);
    g.max_bytes = f.limit("max", ~u64{0});
    f.done();
    return g;
}

expectation parse_expectation(const toml::table &table, const std::string &file)
{
    toml_fields f(table, file, "expect");
    expectation e;

    e.line = f.line();
    e.metric = f.name("metric");
    e.process = f.name("process", "");
    e.relation = f.text("relation", name_max_bytes);
    if (!is_relation(e.relation))
        f.fail("relation", fmt::format("is \"{}\"", e.relation), relation_words);
    e.value = f.number("value");
    e.fails_on = f.text("fails_on", text_max_bytes, "");
    e.source = f.text("source", text_max_bytes, "");
    f.done();
    return e;
}

scenario parse_scenario(std::string_view text, const std::string &file, const std::vector<setting> &settings,
                        const std::string &dir)
{
    toml::table root = parse_toml(text, file);
    scenario s;

    apply_base(root, file, dir);
    apply_settings(root, file, settings);
    s.file = file;
    toml_fields f(root, file, "");

    parse_top(f, s);
    const toml::table *device = f.table("device");

    if (!device)
        f.fail("no table [device]", "it");
    parsed_device d = parse_device(*device, file, dir.empty() ? dir : dir + "/devices");
    s.device = d.device;
    s.caches = d.caches;
    for (const toml::table *t : f.tables("cgroup", cgroup_max))
        s.cgroups.push_back(parse_cgroup_table(*t, file));
    for (const toml::table *t : f.tables("process", process_max))
        s.processes.push_back(parse_process(*t, file));
    for (const toml::table *t : f.tables("event", event_max))
        s.events.push_back(parse_event(*t, file));
    for (const toml::table *t : f.tables("step", event_max))
        s.steps.push_back(parse_step(*t, file));
    for (const toml::table *t : f.tables("expect", expectation_max))
        s.expectations.push_back(parse_expectation(*t, file));
    f.has("parameters");
    f.has("sweep");
    f.done();
    std::stable_sort(s.events.begin(), s.events.end(),
                     [](const timed_event &a, const timed_event &b) { return a.at_ns < b.at_ns; });
    check_scenario(s);
    return s;
}

scenario read_scenario(const std::string &path, const std::vector<setting> &settings)
{
    return parse_scenario(read_text(path), path, settings, directory_of(path));
}

workload load(const std::string &path, const std::vector<setting> &settings)
{
    if (path.ends_with(".toml"))
        return expand(read_scenario(path, settings));
    if (!path.ends_with(".jsonl") && !path.ends_with(".jsonl.zst"))
        throw parse_error(path, 0, "unknown kind of file", "a name in .toml, .jsonl or .jsonl.zst");
    if (!settings.empty())
        throw parse_error(path, 0,
                          fmt::format("setting \"{}\" for an explicit workload", settings.front().path),
                          "settings with scenarios only");
    return read_file(path);
}

} // namespace vramlab::workload
