// SPDX-License-Identifier: MIT
// vramlab calibrate: two scalars fitted to two averages, and what the model then says of everything else that
// was reported. A wrong prediction is a finding, not a failure: status 0.
#include "calibration/flip_evictions.h"
#include "cli/calibration_report.h"
#include "cli/commands.h"
#include "cli/input.h"
#include "cli/output.h"
#include "cli/parallel.h"
#include "runner/experiment.h"
#include "workload/scenario.h"

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <filesystem>
#include <optional>
#include <stdexcept>

namespace vramlab::cli {

namespace fs = std::filesystem;
namespace cal = calibration;

namespace {

struct calibrate_arguments {
    std::string file;
    std::string predictions;
    std::string output;
    input in;
    u64 draws = 200;
    u32 jobs = 0;
    bool json = false;
};

// The averages have one digit after the point.
constexpr double close_enough = 0.05;

std::string path_of(const std::string &scenario)
{
    return fmt::format("{}/{}.toml", scenario_directory(), scenario);
}

cal::observation run_once(const cal::run_request &r)
{
    input in;
    in.settings = r.settings;
    in.seed = r.seed;
    const workload::workload w = load(path_of(r.scenario), in);
    const auto backend = make_backend(backend_kind::model, find_policy(r.policy), in);
    cal::flip_evictions flips;
    runner::experiment_options options;
    options.sinks = {&flips};
    runner::experiment x = runner::run_experiment(w, *backend, options);
    if (!x.run.failures.empty())
        throw std::runtime_error(fmt::format("{}, {} with {}: invariant {}: {}", r.scenario, r.policy,
                                             fmt::join(r.settings, " "), x.run.failures[0].invariant,
                                             x.run.failures[0].message));
    return {std::move(x.metrics), flips.most_bytes(), w.system.device.link_bandwidth};
}

class calibration_run {
public:
    calibration_run(const calibrate_arguments &a, const cal::plan &p)
        : a_(a), plan_(p), scene_(p, path_of(p.scenario), a.in.settings), seed_(a.in.seed.value_or(1))
    {
    }

    double average(std::size_t datum, const cal::scalars &at, u64 seed) const
    {
        const cal::datum &d = plan_.data[datum];
        cal::variation v;
        v.seed = seed;
        return scene_.value(run_once(scene_.request(d.demand_bytes, at, v)), d.metric);
    }

    void fit(calibration_report &r) const
    {
        cal::fit_problem problem;
        problem.close_enough = close_enough;
        for (std::size_t i = 0; i < cal::scalar_count; i++) {
            problem.first[i] = plan_.fit[i].first;
            problem.last[i] = plan_.fit[i].last;
            problem.wanted[i] = plan_.data[i].value;
        }
        r.close_enough = close_enough;
        r.fit = cal::fit(
            problem, [&](std::size_t datum, const cal::scalars &at) { return average(datum, at, seed_); },
            [&](std::size_t count, const std::function<void(std::size_t)> &work) {
                progress_count progress("columns", count);
                run_parallel(count, a_.jobs, [&](std::size_t i) {
                    work(i);
                    progress.one_done();
                });
            });
        r.other_seeds = {{seed_ + 1, {}}, {seed_ + 2, {}}};
        for (calibration_report::other_seed &s : r.other_seeds)
            for (std::size_t i = 0; i < cal::scalar_count; i++)
                s.got[i] = average(i, r.fit.best.at, s.seed);
    }

    void predict(calibration_report &r) const
    {
        r.outcomes.resize(r.predictions.size());
        progress_count progress("predictions", r.predictions.size());
        run_parallel(r.predictions.size(), a_.jobs, [&](std::size_t i) {
            r.outcomes[i] = cal::predict(scene_, r.predictions[i], r.fit.best.at, run_once);
            progress.one_done();
        });
    }

    void rank(calibration_report &r) const
    {
        const cal::draw_plan &d = plan_.draws;
        std::vector<cal::drawn> draws;
        for (u64 i = 0; i < a_.draws; i++) {
            draws.push_back(cal::draw_priors(plan_, cal::draw_seed, i));
            r.clamped += draws.back().clamped;
        }
        // By draw, the priors as they are last; then by demand and policy.
        std::vector<std::vector<std::vector<double>>> values(draws.size() + 1);
        progress_count progress("draws", values.size());
        run_parallel(values.size(), a_.jobs, [&](std::size_t i) {
            values[i] = averages_of(i < draws.size() ? &draws[i] : nullptr, r.fit.best.at);
            progress.one_done();
        });
        for (std::size_t demand = 0; demand < d.demands_bytes.size(); demand++) {
            std::vector<std::vector<double>> of_draws;
            for (std::size_t i = 0; i < draws.size(); i++)
                of_draws.push_back(values[i][demand]);
            const std::vector<double> &at_fit = values.back()[demand];
            r.rankings.push_back(
                {d.demands_bytes[demand], at_fit, cal::judge_ranking(at_fit, of_draws, d.tie_per_mille)});
        }
        r.draws = draws.size();
    }

