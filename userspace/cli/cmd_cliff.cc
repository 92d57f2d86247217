// SPDX-License-Identifier: MIT
// vramlab cliff: frame time against how much video memory is wanted, around what there is.
#include "cli/commands.h"
#include "cli/demand.h"
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

std::vector<sweep_item> steps(const cliff_arguments &a, const demand_solver &solver,
                              const std::string &parameter, u64 vram_bytes)
{
    if (!a.step_percent || a.from_percent > a.to_percent)
        throw std::runtime_error(fmt::format("from {} to {} by {}, expected at least one step upwards",
                                             a.from_percent, a.to_percent, a.step_percent));
    std::vector<sweep_item> items;
    for (u32 percent = a.from_percent; percent <= a.to_percent; percent += a.step_percent) {
        const u64 demand = static_cast<u64>(u128{vram_bytes} * percent / 100);
        items.push_back({a.file, {{parameter, fmt::format("{}", solver.value_for(demand))}}});
    }
    return items;
}

// Where frames become a tenth longer than with the least demand.
std::string edge_words(const sweep_table &t, std::size_t policy, std::size_t column, u32 from, u32 step)
{
    const double base = t.rows[0][policy].values[column].value_or(0);
    for (std::size_t i = 1; i < t.rows.size(); i++)
        if (t.rows[i][policy].values[column].value_or(0) > base * 1.1)
            return fmt::format("from {} %", from + step * i);
    return "nowhere";
}

void print(const cliff_arguments &a, const sweep_table &t, u64 vram_bytes, const std::string &process)
{
    const report::painter p = report::painter::for_stream(stdout);
    std::vector<std::string> head{"wanted", "of VRAM"};
    for (const std::string &policy : a.of.policies)
        for (const char *what : {"avg", "p99"})
            head.push_back(policy + " " + what);
    report::table table(head);
    const std::size_t first = a.of.metrics.size(); // columns of the process come after those of all
    for (std::size_t i = 0; i < t.rows.size(); i++) {
        const u32 percent = a.from_percent + a.step_percent * static_cast<u32>(i);
        std::vector<report::table::cell> row{
            report::format_metric(report::unit::bytes, static_cast<double>(vram_bytes) * percent / 100),
            fmt::format("{} %", percent)};
        for (const sweep_row &r : t.rows[i])
            for (std::size_t m = 0; m < 2; m++)
                row.emplace_back(r.values[first + m]
                                     ? report::format_metric(report::unit::ms, *r.values[first + m])
                                     : "-");
        table.add_row(std::move(row));
    }
    fmt::print("frame times of {}\n{}\n", process, table.render(p));
    for (std::size_t policy = 0; policy < a.of.policies.size(); policy++)
        fmt::print("{}: a tenth longer than at {} %: {}\n", a.of.policies[policy], a.from_percent,
                   edge_words(t, policy, first, a.from_percent, a.step_percent));
    fmt::print("{}\n", p.paint(report::provenance_line, report::color::dim));
}

int cliff(cliff_arguments &a)
{
    a.of.policies = policies_of(a.of.policies);
    a.of.metrics = default_metrics();
    std::erase(a.of.metrics, "frames");
    const std::string parameter = parameter_of(a);
    const demand_solver solver(a.file, a.of.in, parameter);
    const workload::workload w = solver.load_with(128 * MiB);
    const u64 vram_bytes = w.system.device.vram_size_bytes;
    std::vector<sweep_item> items = steps(a, solver, parameter, vram_bytes);
    const std::string process = process_of(a, solver.load_with(solver.value_for(vram_bytes)));
    a.of.processes = {process};
    const std::string journal = a.output.empty() ? "" : journal_of(a.output);
    const sweep_table t = run_sweep(a.of, std::move(items), journal);
    print(a, t, vram_bytes, process);
    if (!a.output.empty())
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
    add_input_options(*c, a->of.in);
    c->add_option("--jobs,-j", a->of.jobs, "Points at a time (default: one a processor)")->type_name("N");
    c->add_option("--output,-o", a->output, "Write all metrics to this .csv or .json, resumable as sweep's")
        ->type_name("FILE");
    c->callback([a, &status] { status = guarded(a->file, [&] { return cliff(*a); }); });
}

} // namespace vramlab::cli
