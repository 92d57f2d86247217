// SPDX-License-Identifier: MIT
// The file of predictions.
#include "calibration/plan.h"
#include "calibration/plan_limits.h"
#include "report/metrics.h"
#include "workload/settings.h"
#include "workload/toml_fields.h"

#include <fmt/format.h>

namespace vramlab::calibration {

using workload::toml_fields;

namespace {

void parse_measure(toml_fields &f, prediction &p)
{
    p.measure = f.choice<measure_kind>("measure", {{"metric", measure_kind::metric},
                                                   {"frames_over", measure_kind::frames_over},
                                                   {"curve_step", measure_kind::curve_step},
                                                   {"gain", measure_kind::gain},
                                                   {"flip_bytes", measure_kind::flip_bytes},
                                                   {"flip_ms", measure_kind::flip_ms}});
    const bool has_metric = p.measure == measure_kind::metric || p.measure == measure_kind::curve_step ||
                            p.measure == measure_kind::gain;
    if (has_metric) {
        p.metric = f.text("metric", text_max);
        const report::metrics of_nothing({});
        if (!of_nothing.value(p.metric))
            f.fail("metric", fmt::format("is \"{}\"", p.metric), "a name of Documentation/metrics.rst");
    }
    if (p.measure == measure_kind::frames_over)
        p.limit_ns = f.time("limit", 1, workload::time_max_ns);
    if (p.measure == measure_kind::gain)
        p.against = f.texts("against", item_max);
}

// Which scenario, and with what.
void parse_scene(toml_fields &f, const std::string &file, prediction &p)
{
    p.scenario = f.name("scenario", "");
    p.policy = f.text("policy", text_max, "");
    p.process = f.name("process", "");
    if (f.has("settings"))
        p.settings = f.texts("settings", item_max);
    for (const std::string &s : p.settings)
        workload::parse_setting(s);
    if (f.has("demand"))
        p.demands_bytes = {f.size("demand", 1, workload::size_max_bytes)};
    else if (f.has("demands"))
        p.demands_bytes = f.sizes("demands", 1, workload::size_max_bytes, item_max);
    const std::size_t most = p.measure == measure_kind::curve_step ? item_max : 1;
    if (p.scenario.empty() == p.demands_bytes.empty())
        f.fail("both or neither of a demand and a scenario of its own", "one of them");
    if (p.demands_bytes.size() > most || (most > 1 && p.demands_bytes.size() < 2))
        f.fail(fmt::format("{} demands", p.demands_bytes.size()),
               most > 1 ? "at least two for a curve" : "one");
    if (const toml::table *fitted = f.table("fitted")) {
        if (p.scenario.empty())
            f.fail("fitted", "of the fit's own scenario", "it with another scenario only");
        toml_fields names(*fitted, file, "fitted");
        for (const auto &[key, value] : *fitted)
            p.fitted.emplace_back(key.str(), names.text(key.str(), text_max));
    }
}

prediction parse_prediction(const toml::table &table, const std::string &file)
{
    toml_fields f(table, file, "prediction");
    prediction p;
    p.name = f.text("name", text_max);
    f.rename(fmt::format("prediction \"{}\"", p.name));
    p.says = f.text("says", text_max);
    p.source = f.text("source", text_max);
    p.computed = f.text("computed", text_max);
    p.tolerance = f.text("tolerance", text_max);
    parse_measure(f, p);
    parse_scene(f, file, p);
    p.unit = f.choice<std::string>("unit", {{"percent", "%"}, {"GiB", "GiB"}, {"ms", "ms"}, {"share", ""}});
    p.first = f.number("first");
    p.last = f.number("last");
    if (p.last < p.first)
        f.fail("last", "is less than \"first\"", "where right ends");
    f.done(keys);
    return p;
}

} // namespace

std::vector<prediction> parse_predictions(std::string_view text, const std::string &file)
{
    const toml::table root = workload::parse_toml(text, file);
    toml_fields f(root, file, "");
    std::vector<prediction> out;
    f.integer("vramlab", 1, 1);
    f.text("name", text_max);
    for (const toml::table *t : f.tables("prediction", item_max))
        out.push_back(parse_prediction(*t, file));
    f.done(keys);
    if (out.empty())
        f.fail("nothing is predicted", "a table [[prediction]]");
    return out;
}

std::vector<prediction> read_predictions(const std::string &path)
{
    return parse_predictions(workload::read_text(path), path);
}

} // namespace vramlab::calibration
