// SPDX-License-Identifier: MIT
#include "calibration/predict.h"

#include "workload/parse_error.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <stdexcept>

namespace vramlab::calibration {

namespace {

const scalar *find_scalar(const plan &p, const std::string &name, std::size_t &index)
{
    for (index = 0; index < p.fit.size(); index++)
        if (p.fit[index].name == name)
            return &p.fit[index];
    return nullptr;
}

// A run of the plan's scenario, or of the prediction's own.
run_request request_of(const scene &s, const prediction &p, const scalars &at, u64 demand_bytes,
                       const std::vector<std::string> &more)
{
    variation v;
    v.policy = p.policy;
    v.more = p.settings;
    v.more.insert(v.more.end(), more.begin(), more.end());
    if (p.scenario.empty())
        return s.request(demand_bytes, at, v);
    run_request r{p.scenario, p.policy.empty() ? s.of().policy : p.policy, v.more};
    for (const auto &[name, path] : p.fitted) {
        std::size_t i;
        if (const scalar *fitted = find_scalar(s.of(), name, i))
            add_settings(r.settings, {path}, fitted->unit, at[i]);
    }
    return r;
}

u32 process_number(const report::metrics &m, const std::string &name)
{
    for (const process_config &c : m.processes())
        if (c.name == name)
            return c.process;
    throw std::runtime_error(fmt::format("no process \"{}\", expected one of the scenario", name));
}

double share_over(const report::metrics &m, const std::string &process, u64 limit_ns)
{
    const std::vector<u64> &frames = m.of(process_number(m, process)).frame_ns;
    if (frames.empty())
        throw std::runtime_error(
            fmt::format("process \"{}\" has drawn no frame, so no share of them is slow", process));
    const auto over = std::count_if(frames.begin(), frames.end(), [&](u64 ns) { return ns > limit_ns; });
    return 100.0 * static_cast<double>(over) / static_cast<double>(frames.size());
}

double value_of(const scene &s, const prediction &p, const observation &o)
{
    const std::string &process = p.process.empty() ? s.of().process : p.process;
    const u32 scale = p.scenario.empty() ? s.scale() : 1;
    if (p.measure == measure_kind::frames_over)
        return share_over(o.metrics, process, p.limit_ns);
    if (p.measure == measure_kind::flip_ms) // both bytes and link are scaled
        return static_cast<double>(o.flip_evicted_max_bytes) * 1000 / static_cast<double>(o.link_bandwidth);
    double value = static_cast<double>(o.flip_evicted_max_bytes) * scale;
    if (p.measure != measure_kind::flip_bytes)
        value = metric_value(o, p.metric, process, p.scenario.empty() ? s.of().scenario : p.scenario, scale);
    return p.unit == "GiB" ? value / GiB : value;
}

} // namespace

void check_predictions(const plan &p, const std::vector<prediction> &all, const std::string &file)
{
    std::size_t ignored;
    for (const prediction &one : all)
        for (const auto &[name, path] : one.fitted)
            if (!find_scalar(p, name, ignored))
                throw workload::parse_error(
                    file, 0, fmt::format("prediction \"{}\": no scalar \"{}\" is fitted", one.name, name),
                    fmt::format("\"{}\" or \"{}\"", p.fit[0].name, p.fit[1].name));
}

outcome predict(const scene &s, const prediction &p, const scalars &at, const run_fn &run)
{
    outcome o;
    const u64 first = p.demands_bytes.empty() ? 0 : p.demands_bytes.front();
    const auto ask = [&](u64 demand_bytes, const std::vector<std::string> &more) {
        return value_of(s, p, run(request_of(s, p, at, demand_bytes, more)));
    };
    if (p.measure == measure_kind::curve_step) {
        for (const u64 demand : p.demands_bytes)
            o.curve.emplace_back(demand, ask(demand, {}));
        for (std::size_t i = 1; i < o.curve.size(); i++)
            o.value = std::max(o.value, std::fabs(o.curve[i].second - o.curve[i - 1].second));
    } else if (p.measure == measure_kind::gain) {
        const double with = ask(first, {});
        const double against = ask(first, p.against);
        o.value = with > 0 ? (against / with - 1) * 100 : 0;
    } else {
        o.value = ask(first, {});
    }
    o.right = o.value >= p.first && o.value <= p.last;
    return o;
}

} // namespace vramlab::calibration
