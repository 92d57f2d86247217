// SPDX-License-Identifier: MIT
// vramlab compare: the same scenarios under several policies, side by side; --sweep: the scenario's grid, a
// row each.
#include "cli/commands.h"
#include "cli/input.h"
#include "cli/output.h"
#include "cli/parallel.h"
#include "driver/policy.h"
#include "report/metrics_print.h"
#include "runner/experiment.h"
#include "workload/scenario.h"

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <optional>
#include <stdexcept>

namespace vramlab::cli {

namespace {

struct compare_arguments {
    std::vector<std::string> files;
    std::vector<std::string> policies;
    input in;
    bool sweep = false;
    bool json = false;
    u32 jobs = 0; // 0: one a processor
};

// One cell of the grid.
struct compared {
    std::string file;
    std::string name;  // of the workload
    std::string point; // of the sweep
    std::string policy;
    std::size_t workload = 0;
    std::optional<runner::experiment> x; // until it has run
};

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

std::vector<std::string> policies_of(const compare_arguments &a)
{
    std::vector<std::string> policies;
    for (const std::string &p : a.policies)
        policies.push_back(find_policy(p));
    if (policies.empty())
        for (std::string_view p : driver::policy_names())
            policies.emplace_back(p);
    return policies;
}

// All cells, still empty, and the workloads they refer to by position.
std::vector<compared> plan(const compare_arguments &a, std::vector<workload::workload> &workloads)
{
    std::vector<compared> cells;
    const std::vector<std::string> policies = policies_of(a);
    for (const std::string &file : a.files)
        for (const auto &point : points_of(file, a.sweep)) {
            input in = a.in;
            for (const workload::setting &s : point)
                in.settings.push_back(s.path + "=" + s.value);
            workloads.push_back(load(file, in));
            runner::check_expectations(workloads.back());
            for (const std::string &policy : policies)
                cells.push_back(
                    {file, workloads.back().name, point_words(point), policy, workloads.size() - 1, {}});
        }
    return cells;
}

// The model keeps what it knows in its objects and in thread-local variables, so cells run side by side.
std::vector<compared> run_all(const compare_arguments &a)
{
    std::vector<workload::workload> workloads;
    std::vector<compared> cells = plan(a, workloads);
    progress_count progress("runs", cells.size());
    run_parallel(cells.size(), a.jobs, [&](std::size_t i) {
        compared &cell = cells[i];
        const auto backend = make_backend(backend_kind::model, cell.policy, a.in);
        cell.x = runner::run_experiment(workloads[cell.workload], *backend);
        cell.x->verdicts.clear(); // they refer to the workload; comparing is not judging
        progress.one_done();
    });
    return cells;
}

void print_json(const std::vector<compared> &runs)
{
    nlohmann::ordered_json j = nlohmann::ordered_json::array();
    for (const compared &r : runs)
        j.push_back({{"workload", r.name},
                     {"file", r.file},
                     {"settings", r.point},
                     {"policy", r.policy},
                     {"metrics", report::metrics_json(r.x->metrics)}});
    fmt::print("{}\n", j.dump(2));
}

void print_sweep(const std::vector<compared> &runs, const report::painter &p)
{
    report::table t({"settings", "policy", "frames", "avg", "p99", "failed", "evicted", "link/frame",
                     "outside", "gfx busy"});
    t.set_align(1, report::align::left);
    for (const compared &r : runs) {
        std::vector<report::table::cell> row{r.point, r.policy};
        for (const char *name :
             {"frames", "frame_time_avg_ms", "frame_time_p99_ms", "failed_submissions", "evictions",
              "link_read_bytes_per_frame", "outside_bytes_end", "gfx_busy_share"})
            for (const report::metric_descriptor &d : report::metric_table())
                if (std::string_view(d.name) == name)
                    row.emplace_back(report::format_metric(d.u, r.x->metrics.value(name).value_or(0)));
        t.add_row(std::move(row));
    }
    fmt::print("{}{}\n", t.render(p), p.paint(report::provenance_line, report::color::dim));
}

int compare(const compare_arguments &a)
{
    const std::vector<compared> runs = run_all(a);
    const report::painter p = report::painter::for_stream(stdout);
    if (a.json) {
        print_json(runs);
    } else if (a.sweep) {
        print_sweep(runs, p);
    } else {
        std::vector<report::compared_run> columns;
        for (const compared &r : runs)
            columns.push_back({{r.name, r.policy}, &r.x->metrics});
        fmt::print("{}", report::print_comparison(columns, p));
    }
    bool good = true;
    for (const compared &r : runs) {
        const std::string failures =
            runner::print_failures(r.x->run, r.file, report::painter::for_stream(stderr));
        good &= failures.empty();
        if (!failures.empty())
            fmt::print(stderr, "{}, {}:\n{}", r.name, r.policy, failures);
    }
    return good ? 0 : 1;
}

} // namespace

void add_compare_command(CLI::App &app, int &status)
{
    auto a = std::make_shared<compare_arguments>();
    CLI::App *c = app.add_subcommand(
        "compare", "Run scenarios or workloads under several policies on the model, side by side");
    c->add_option("file", a->files, "Scenarios (.toml) and workloads (.jsonl, .jsonl.zst)")->required();
    c->add_option("--policies", a->policies, "Policies, separated by commas (default: all)")
        ->delimiter(',')
        ->type_name("A,B");
    add_input_options(*c, a->in);
    c->add_flag("--sweep", a->sweep, "Every point of the scenario's [sweep], a row each");
    c->add_option("--jobs,-j", a->jobs, "Runs at a time (default: one a processor)")->type_name("N");
    c->add_flag("--json", a->json, "Print JSON");
    c->callback([a, &status] {
        status = guarded(a->files.size() == 1 ? a->files[0] : "a workload", [&] { return compare(*a); });
    });
}

} // namespace vramlab::cli
