// SPDX-License-Identifier: MIT
#include "calibration/scene.h"

#include "report/format.h"
#include "workload/scenario.h"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>

namespace vramlab::calibration {

namespace {

// Settings of mechanisms are not the scenario's (Documentation/sweep.rst).
std::vector<workload::setting> of_scenario(const std::vector<std::string> &texts)
{
    std::vector<workload::setting> out;
    for (const std::string &text : texts)
        if (workload::setting s = workload::parse_setting(text); !s.path.starts_with("ttm."))
            out.push_back(std::move(s));
    return out;
}

u64 bytes_of(const workload::group_config &g, const std::string &file)
{
    if (!g.count)
        return g.total_bytes;
    if (g.size.kind != workload::size_kind::fixed)
        throw workload::parse_error(file, g.line, fmt::format("group \"{}\" has BOs of drawn sizes", g.name),
                                    "a total, so that the demand is known");
    return u64{g.count} * g.size.min_bytes;
}

} // namespace

void add_settings(std::vector<std::string> &to, const std::vector<std::string> &paths, quantity unit,
                  u64 value)
{
    for (const std::string &path : paths)
        to.push_back(fmt::format("{}={}", path, quantity_text(unit, value)));
}

std::vector<std::string> plan_settings(const plan &p, const std::vector<u64> &priors)
{
    std::vector<std::string> settings = p.settings;
    for (const choice &c : p.choices)
        settings.push_back(c.path + "=" + c.value);
    for (std::size_t i = 0; i < p.priors.size(); i++)
        add_settings(settings, p.priors[i].paths, p.priors[i].unit, priors[i]);
    return settings;
}

const report::metric_descriptor *find_metric(const std::string &name)
{
    for (const report::metric_descriptor &d : report::metric_table())
        if (name == d.name)
            return &d;
    return nullptr;
}

scene::scene(const plan &p, std::string path, std::vector<std::string> overrides)
    : plan_(p), path_(std::move(path)), overrides_(std::move(overrides))
{
    scale_ = workload::read_scenario(path_, of_scenario(overrides_)).scale;
}

// What the plan's group has to hold: the demand less what the process's other groups hold.
u64 scene::rest_bytes(u64 demand_bytes, const std::vector<std::string> &settings) const
{
    const workload::scenario s = workload::read_scenario(path_, of_scenario(settings));
    u64 others = 0;
    bool found = false;
    for (const workload::process_spec &p : s.processes)
        if (p.name == plan_.process)
            for (const workload::group_config &g : p.groups) {
                if (g.name == plan_.rest)
                    found = true;
                else
                    others += bytes_of(g, path_);
            }
    if (!found)
        throw workload::parse_error(
            plan_.file, 0, fmt::format("no group \"{}\" in process \"{}\"", plan_.rest, plan_.process),
            fmt::format("one of {}", path_));
    if (others >= demand_bytes)
        throw workload::parse_error(plan_.file, 0,
                                    fmt::format("the other groups hold {} of {}",
                                                report::format_bytes(others),
                                                report::format_bytes(demand_bytes)),
                                    "less than the demand");
    return demand_bytes - others;
}

run_request scene::request(u64 demand_bytes, const scalars &at, const variation &v) const
{
    run_request r;
    r.scenario = plan_.scenario;
    r.policy = v.policy.empty() ? plan_.policy : v.policy;
    r.seed = v.seed;
    std::vector<u64> priors = v.priors;
    if (priors.empty())
        for (const prior &p : plan_.priors)
            priors.push_back(p.value);
    r.settings = plan_settings(plan_, priors);
    for (std::size_t i = 0; i < scalar_count; i++)
        add_settings(r.settings, plan_.fit[i].paths, plan_.fit[i].unit, at[i] / plan_.fit[i].divide);
    r.settings.insert(r.settings.end(), v.more.begin(), v.more.end());
    r.settings.insert(r.settings.end(), overrides_.begin(), overrides_.end());
    const u64 rest = rest_bytes(demand_bytes, r.settings);
    r.settings.push_back(fmt::format("process.{}.group.{}.total={}B", plan_.process, plan_.rest, rest));
    return r;
}

double scene::value(const observation &o, const std::string &metric) const
{
    return metric_value(o, metric, plan_.process, plan_.scenario, scale_);
}

double metric_value(const observation &o, const std::string &metric, const std::string &process,
                    const std::string &scenario, u32 scale)
{
    const std::optional<double> v = o.metrics.value(metric, process);
    if (!v)
        throw std::runtime_error(
            fmt::format("no metric \"{}\" of process \"{}\" in scenario {}", metric, process, scenario));
    const report::metric_descriptor *d = find_metric(metric);
    const bool bytes = d && (d->u == report::unit::bytes || d->u == report::unit::bytes_per_frame);
    return bytes ? *v * scale : *v;
}

} // namespace vramlab::calibration
