// SPDX-License-Identifier: MIT
#include "calibration/plan.h"

#include "calibration/plan_limits.h"
#include "report/metrics.h"
#include "workload/settings.h"
#include "workload/toml_fields.h"

#include <fmt/format.h>

#include <algorithm>

namespace vramlab::calibration {

using workload::toml_fields;

namespace {

quantity parse_unit(toml_fields &f)
{
    return f.choice<quantity>("unit", {{"size", quantity::size},
                                       {"time", quantity::time},
                                       {"count", quantity::count},
                                       {"per mille", quantity::per_mille},
                                       {"rate", quantity::rate}});
}

u64 parse_value(toml_fields &f, std::string_view key, quantity unit, u64 first,
                std::optional<u64> otherwise = {})
{
    const u64 last = quantity_max(unit);
    switch (unit) {
    case quantity::size:
    case quantity::rate:
        return f.size(key, first, last, otherwise);
    case quantity::time:
        return f.time(key, first, last, otherwise);
    case quantity::count:
    case quantity::per_mille:
        break;
    }
    return f.integer(key, first, last, otherwise);
}

std::vector<std::string> parse_paths(toml_fields &f)
{
    if (f.has("path") == f.has("paths"))
        f.fail("both or neither of \"path\" and \"paths\"", "one of them");
    if (f.has("path"))
        return {f.text("path", text_max)};
    return f.texts("paths", path_max);
}

void check_metric(toml_fields &f, const std::string &metric)
{
    const report::metrics of_nothing({});
    if (!of_nothing.value(metric))
        f.fail("metric", fmt::format("is \"{}\"", metric), "a name of Documentation/metrics.rst");
}

datum parse_datum(const toml::table &table, const std::string &file)
{
    toml_fields f(table, file, "data");
    datum d;
    d.name = f.text("name", text_max);
    d.demand_bytes = f.size("demand", 1, workload::size_max_bytes);
    d.metric = f.text("metric", text_max);
    check_metric(f, d.metric);
    d.value = f.number("value");
    if (d.value <= 0)
        f.fail("value", "is not positive", "what was measured");
    d.source = f.text("source", text_max);
    f.done(keys);
    return d;
}

scalar parse_scalar(const toml::table &table, const std::string &file)
{
    toml_fields f(table, file, "fit");
    scalar s;
    s.name = f.text("name", text_max);
    s.description = f.text("description", text_max, "");
    s.unit = parse_unit(f);
    s.paths = parse_paths(f);
    s.divide = f.integer("divide", 1, 4096, 1);
    s.first = parse_value(f, "first", s.unit, 0);
    s.last = parse_value(f, "last", s.unit, s.first + 1);
    f.done(keys);
    return s;
}

choice parse_choice(const toml::table &table, const std::string &file)
{
    toml_fields f(table, file, "choice");
    choice c;
    c.path = f.text("path", text_max);
    c.value = f.text("value", text_max);
    c.source = f.text("source", text_max);
    f.done(keys);
    return c;
}

prior parse_prior(const toml::table &table, const std::string &file)
{
    toml_fields f(table, file, "prior");
    prior p;
    p.name = f.text("name", text_max);
    f.rename(fmt::format("prior \"{}\"", p.name));
    p.unit = parse_unit(f);
    p.paths = parse_paths(f);
    p.value = parse_value(f, "value", p.unit, 0);
    p.first = parse_value(f, "first", p.unit, 0, std::min<u64>(1, p.value));
    if (p.first > p.value)
        f.fail("first", "is more than the value", "the least that draws may make of it");
    p.vary = f.boolean("vary", true);
    p.source = f.text("source", text_max);
    f.done(keys);
    return p;
}

std::vector<std::string> parse_settings(toml_fields &f)
{
    if (!f.has("settings"))
        return {};
    std::vector<std::string> settings = f.texts("settings", item_max);
    for (const std::string &s : settings)
        workload::parse_setting(s);
    return settings;
}

draw_plan parse_draws(const toml::table &table, const std::string &file)
{
    toml_fields f(table, file, "draws");
    draw_plan d;
    d.policies = f.texts("policies", item_max);
    d.demands_bytes = f.sizes("demands", 1, workload::size_max_bytes, item_max);
    d.metric = f.text("metric", text_max);
    check_metric(f, d.metric);
    d.links = f.sizes("links", 1, workload::bandwidth_max, item_max);
    d.link_path = f.text("link_path", text_max);
    d.link_source = f.text("link_source", text_max);
    d.settings = parse_settings(f);
    d.spread_per_mille = f.integer32("spread", 0, 1000);
    d.tie_per_mille = f.integer32("tie", 0, 1000);
    d.wanted_per_mille = f.integer32("wanted", 0, 1000);
    f.done(keys);
    return d;
}

template <typename item>
std::vector<item> parse_all(toml_fields &f, std::string_view key, const std::string &file,
                            item (*parse)(const toml::table &, const std::string &))
{
    std::vector<item> out;
    for (const toml::table *t : f.tables(key, item_max))
        out.push_back(parse(*t, file));
    return out;
}

template <typename item>
std::array<item, scalar_count> exactly(toml_fields &f, std::string_view key, std::vector<item> items)
{
    if (items.size() != scalar_count)
        f.fail(fmt::format("{} tables [[{}]]", items.size(), key),
               fmt::format("{}: as many scalars as data", scalar_count));
    std::array<item, scalar_count> out;
    std::move(items.begin(), items.end(), out.begin());
    return out;
}

} // namespace

std::string quantity_text(quantity q, u64 value)
{
    switch (q) {
    case quantity::size:
        return fmt::format("{}B", value);
    case quantity::time:
        return fmt::format("{}ns", value);
    case quantity::count:
    case quantity::per_mille:
    case quantity::rate:
        break;
    }
    return fmt::format("{}", value);
}

u64 quantity_max(quantity q)
{
    switch (q) {
    case quantity::size:
        return workload::size_max_bytes;
    case quantity::time:
        return workload::time_max_ns;
    case quantity::per_mille:
        return 1000;
    case quantity::rate:
        return workload::bandwidth_max;
    case quantity::count:
        break;
    }
    return 1'000'000;
}

plan parse_plan(std::string_view text, const std::string &file, const std::string &dir)
{
    toml::table root = workload::parse_toml(text, file);
    workload::apply_base(root, file, dir);
    toml_fields f(root, file, "");
    plan p;
    p.file = file;
    f.integer("vramlab", 1, 1);
    p.name = f.text("name", text_max);
    p.scenario = f.name("scenario");
    p.process = f.name("process");
    p.rest = f.name("rest");
    p.policy = f.text("policy", text_max);
    p.policy_source = f.text("policy_source", text_max);
    p.settings = parse_settings(f);
    p.data = exactly(f, "data", parse_all<datum>(f, "data", file, parse_datum));
    for (const datum &d : p.data)
        if (d.metric != p.data[0].metric)
            f.fail("data of different metrics", "one metric");
    p.fit = exactly(f, "fit", parse_all<scalar>(f, "fit", file, parse_scalar));
    p.choices = parse_all<choice>(f, "choice", file, parse_choice);
    p.priors = parse_all<prior>(f, "prior", file, parse_prior);
    const toml::table *draws = f.table("draws");
    if (!draws)
        f.fail("no table [draws]", "it");
    p.draws = parse_draws(*draws, file);
    f.done(keys);
    return p;
}

plan read_plan(const std::string &path)
{
    return parse_plan(workload::read_text(path), path, workload::directory_of(path));
}

} // namespace vramlab::calibration
