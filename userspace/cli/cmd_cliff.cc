// SPDX-License-Identifier: MIT
// vramlab cliff: frame time against how much video memory is wanted, around what there is.
#include "calibration/plan.h"
#include "cli/cliff_bands.h"
#include "cli/commands.h"
#include "cli/demand.h"
#include "cli/output.h"
#include "cli/policies.h"
#include "cli/sweep.h"
#include "report/metrics.h"
#include "report/table.h"

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>

namespace vramlab::cli {

namespace {

struct cliff_arguments {
    std::string file;
    std::string parameter;
    std::string process;
    u32 from_percent = 85;
    u32 to_percent = 130;
    u32 step_percent = 5;
    std::string output;
    u64 bands = 0; // draws of the plan's priors
    std::string plan;
    sweep_arguments of;
};

std::string parameter_of(const cliff_arguments &a)
{
    if (!a.parameter.empty())
        return a.parameter;
    const auto axes = workload::read_sweep(a.file);
    if (axes.empty())
        throw std::runtime_error(
            fmt::format("{}: has nothing to sweep, expected --param with the name of a size", a.file));
    return axes[0].name;
}

// Whose frame time: the process that wants most.
std::string process_of(const cliff_arguments &a, const workload::workload &w)
{
    if (!a.process.empty())
        return a.process;
    const std::vector<u64> demands = vram_demands(w);
    const auto most = static_cast<u32>(std::max_element(demands.begin(), demands.end()) - demands.begin());
    for (const process_config &p : w.system.processes)
        if (p.process == most)
            return p.name;
    return "";
}

std::vector<u32> percents(const cliff_arguments &a)
{
    if (!a.step_percent || a.from_percent > a.to_percent)
        throw std::runtime_error(fmt::format("from {} to {} by {}, expected at least one step upwards",
                                             a.from_percent, a.to_percent, a.step_percent));
    std::vector<u32> out;
    for (u32 percent = a.from_percent; percent <= a.to_percent; percent += a.step_percent)
        out.push_back(percent);
    return out;
}

std::vector<sweep_item> items_of(const cliff_steps &steps, const demand_solver &solver, u64 vram_bytes)
{
    std::vector<sweep_item> items;
    for (const u32 percent : steps.percent) {
        const u64 demand = static_cast<u64>(u128{vram_bytes} * percent / 100);
        items.push_back({steps.file, {{steps.parameter, fmt::format("{}", solver.value_for(demand))}}});
    }
    return items;
}

// One of them: what is shown of a step under a policy, and the number that the edge is judged by.
struct cell {
    std::string text;
    double value = 0;
};

cell cell_of(const cliff_arguments &a, const cliff_steps &steps, const sweep_table &t, std::size_t step,
             std::size_t policy, std::size_t column, report::unit unit)
{
    const auto text = [&](double value) { return report::format_metric(unit, value); };
    if (a.bands) {
        const band b = band_at(t, steps.percent.size(), step, policy, column);
        return b.draws
                   ? cell{fmt::format("{} ({} - {})", text(b.median), text(b.low), text(b.high)), b.median}
                   : cell{"-"};
    }
    const std::optional<double> &v = t.rows[step][policy].values[column];
    return v ? cell{text(*v), *v} : cell{"-"};
}

// Where frames become a tenth longer than with the least demand.
std::string edge_words(const cliff_arguments &a, const cliff_steps &steps, const sweep_table &t,
                       std::size_t policy, std::size_t column)
{
    const auto at = [&](std::size_t i) {
        return cell_of(a, steps, t, i, policy, column, report::unit::ms).value;
    };
    for (std::size_t i = 1; i < steps.percent.size(); i++)
        if (at(i) > at(0) * 1.1)
            return fmt::format("from {} %", steps.percent[i]);
    return "nowhere";
}

void print(const cliff_arguments &a, const cliff_steps &steps, const sweep_table &t, u64 vram_bytes,
           const std::string &process)
{
    const report::painter p = report::painter::for_stream(stdout);
    std::vector<std::string> head{"wanted", "of VRAM"};
    for (const std::string &policy : a.of.policies) {
        for (const char *what : {"avg", "p99"})
            head.push_back(policy + " " + what);
        if (a.of.bounds)
            head.push_back(policy + " link x lower");
    }
    report::table table(head);
    const std::size_t first = a.of.metrics.size(); // columns of the process come after those of all
    const std::vector<std::string> columns = sweep_columns(a.of);
    const auto ratio =
        static_cast<std::size_t>(std::find(columns.begin(), columns.end(), "link_x_lower") - columns.begin());
    for (std::size_t i = 0; i < steps.percent.size(); i++) {
        const u32 percent = steps.percent[i];
        std::vector<report::table::cell> row{
            report::format_metric(report::unit::bytes, static_cast<double>(vram_bytes) * percent / 100),
            fmt::format("{} %", percent)};
        for (std::size_t policy = 0; policy < a.of.policies.size(); policy++) {
            for (std::size_t m = 0; m < 2; m++)
                row.emplace_back(cell_of(a, steps, t, i, policy, first + m, report::unit::ms).text);
            if (a.of.bounds)
                row.emplace_back(cell_of(a, steps, t, i, policy, ratio, report::unit::share).text);
        }
        table.add_row(std::move(row));
    }
    fmt::print("frame times of {}\n{}\n", process, table.render(p));
    for (std::size_t policy = 0; policy < a.of.policies.size(); policy++)
        fmt::print("{}: {}a tenth longer than at {} %: {}\n", a.of.policies[policy], a.bands ? "median " : "",
                   a.from_percent, edge_words(a, steps, t, policy, first));
    if (a.bands)
        fmt::print("median (10th - 90th percentile) of {} draws of the priors\n", a.bands);
    fmt::print("{}\n", p.paint(report::provenance_line, report::color::dim));
}

void write_bands(const cliff_arguments &a, const cliff_steps &steps, const sweep_table &t)
{
    const std::string text =
        a.output.ends_with(".csv") ? bands_csv(a.of, steps, t) : bands_json(a.of, steps, t);
    write_sweep_text(a.output, text);
}

std::vector<sweep_item> plan_items(const cliff_arguments &a, const cliff_steps &steps,
                                   const demand_solver &solver, u64 vram_bytes)
{
    if (!a.bands)
        return items_of(steps, solver, vram_bytes);
    const std::string file = a.plan.empty() ? calibration_directory() + "/game.toml" : a.plan;
    drawn_items drawn = draw_items(a.of, calibration::read_plan(file), steps, a.bands);
    if (drawn.clamped)
        fmt::print(stderr, "{}: {} drawn values were clamped to what a scenario takes\n", file,
                   drawn.clamped);
    return std::move(drawn.items);
}

int cliff(cliff_arguments &a)
{
    a.of.policies = policies_of(a.of.policies);
    a.of.metrics = default_metrics();
    std::erase(a.of.metrics, "frames");
    const cliff_steps steps{a.file, parameter_of(a), percents(a)};
    const std::string journal = a.output.empty() ? "" : journal_of(a.output);
    const demand_solver solver(a.file, a.of.in, steps.parameter);
    const u64 vram_bytes = solver.load_with(128 * MiB).system.device.vram_size_bytes;
    const std::string process = process_of(a, solver.load_with(solver.value_for(vram_bytes)));
    a.of.processes = {process};
    const sweep_table t = run_sweep(a.of, plan_items(a, steps, solver, vram_bytes), journal);
    print(a, steps, t, vram_bytes, process);
    if (!a.output.empty() && a.bands)
        write_bands(a, steps, t);
    else if (!a.output.empty())
        write_sweep(a.output, a.of, t);
    for (const auto &rows : t.rows)
        for (const sweep_row &row : rows)
            if (row.failed_invariants)
                return 1;
    return 0;
}

} // namespace

void add_cliff_command(CLI::App &app, int &status)
{
    auto a = std::make_shared<cliff_arguments>();
    a->of.policies = {"mainline", "no-migration", "patched"};
    CLI::App *c = app.add_subcommand(
        "cliff", "Frame time against how much video memory is wanted, around what there is, on the model");
    c->add_option("file", a->file, "Scenario (.toml)")->required();
    c->add_option("--param", a->parameter,
                  "Parameter or key that is a size and makes the demand (default: the first of the "
                  "scenario's [sweep])")
        ->type_name("NAME");
    c->add_option("--process", a->process, "Whose frame times (default: who wants most)")->type_name("NAME");
    c->add_option("--from", a->from_percent, "Least demand, per cent of VRAM")->capture_default_str();
    c->add_option("--to", a->to_percent, "Largest demand, per cent of VRAM")->capture_default_str();
    c->add_option("--step", a->step_percent, "Per cent of VRAM")->capture_default_str();
    c->add_option("--policies", a->of.policies, "Policies, separated by commas")
        ->delimiter(',')
        ->capture_default_str()
        ->type_name("A,B");
    c->add_option(
         "--bands", a->bands,
         "Draw every prior of the calibration plan so many times; print median and the 10th and 90th "
         "percentile")
        ->check(CLI::Range(u64{1}, u64{100'000}))
        ->type_name("N");
    c->add_option("--plan", a->plan, "The plan (.toml; default: userspace/calibration/game.toml)")
        ->type_name("FILE");
    c->add_flag("--bounds", a->of.bounds, "Beside how little traffic any policy could have caused");
    add_input_options(*c, a->of.in);
    c->add_option("--jobs,-j", a->of.jobs, "Points at a time (default: one a processor)")->type_name("N");
    c->add_option("--output,-o", a->output, "Write all metrics to this .csv or .json, resumable as sweep's")
        ->type_name("FILE");
    c->callback([a, &status] { status = guarded(a->file, [&] { return cliff(*a); }); });
}

} // namespace vramlab::cli
