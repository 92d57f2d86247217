// SPDX-License-Identifier: MIT
#include "cli/comparison.h"

#include "cli/bound_words.h"
#include "cli/mechanism_settings.h"
#include "cli/output.h"
#include "cli/parallel.h"
#include "cli/policies.h"
#include "driver/policy.h"
#include "report/html/report_page.h"
#include "workload/scenario.h"

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include <stdexcept>

namespace vramlab::cli {

void add_comparison_options(CLI::App &c, comparison_arguments &a)
{
    c.add_option("file", a.files, "Scenarios (.toml) and workloads (.jsonl, .jsonl.zst)")->required();
    c.add_option("--policies", a.policies, "Policies, separated by commas (default: all)")
        ->delimiter(',')
        ->type_name("A,B");
    add_input_options(c, a.in);
    c.add_option("--jobs,-j", a.jobs, "Runs at a time (default: one a processor)")->type_name("N");
}

void add_bounds_option(CLI::App &c, comparison_arguments &a)
{
    c.add_flag("!--no-bounds", a.bounds, "Don't compute how little any policy could have caused (quicker)");
}

namespace {

std::string point_words(const std::vector<workload::setting> &point)
{
    std::string s;
    for (const workload::setting &set : point)
        s += fmt::format("{}{}={}", s.empty() ? "" : " ", set.path, set.value);
    return s;
}

std::vector<std::vector<workload::setting>> points_of(const std::string &file, bool sweep)
{
    if (!sweep)
        return {{}};
    const auto axes = workload::read_sweep(file);
    if (axes.empty())
        throw std::runtime_error(fmt::format("{}: has nothing to sweep, expected a [sweep] table", file));
    return workload::sweep_points(axes);
}

// All cells, still empty, and the workloads they refer to by position.
std::vector<compared> plan(const comparison_arguments &a, std::vector<workload::workload> &workloads)
{
    std::vector<compared> cells;
    const std::vector<std::string> policies = policies_of(a.policies);
    for (const std::string &file : a.files)
        for (const auto &point : points_of(file, a.sweep)) {
            input in = a.in;
            for (const workload::setting &s : point)
                in.settings.push_back(s.path + "=" + s.value);
            workloads.push_back(load(file, in));
            runner::check_expectations(workloads.back());
            for (const std::string &policy : policies) {
                compared &c = cells.emplace_back();
                c.file = file;
                c.name = workloads.back().name;
                c.point = point_words(point);
                c.policy = policy;
                c.in = in;
                c.workload = workloads.size() - 1;
            }
        }
    return cells;
}

report::timeline make_timeline(const workload::workload &w, const input &in)
{
    const mechanism_times times = times_of(in.settings);
    report::timeline_options o;
    o.strong_ns = times.throttle_strong_ms * ns_per_ms;
    o.weak_ns = times.throttle_weak_ms * ns_per_ms;
    return report::timeline(w.system.processes, o);
}

std::string command_line(const comparison_arguments &a, const page_arguments &page)
{
    std::string s = "vramlab " + page.command;
    for (const std::string &file : a.files)
        s += " " + file;
    for (std::size_t i = 0; i < a.policies.size(); i++)
        s += (i ? "," : " --policies ") + a.policies[i];
    for (const std::string &set : a.in.settings)
        s += " --set " + set;
    if (a.in.seed)
        s += fmt::format(" --seed {}", *a.in.seed);
    return s;
}

// What a scenario says of itself, and its seed. An explicit workload has neither.
void describe(report::page_scenario &s, const comparison_arguments &a)
{
    s.seed = a.in.seed.value_or(1);
    for (const std::string &set : a.in.settings)
        s.settings += (s.settings.empty() ? "--set " : " --set ") + set;
    if (!s.file.ends_with(".toml"))
        return;
    const workload::scenario from = workload::read_scenario(s.file, scenario_settings(a.in.settings));
    s.description = from.description;
    s.url = from.url;
    s.reported = from.reported;
    s.chosen = from.chosen;
    s.seed = a.in.seed.value_or(from.seed);
}

report::page_run run_of(const compared &cell)
{
    report::page_run run;
    run.policy = cell.policy;
    run.description = driver::policy_description(cell.policy);
    run.checked = driver::make_policy(cell.policy)->kernel_mechanisms().has_value();
    run.m = &cell.x->metrics;
    run.t = &*cell.drawn;
    const std::vector<std::string> headings = bound_headings(), texts = bound_texts(cell.x->bounds);
    for (std::size_t i = 0; cell.x->bounds && i < headings.size(); i++)
        run.bounds.emplace_back(headings[i], texts[i]);
    for (const runner::invariant_failure &f : cell.x->run.failures)
        run.failures.push_back(fmt::format("{}: {}", f.invariant, f.message));
    return run;
}

} // namespace

// The model keeps what it knows in its objects and in thread-local variables, so cells run side by side.
comparison run_comparison(const comparison_arguments &a)
{
    std::vector<workload::workload> workloads;
    comparison c;
    c.cells = plan(a, workloads);
    progress_count progress("runs", c.cells.size());
    run_parallel(c.cells.size(), a.jobs, [&](std::size_t i) {
        compared &cell = c.cells[i];
        const workload::workload &w = workloads[cell.workload];
        const auto backend = make_backend(backend_kind::model, cell.policy, cell.in);
        runner::experiment_options o;
        o.bounds = a.bounds;
        if (a.timelines)
            o.sinks.push_back(&cell.drawn.emplace(make_timeline(w, cell.in)));
        cell.x = runner::run_experiment(w, *backend, o);
        if (cell.drawn)
            cell.drawn->finish(cell.x->run.end_ns);
        cell.x->run.results.clear(); // one an operation
        cell.x->verdicts.clear();    // they refer to the workload; comparing is not judging
        progress.one_done();
    });
    for (workload::workload &w : workloads)
        c.systems.push_back(std::move(w.system));
    return c;
}

bool print_invariants(const comparison &c)
{
    bool good = true;
    for (const compared &r : c.cells) {
        const std::string failures =
            runner::print_failures(r.x->run, r.file, report::painter::for_stream(stderr));
        good &= failures.empty();
        if (!failures.empty())
            fmt::print(stderr, "{}, {}:\n{}", r.name, r.policy, failures);
    }
    return good;
}

void write_page_file(const std::string &path, const comparison_arguments &a, const comparison &c,
                     const page_arguments &page)
{
    std::vector<report::page_scenario> scenarios;
    std::size_t last = c.systems.size();
    for (const compared &cell : c.cells) {
        if (cell.workload != last) {
            last = cell.workload;
            report::page_scenario &s = scenarios.emplace_back();
            s.file = cell.file;
            s.name = cell.name;
            s.system = c.systems[cell.workload];
            s.bos = page.bos;
            describe(s, a);
        }
        scenarios.back().runs.push_back(run_of(cell));
    }
    atomic_file out(path);
    report::write_page(out.stream(), scenarios, {command_line(a, page), page.bos_max});
    out.commit();
}

} // namespace vramlab::cli
