// SPDX-License-Identifier: MIT
// vramlab compare: the same scenarios under several policies, side by side; --sweep: the scenario's grid, a
// row each.
#include "cli/commands.h"
#include "cli/input.h"
#include "cli/output.h"
#include "driver/policy.h"
#include "report/metrics_print.h"
#include "runner/experiment.h"
#include "workload/scenario.h"

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <stdexcept>

namespace vramlab::cli {

namespace {

struct compare_arguments {
    std::vector<std::string> files;
    std::vector<std::string> policies;
    input in;
    bool sweep = false;
    bool json = false;
};

// One cell of the grid.
struct compared {
    std::string file;
    std::string name;  // of the workload
    std::string point; // of the sweep
    std::string policy;
    runner::experiment x;
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

std::vector<compared> run_all(const compare_arguments &a)
{
    std::vector<std::string> policies;
    for (const std::string &p : a.policies)
        policies.push_back(find_policy(p));
    if (policies.empty())
        for (std::string_view p : driver::policy_names())
            policies.emplace_back(p);
    std::vector<compared> out;
    for (const std::string &file : a.files)
        for (const auto &point : points_of(file, a.sweep)) {
            input in = a.in;
            for (const workload::setting &s : point)
                in.settings.push_back(s.path + "=" + s.value);
            const workload::workload w = load(file, in);
            runner::check_expectations(w);
            for (const std::string &policy : policies) {
                progress_line progress(fmt::format("{} {} {}", w.name, point_words(point), policy));
                runner::experiment_options o;
                o.progress = [&](u64 operations, u64 now_ns) { progress.show(operations, now_ns); };
                const auto backend = make_backend(backend_kind::model, policy, in);
                out.push_back({file, w.name, point_words(point), policy, run_experiment(w, *backend, o)});
                out.back().x.verdicts.clear(); // they refer to w; comparing is not judging
            }
        }
    return out;
}

void print_json(const std::vector<compared> &runs)
{
    nlohmann::ordered_json j = nlohmann::ordered_json::array();
    for (const compared &r : runs)
        j.push_back({{"workload", r.name},
                     {"file", r.file},
                     {"settings", r.point},
                     {"policy", r.policy},
                     {"metrics", report::metrics_json(r.x.metrics)}});
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
                    row.emplace_back(report::format_metric(d.u, r.x.metrics.value(name).value_or(0)));
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
            columns.push_back({{r.name, r.policy}, &r.x.metrics});
        fmt::print("{}", report::print_comparison(columns, p));
    }
    bool good = true;
    for (const compared &r : runs) {
        const std::string failures =
            runner::print_failures(r.x.run, r.file, report::painter::for_stream(stderr));
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
    c->add_flag("--json", a->json, "Print JSON");
    c->callback([a, &status] {
        status = guarded(a->files.size() == 1 ? a->files[0] : "a workload", [&] { return compare(*a); });
    });
}

} // namespace vramlab::cli
