// SPDX-License-Identifier: MIT
// vramlab compare: the same scenarios under several policies, side by side; --sweep: the scenario's grid, a
// row each.
#include "cli/commands.h"
#include "cli/comparison.h"
#include "report/metrics_print.h"

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <stdexcept>

namespace vramlab::cli {

namespace {

struct compare_arguments : comparison_arguments {
    bool json = false;
    std::string page; // file, or empty
};

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

// A table for each workload.
void print_tables(const std::vector<compared> &runs, const report::painter &p)
{
    std::vector<report::compared_run> columns;
    for (std::size_t i = 0; i < runs.size(); i++) {
        columns.push_back({{runs[i].name, runs[i].policy}, &runs[i].x->metrics});
        if (i + 1 < runs.size() && runs[i + 1].workload == runs[i].workload)
            continue;
        fmt::print("{}{}", report::print_comparison(columns, p), i + 1 < runs.size() ? "\n" : "");
        columns.clear();
    }
}

int compare(compare_arguments &a)
{
    a.timelines = !a.page.empty();
    if (a.timelines && a.sweep)
        throw std::runtime_error("--report with --sweep, expected one of them");
    const comparison c = run_comparison(a);
    const report::painter p = report::painter::for_stream(stdout);
    if (a.timelines)
        write_page_file(a.page, a, c, {.command = "compare"});
    if (a.json)
        print_json(c.cells);
    else if (a.sweep)
        print_sweep(c.cells, p);
    else
        print_tables(c.cells, p);
    return print_invariants(c) ? 0 : 1;
}

} // namespace

void add_compare_command(CLI::App &app, int &status)
{
    auto a = std::make_shared<compare_arguments>();
    CLI::App *c = app.add_subcommand(
        "compare", "Run scenarios or workloads under several policies on the model, side by side");
    add_comparison_options(*c, *a);
    c->add_flag("--sweep", a->sweep, "Every point of the scenario's [sweep], a row each");
    c->add_flag("--json", a->json, "Print JSON");
    c->add_option("--report", a->page, "Write the report (see `vramlab report`) of these runs too")
        ->type_name("FILE");
    c->callback([a, &status] {
        status = guarded(a->files.size() == 1 ? a->files[0] : "a workload", [&] { return compare(*a); });
    });
}

} // namespace vramlab::cli
