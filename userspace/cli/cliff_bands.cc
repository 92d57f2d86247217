// SPDX-License-Identifier: MIT
#include "cli/cliff_bands.h"

#include "calibration/draws.h"
#include "cli/demand.h"
#include "cli/output.h"
#include "cli/parallel.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <set>

namespace vramlab::cli {

namespace {

// All that a plan says of its scenario but what it fits, with one draw of its priors.
std::vector<std::string> settings_of(const calibration::plan &plan, const calibration::drawn &d)
{
    std::vector<std::string> settings = calibration::plan_settings(plan, d.priors);
    const std::vector<std::string> link = calibration::link_settings(plan, d.link);
    settings.insert(settings.end(), link.begin(), link.end());
    return settings;
}

// Later ones win, and each stands once.
std::vector<workload::setting> without(const std::vector<std::string> &settings,
                                       const std::set<std::string> &own)
{
    std::vector<workload::setting> out;
    for (const std::string &text : settings) {
        workload::setting s = workload::parse_setting(text);
        if (own.contains(s.path))
            continue;
        std::erase_if(out, [&](const workload::setting &o) { return o.path == s.path; });
        out.push_back(std::move(s));
    }
    return out;
}

std::vector<sweep_item> items_of(const sweep_arguments &a, const cliff_steps &steps,
                                 const std::vector<workload::setting> &drawn)
{
    input in = a.in;
    for (const workload::setting &s : drawn)
        in.settings.push_back(s.path + "=" + s.value);
    const demand_solver solver(steps.file, in, steps.parameter);
    const u64 vram_bytes = solver.load_with(128 * MiB).system.device.vram_size_bytes;
    std::vector<sweep_item> items;
    for (const u32 percent : steps.percent) {
        sweep_item &item = items.emplace_back(sweep_item{steps.file, drawn});
        const u64 demand = static_cast<u64>(u128{vram_bytes} * percent / 100);
        item.point.push_back({steps.parameter, fmt::format("{}", solver.value_for(demand))});
    }
    return items;
}

} // namespace

drawn_items draw_items(const sweep_arguments &a, const calibration::plan &plan, const cliff_steps &steps,
                       u64 draws)
{
    std::set<std::string> own{steps.parameter};
    for (const std::string &text : a.in.settings)
        own.insert(workload::parse_setting(text).path);
    drawn_items out;
    std::vector<std::vector<workload::setting>> drawn;
    for (u64 i = 0; i < draws; i++) {
        const calibration::drawn d = calibration::draw_priors(plan, calibration::draw_seed, i);
        out.clamped += d.clamped;
        drawn.push_back(without(settings_of(plan, d), own));
    }
    std::vector<std::vector<sweep_item>> of_draw(draws);
    progress_count progress("draws planned", draws);
    run_parallel(draws, a.jobs, [&](std::size_t i) {
        of_draw[i] = items_of(a, steps, drawn[i]);
        progress.one_done();
    });
    for (std::vector<sweep_item> &items : of_draw)
        for (sweep_item &item : items)
            out.items.push_back(std::move(item));
    return out;
}

band band_of(std::vector<double> values)
{
    if (values.empty())
        return {};
    std::sort(values.begin(), values.end());
    const auto rank = [&](std::size_t percent) { return values[(values.size() * percent + 99) / 100 - 1]; };
    return {rank(10), rank(50), rank(90), values.size()};
}

band band_at(const sweep_table &t, std::size_t steps, std::size_t step, std::size_t policy,
             std::size_t column)
{
    std::vector<double> values;
    for (std::size_t i = step; i < t.rows.size(); i += steps)
        if (const std::optional<double> &v = t.rows[i][policy].values[column])
            values.push_back(*v);
    return band_of(std::move(values));
}

namespace {

template <typename Fn>
void each_band(const sweep_arguments &a, const cliff_steps &steps, const sweep_table &t, Fn fn)
{
    const std::vector<std::string> columns = sweep_columns(a);
    for (std::size_t s = 0; s < steps.percent.size(); s++)
        for (std::size_t p = 0; p < a.policies.size(); p++)
            for (std::size_t c = 0; c < columns.size(); c++)
                fn(steps.percent[s], a.policies[p], columns[c], band_at(t, steps.percent.size(), s, p, c));
}

} // namespace

std::string bands_csv(const sweep_arguments &a, const cliff_steps &steps, const sweep_table &t)
{
    std::string out = "of_vram_percent,policy,metric,p10,median,p90,draws\n";
    each_band(a, steps, t,
              [&](u32 percent, const std::string &policy, const std::string &metric, const band &b) {
                  out += b.draws ? fmt::format("{},{},{},{},{},{},{}\n", percent, policy, metric, b.low,
                                               b.median, b.high, b.draws)
                                 : fmt::format("{},{},{},,,,0\n", percent, policy, metric);
              });
    return out;
}

std::string bands_json(const sweep_arguments &a, const cliff_steps &steps, const sweep_table &t)
{
    nlohmann::ordered_json j = nlohmann::ordered_json::array();
    each_band(
        a, steps, t, [&](u32 percent, const std::string &policy, const std::string &metric, const band &b) {
            nlohmann::ordered_json row{
                {"of_vram_percent", percent}, {"policy", policy}, {"metric", metric}, {"draws", b.draws}};
            if (b.draws) {
                row["p10"] = b.low;
                row["median"] = b.median;
                row["p90"] = b.high;
            }
            j.push_back(std::move(row));
        });
    return j.dump(2) + "\n";
}

} // namespace vramlab::cli