    u32 scale() const { return scene_.scale(); }

private:
    std::vector<std::vector<double>> averages_of(const cal::drawn *draw, const cal::scalars &at) const
    {
        const cal::draw_plan &d = plan_.draws;
        std::vector<std::vector<double>> out(d.demands_bytes.size());
        for (std::size_t i = 0; i < out.size(); i++)
            for (const std::string &policy : d.policies) {
                cal::variation v;
                v.policy = policy;
                v.seed = seed_;
                v.more = d.settings;
                if (draw) {
                    v.priors = draw->priors;
                    for (std::string &s : cal::link_settings(plan_, draw->link))
                        v.more.push_back(std::move(s));
                }
                out[i].push_back(scene_.value(run_once(scene_.request(d.demands_bytes[i], at, v)), d.metric));
            }
        return out;
    }

    const calibrate_arguments &a_;
    const cal::plan &plan_;
    cal::scene scene_;
    u64 seed_;
};

std::string overrides_of(const input &in)
{
    std::string s = fmt::format("{}", fmt::join(in.settings, " "));
    if (in.seed)
        s += fmt::format("{}seed={}", s.empty() ? "" : " ", *in.seed);
    return s;
}

// Before anything runs.
void check_names(const cal::plan &p, const std::vector<cal::prediction> &predictions)
{
    for (const std::string &policy : p.draws.policies)
        find_policy(policy);
    find_policy(p.policy);
    for (const cal::prediction &one : predictions) {
        if (!one.policy.empty())
            find_policy(one.policy);
        if (!one.scenario.empty())
            workload::read_scenario(path_of(one.scenario));
    }
}

int calibrate(const calibrate_arguments &a)
{
    const fs::path beside = calibration_directory();
    const cal::plan plan = cal::read_plan(a.file.empty() ? (beside / "game.toml").string() : a.file);
    calibration_report r;
    r.plan = &plan;
    r.predictions_file = a.predictions.empty()
                             ? (fs::path(plan.file).parent_path() / "predictions.toml").string()
                             : a.predictions;
    r.predictions = cal::read_predictions(r.predictions_file);
    cal::check_predictions(plan, r.predictions, r.predictions_file);
    check_names(plan, r.predictions);
    r.overrides = overrides_of(a.in);
    std::optional<atomic_file> out; // now, so that minutes are not in vain
    if (!a.output.empty())
        out.emplace(a.output);
    const calibration_run run(a, plan);
    r.scale = run.scale();
    run.fit(r);
    run.predict(r);
    if (a.draws)
        run.rank(r);
    const report::painter p = a.output.empty() ? report::painter::for_stream(stdout) : report::painter(false);
    const std::string text = a.json ? calibration_json(r) : calibration_text(r, p);
    std::fwrite(text.data(), 1, text.size(), out ? out->stream() : stdout);
    if (out)
        out->commit();
    return 0;
}

} // namespace

void add_calibrate_command(CLI::App &app, int &status)
{
    auto a = std::make_shared<calibrate_arguments>();
    CLI::App *c =
        app.add_subcommand("calibrate", "Fit two scalars of the model to two averages that were "
                                        "reported, and compare the rest: predicted, right or wrong");
    c->add_option("file", a->file, "What is fitted (.toml; default: userspace/calibration/game.toml)");
    c->add_option("--predictions", a->predictions,
                  "What is predicted (.toml; default: predictions.toml beside it)")
        ->type_name("FILE");
    c->add_option("--draws", a->draws, "Draws of all priors, for the ranking of policies; 0: none")
        ->check(CLI::Range(u64{0}, u64{1'000'000}))
        ->type_name("N")
        ->capture_default_str();
    add_input_options(*c, a->in);
    c->add_option("--jobs,-j", a->jobs, "Runs at a time (default: one a processor)")->type_name("N");
    c->add_flag("--json", a->json, "JSON");
    c->add_option("--output,-o", a->output, "Write to this file")->type_name("FILE");
    c->callback([a, &status] {
        status = guarded(a->file.empty() ? "calibration" : a->file, [&] { return calibrate(*a); });
    });
}

} // namespace vramlab::cli
