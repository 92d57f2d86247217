// SPDX-License-Identifier: MIT
#include "cli/calibration_report.h"
#include "report/format.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace vramlab::cli {

namespace cal = calibration;
using report::color;
using report::format_bytes;
using report::format_number;
using report::table;

namespace {

std::string quantity_words(cal::quantity q, u64 value)
{
    switch (q) {
    case cal::quantity::size:
        return format_bytes(value);
    case cal::quantity::time:
        return value ? report::format_duration(value) : "0 ms";
    case cal::quantity::per_mille:
        return fmt::format("{} %", format_number(static_cast<double>(value) / 10, 1));
    case cal::quantity::rate:
        return fmt::format("{} GB/s", format_number(static_cast<double>(value) / 1e9, 2));
    case cal::quantity::count:
        break;
    }
    return fmt::format("{}", value);
}

std::string metric_words(const std::string &metric, double v)
{
    const report::metric_descriptor *d = cal::find_metric(metric);
    return d ? report::format_metric(d->u, v) : format_number(v);
}

// The unit of the data's metric may be anything; differences are in it.
std::string off_words(const std::string &metric, double off)
{
    return (off < 0 ? "-" : "+") + metric_words(metric, std::abs(off));
}

std::string heading(const std::string &words, const report::painter &p)
{
    return p.paint(words, color::bold) + "\n\n";
}

std::string fit_text(const calibration_report &r, const report::painter &p)
{
    const cal::plan &plan = *r.plan;
    std::string out = heading("Fitted", p);
    table t({"scalar", "fitted", "searched", "meaning"});
    t.set_align(3, report::align::left);
    for (std::size_t i = 0; i < plan.fit.size(); i++) {
        const cal::scalar &s = plan.fit[i];
        t.add_row({s.name, quantity_words(s.unit, r.fit.best.at[i]),
                   fmt::format("{} to {}", quantity_words(s.unit, s.first), quantity_words(s.unit, s.last)),
                   s.description});
    }
    out += t.render(p) + "\n";
    std::vector<std::string> head{"datum", "demand", "reported", "model", "off"};
    for (const calibration_report::other_seed &s : r.other_seeds)
        head.push_back(fmt::format("seed {}", s.seed));
    head.push_back("source");
    table data(head);
    data.set_align(head.size() - 1, report::align::left);
    for (std::size_t i = 0; i < plan.data.size(); i++) {
        const cal::datum &d = plan.data[i];
        std::vector<table::cell> row{d.name, format_bytes(d.demand_bytes), metric_words(d.metric, d.value),
                                     metric_words(d.metric, r.fit.best.got[i]),
                                     off_words(d.metric, r.fit.best.got[i] - d.value)};
        for (const calibration_report::other_seed &s : r.other_seeds)
            row.emplace_back(metric_words(d.metric, s.got[i]));
        row.emplace_back(d.source);
        data.add_row(std::move(row));
    }
    out += data.render(p);
    out += fmt::format("\ndata {}, scalars {}, degrees of freedom {}: {}\n", plan.data.size(),
                       plan.fit.size(), plan.data.size() - plan.fit.size(),
                       "reaching both would say nothing for the model; what it predicts may");
    out += r.fit.reached
               ? fmt::format("reached: both within {} ms", r.close_enough)
               : p.paint(fmt::format("NOT REACHED: no values of both scalars were found that bring both data "
                                     "within {} ms; these are the nearest",
                                     r.close_enough),
                         color::red);
    return out + fmt::format(" ({} runs)\n\n", r.fit.runs);
}

std::string outcome_words(const cal::prediction &p, double value)
{
    return format_number(value, 2) + (p.unit.empty() ? "" : " " + p.unit);
}

std::string predictions_text(const calibration_report &r, const report::painter &p)
{
    std::string out = heading("Predicted", p);
    table t({"prediction", "right is", "model", "", "reported"});
    t.set_align(3, report::align::left).set_align(4, report::align::left);
    std::size_t right = 0;
    for (std::size_t i = 0; i < r.predictions.size(); i++) {
        const cal::prediction &one = r.predictions[i];
        const cal::outcome &o = r.outcomes[i];
        right += o.right;
        t.add_row({one.name,
                   fmt::format("{} to {}", format_number(one.first, 2), outcome_words(one, one.last)),
                   outcome_words(one, o.value),
                   {o.right ? "right" : "WRONG", o.right ? color::green : color::red},
                   one.says});
    }
    out += t.render(p) + fmt::format("\n{} right, {} wrong of {}\n\n", right, r.predictions.size() - right,
                                     r.predictions.size());
    return out;
}

std::string curves_text(const calibration_report &r, const report::painter &p)
{
    std::string out;
    for (std::size_t i = 0; i < r.predictions.size(); i++) {
        if (r.outcomes[i].curve.empty())
            continue;
        table t({"demand", r.predictions[i].metric});
        for (const auto &[demand, value] : r.outcomes[i].curve)
            t.add_row({fmt::format("{} GiB", format_number(static_cast<double>(demand) / GiB, 2)),
                       metric_words(r.predictions[i].metric, value)});
        out += t.render(p) + "\n";
    }
    return out;
}

std::string percent(std::size_t n, std::size_t of)
{
    return fmt::format("{} %",
                       format_number(of ? 100.0 * static_cast<double>(n) / static_cast<double>(of) : 0, 1));
}

std::string ranking_text(const calibration_report &r, const calibration_report::ranking &k,
                         const report::painter &p)
{
    const cal::draw_plan &d = r.plan->draws;
    table t({fmt::format("{} wanted", format_bytes(k.demand_bytes)), d.metric});
    for (const std::size_t policy : k.verdict.ranking)
        t.add_row({d.policies[policy], metric_words(d.metric, k.at_fit[policy])});
    std::string out = t.render(p);
    if (!k.verdict.draws)
        return out + "\n";
    const bool holds = 1000 * k.verdict.holds >= std::size_t{d.wanted_per_mille} * k.verdict.draws;
    out += fmt::format("the ranking holds in {} of {} draws ({}), wanted {} %: {}\n", k.verdict.holds,
                       k.verdict.draws, percent(k.verdict.holds, k.verdict.draws),
                       format_number(d.wanted_per_mille / 10.0, 1),
                       p.paint(holds ? "holds" : "DOES NOT HOLD", holds ? color::green : color::red));
    std::vector<cal::pair_verdict> worst = k.verdict.pairs;
    std::stable_sort(worst.begin(), worst.end(), [](const cal::pair_verdict &a, const cal::pair_verdict &b) {
        return a.reversed > b.reversed;
    });
    std::erase_if(worst, [](const cal::pair_verdict &v) { return !v.reversed; });
    if (!worst.empty()) {
        table pairs({"better at the fit", "than", "the other way round in"});
        pairs.set_align(1, report::align::left);
        for (const cal::pair_verdict &v : worst)
            pairs.add_row({d.policies[v.better], d.policies[v.worse], percent(v.reversed, k.verdict.draws)});
        out += "\n" + pairs.render(p);
    }
    return out + "\n";
}

std::string rankings_text(const calibration_report &r, const report::painter &p)
{
    if (r.rankings.empty())
        return "";
    const cal::draw_plan &d = r.plan->draws;
    const std::size_t varied = static_cast<std::size_t>(std::count_if(
        r.plan->priors.begin(), r.plan->priors.end(), [](const cal::prior &one) { return one.vary; }));
    std::string links;
    for (const u64 link : d.links)
        links += (links.empty() ? "" : " or ") + quantity_words(cal::quantity::rate, link);
    std::string out = heading("Ranking of policies", p);
    out += fmt::format(
        "By the game's {}, smallest first. {} draws: {} priors each within {} % either way, link {} "
        "({}); the fitted scalars stay.\nA draw reverses a pair if they lie more than {} % apart at the "
        "fit and, the other way round, in the draw. {} values of priors were\ncut to what a scenario takes.",
        d.metric, r.draws, varied, format_number(d.spread_per_mille / 10.0, 1), links, d.link_source,
        format_number(d.tie_per_mille / 10.0, 1), r.clamped);
    if (!d.settings.empty())
        out += fmt::format(" Runs with{}: {}", r.overrides.empty() ? "" : " (where not set above)",
                           fmt::join(d.settings, " "));
    out += "\n\n";
    for (const calibration_report::ranking &k : r.rankings)
        out += ranking_text(r, k, p);
    return out;
}

std::string priors_text(const calibration_report &r, const report::painter &p)
{
    std::string out = heading("Everything else", p);
    table t({"prior", "value", "drawn", "source"});
    t.set_align(2, report::align::left).set_align(3, report::align::left);
    for (const cal::choice &c : r.plan->choices)
        t.add_row({c.path, c.value, "no", c.source});
    for (const cal::prior &one : r.plan->priors)
        t.add_row({one.name, quantity_words(one.unit, one.value), one.vary ? "yes" : "no", one.source});
    return out + t.render(p);
}

} // namespace

std::string calibration_text(const calibration_report &r, const report::painter &p)
{
    const cal::plan &plan = *r.plan;
    std::string out = fmt::format("{}: scenario {}, process {}, policy {}", plan.name, plan.scenario,
                                  plan.process, plan.policy);
    if (!r.overrides.empty())
        out += fmt::format(", with {}", r.overrides);
    out += "\n\n" + fit_text(r, p) + predictions_text(r, p) + curves_text(r, p) + rankings_text(r, p) +
           priors_text(r, p);
    return out + "\ntimes are modelled: two numbers are fitted, all others are the priors above; no card was "
                 "measured\n";
}

} // namespace vramlab::cli
