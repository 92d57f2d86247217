// SPDX-License-Identifier: MIT
// vramlab compare: the same scenarios under several policies, side by side; --sweep: the scenario's grid, a
// row each.
#include "cli/bound_words.h"
#include "cli/commands.h"
#include "cli/comparison.h"
#include "report/metrics_print.h"

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <span>
#include <stdexcept>
#include <utility>

namespace vramlab::cli {

namespace {

struct compare_arguments : comparison_arguments {
    bool json = false;
    bool full = false;
    std::string page; // file, or empty
};

void print_json(const std::vector<compared> &runs)
{
    nlohmann::ordered_json j = nlohmann::ordered_json::array();
    for (const compared &r : runs) {
        j.push_back({{"workload", r.name},
                     {"file", r.file},
                     {"settings", r.point},
                     {"policy", r.policy},
                     {"metrics", report::metrics_json(r.x->metrics)}});
        if (r.x->bounds)
            j.back()["bounds"] = bounds_json(*r.x->bounds);
    }
    fmt::print("{}\n", j.dump(2));
}

bool any_bounds(std::span<const compared> runs)
{
    return std::any_of(runs.begin(), runs.end(), [](const compared &r) { return r.x->bounds.has_value(); });
}

// Rows of the table of few policies.
std::vector<std::pair<std::string, std::string>> bound_rows(const compared &r)
{
    std::vector<std::pair<std::string, std::string>> rows;
    const std::vector<std::string> headings = bound_headings(), texts = bound_texts(r.x->bounds);
    for (std::size_t i = 0; i < headings.size(); i++)
        rows.emplace_back(headings[i], texts[i]);
    return rows;
}

// What people look at first; a run each row.
std::string print_rows(std::span<const compared> runs, bool settings, const report::painter &p)
{
    static constexpr std::pair<const char *, const char *> shown[] = {
        {"frames", "frames"},
        {"avg", "frame_time_avg_ms"},
        {"p99", "frame_time_p99_ms"},
        {"failed submits", "failed_submissions"},
        {"other failures", "failed_operations"},
        {"evicted", "evictions"},
        {"link/frame", "link_read_bytes_per_frame"},
        {"back in 1 s", "reversals_1s"},
        {"ping-pong", "ping_pong_round_trips"},
        {"outside", "outside_bytes_end"},
        {"gfx busy", "gfx_busy_share"}};
    std::vector<std::string> headings{settings ? "settings" : runs[0].name, "policy"};
    for (const auto &[heading, name] : shown)
        headings.emplace_back(heading);
    const bool bounds = any_bounds(runs);
    if (bounds)
        for (const std::string &heading : bound_headings())
            headings.push_back(heading);
    report::table t(headings);
    t.set_align(1, report::align::left);
    for (const compared &r : runs) {
        std::vector<report::table::cell> row{settings ? r.point : "", r.policy};
        for (const auto &[heading, name] : shown)
            for (const report::metric_descriptor &d : report::metric_table())
                if (std::string_view(d.name) == name)
                    row.emplace_back(report::format_metric(d.u, r.x->metrics.value(name).value_or(0)));
        if (bounds)
            for (const std::string &text : bound_texts(r.x->bounds))
                row.emplace_back(text);
        t.add_row(std::move(row));
    }
    return t.render(p);
}

void print_sweep(const std::vector<compared> &runs, const report::painter &p)
{
    fmt::print("{}{}\n", print_rows(runs, true, p), p.paint(report::provenance_line, report::color::dim));
    if (any_bounds(runs))
        fmt::print("{}\n", p.paint(bound_note, report::color::dim));
}

// More columns than that don't fit on a screen.
constexpr std::size_t full_columns_max = 4;

// A table for each workload: all metrics, a policy each column; or, of many policies, the first things to
// look at.
void print_tables(const std::vector<compared> &runs, bool full, const report::painter &p)
{
    bool cut = false;
    for (std::size_t begin = 0, end; begin < runs.size(); begin = end) {
        for (end = begin; end < runs.size() && runs[end].workload == runs[begin].workload;)
            end++;
        const std::span cells(runs.data() + begin, end - begin);
        if (begin)
            fmt::print("\n");
        if (!full && cells.size() > full_columns_max) {
            fmt::print("{}{}\n", print_rows(cells, false, p),
                       p.paint(report::provenance_line, report::color::dim));
            cut = true;
            continue;
        }
        std::vector<report::compared_run> columns;
        const std::vector<std::pair<std::string, std::string>> no_rows;
        for (const compared &r : cells)
            columns.push_back(
                {{r.name, r.policy}, &r.x->metrics, any_bounds(cells) ? bound_rows(r) : no_rows});
        fmt::print("{}", report::print_comparison(columns, p));
    }
    if (any_bounds(runs))
        fmt::print("{}\n", p.paint(bound_note, report::color::dim));
    if (cut)
        fmt::print("{}\n", p.paint("all metrics, and those of each process: --full", report::color::dim));
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
        print_tables(c.cells, a.full, p);
    return print_invariants(c) ? 0 : 1;
}

} // namespace

void add_compare_command(CLI::App &app, int &status)
{
    auto a = std::make_shared<compare_arguments>();
    CLI::App *c = app.add_subcommand(
        "compare", "Run scenarios or workloads under several policies on the model, side by side");
    add_comparison_options(*c, *a);
    add_bounds_option(*c, *a);
    c->add_flag("--sweep", a->sweep, "Every point of the scenario's [sweep], a row each");
    c->add_flag("--json", a->json, "Print JSON");
    c->add_flag("--full", a->full, "All metrics, a policy each column, also of more than four policies");
    c->add_option("--report", a->page, "Write the report (see `vramlab report`) of these runs too")
        ->type_name("FILE");
    c->callback([a, &status] {
        status = guarded(a->files.size() == 1 ? a->files[0] : "a workload", [&] { return compare(*a); });
    });
}

} // namespace vramlab::cli
