// SPDX-License-Identifier: MIT
#include "cli/calibration_report.h"

#include <nlohmann/json.hpp>

namespace vramlab::cli {

namespace cal = calibration;
using json = nlohmann::ordered_json;

namespace {

json fit_json(const calibration_report &r)
{
    const cal::plan &p = *r.plan;
    json scalars = json::array();
    for (std::size_t i = 0; i < p.fit.size(); i++)
        scalars.push_back({{"name", p.fit[i].name},
                           {"value", cal::quantity_text(p.fit[i].unit, r.fit.best.at[i])},
                           {"first", cal::quantity_text(p.fit[i].unit, p.fit[i].first)},
                           {"last", cal::quantity_text(p.fit[i].unit, p.fit[i].last)}});
    json data = json::array();
    for (std::size_t i = 0; i < p.data.size(); i++) {
        json d{{"name", p.data[i].name},     {"demand_bytes", p.data[i].demand_bytes},
               {"metric", p.data[i].metric}, {"reported", p.data[i].value},
               {"model", r.fit.best.got[i]}, {"residual", r.fit.best.got[i] - p.data[i].value},
               {"source", p.data[i].source}};
        for (const calibration_report::other_seed &s : r.other_seeds)
            d["other_seeds"].push_back({{"seed", s.seed}, {"model", s.got[i]}});
        data.push_back(std::move(d));
    }
    return {{"scalars", std::move(scalars)},
            {"data", std::move(data)},
            {"degrees_of_freedom", p.data.size() - p.fit.size()},
            {"reached", r.fit.reached},
            {"within", r.close_enough},
            {"runs", r.fit.runs}};
}

json predictions_json(const calibration_report &r)
{
    json out = json::array();
    for (std::size_t i = 0; i < r.predictions.size(); i++) {
        const cal::prediction &p = r.predictions[i];
        const cal::outcome &o = r.outcomes[i];
        json one{{"name", p.name},         {"says", p.says},           {"source", p.source},
                 {"computed", p.computed}, {"tolerance", p.tolerance}, {"unit", p.unit},
                 {"first", p.first},       {"last", p.last},           {"value", o.value},
                 {"right", o.right}};
        for (const auto &[demand, value] : o.curve)
            one["curve"].push_back({{"demand_bytes", demand}, {"value", value}});
        out.push_back(std::move(one));
    }
    return out;
}

json rankings_json(const calibration_report &r)
{
    const cal::draw_plan &d = r.plan->draws;
    json out = json::array();
    for (const calibration_report::ranking &k : r.rankings) {
        json ranking = json::array();
        for (const std::size_t policy : k.verdict.ranking)
            ranking.push_back({{"policy", d.policies[policy]}, {"value", k.at_fit[policy]}});
        json pairs = json::array();
        for (const cal::pair_verdict &v : k.verdict.pairs)
            pairs.push_back(
                {{"better", d.policies[v.better]}, {"worse", d.policies[v.worse]}, {"reversed", v.reversed}});
        out.push_back({{"demand_bytes", k.demand_bytes},
                       {"metric", d.metric},
                       {"ranking", std::move(ranking)},
                       {"draws", k.verdict.draws},
                       {"holds", k.verdict.holds},
                       {"pairs", std::move(pairs)}});
    }
    return out;
}

} // namespace

std::string calibration_json(const calibration_report &r)
{
    const cal::plan &p = *r.plan;
    json priors = json::array();
    for (const cal::prior &one : p.priors)
        priors.push_back({{"name", one.name},
                          {"value", cal::quantity_text(one.unit, one.value)},
                          {"drawn", one.vary},
                          {"source", one.source}});
    json choices = json::array();
    for (const cal::choice &c : p.choices)
        choices.push_back({{"path", c.path}, {"value", c.value}, {"source", c.source}});
    const json j{{"name", p.name},
                 {"scenario", p.scenario},
                 {"process", p.process},
                 {"policy", p.policy},
                 {"overrides", r.overrides},
                 {"fit", fit_json(r)},
                 {"predictions", predictions_json(r)},
                 {"rankings", rankings_json(r)},
                 {"clamped", r.clamped},
                 {"choices", std::move(choices)},
                 {"priors", std::move(priors)}};
    return j.dump(2) + "\n";
}

} // namespace vramlab::cli
