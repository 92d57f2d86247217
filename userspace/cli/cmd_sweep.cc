// SPDX-License-Identifier: MIT
// vramlab sweep: parameters × scenarios × policies on all processors, as CSV or JSON.
#include "cli/commands.h"
#include "cli/policies.h"
#include "cli/sweep.h"
#include "report/table.h"

#include <CLI/CLI.hpp>
#include <fmt/format.h>

namespace vramlab::cli {

namespace {

struct sweep_command_arguments {
    std::vector<std::string> files;
    std::vector<std::string> parameters;
    std::string output;
    bool json = false;
    sweep_arguments of;
};

int sweep(sweep_command_arguments &a)
{
    a.of.policies = policies_of(a.of.policies);
    check_metrics(a.of.metrics);
    std::vector<sweep_item> items;
    for (const std::string &file : a.files)
        for (sweep_item &item : sweep_grid(file, a.parameters))
            items.push_back(std::move(item));
    const std::string journal = a.output.empty() ? "" : journal_of(a.output);
    const sweep_table t = run_sweep(a.of, std::move(items), journal);
    u64 failed = 0;
    for (const auto &rows : t.rows)
        for (const sweep_row &row : rows)
            failed += row.failed_invariants != 0;
    if (a.output.empty()) {
        fmt::print("{}", a.json ? sweep_json(a.of, t) : sweep_csv(a.of, t));
    } else {
        write_sweep(a.output, a.of, t);
        fmt::print("{}: {} points, {} runs\n{}\n", a.output, t.items.size(),
                   t.items.size() * a.of.policies.size(), report::provenance_line);
    }
    if (failed)
        fmt::print(stderr, "invariants failed in {} runs: see the column failed_invariants\n", failed);
    return failed ? 1 : 0;
}

} // namespace

void add_sweep_command(CLI::App &app, int &status)
{
    auto a = std::make_shared<sweep_command_arguments>();
    a->of.metrics = default_metrics();
    CLI::App *c = app.add_subcommand(
        "sweep", "Run the grid of parameters of scenarios, under several policies, on the model");
    c->add_option("file", a->files, "Scenarios (.toml)")->required();
    c->add_option("--param", a->parameters,
                  "Values of a parameter or key (repeatable: the grid); default: the scenario's [sweep]")
        ->type_name("NAME=V,V")
        ->expected(1)
        ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll)
        ->allow_extra_args(false);
    c->add_option("--policies", a->of.policies, "Policies, separated by commas (default: all)")
        ->delimiter(',')
        ->type_name("A,B");
    c->add_option("--metrics", a->of.metrics, "Metrics, separated by commas")
        ->delimiter(',')
        ->type_name("A,B");
    c->add_option("--process", a->of.processes,
                  "Those of this process, too (repeatable, or separated by commas)")
        ->delimiter(',')
        ->type_name("NAME");
    c->add_flag("--bounds", a->of.bounds,
                "Columns of how little traffic any policy could have caused, knowing the future");
    add_input_options(*c, a->of.in);
    c->add_option("--jobs,-j", a->of.jobs, "Points at a time (default: one a processor)")->type_name("N");
    c->add_option("--output,-o", a->output,
                  "Write this .csv or .json; if the sweep is interrupted, the same command goes on with it")
        ->type_name("FILE");
    c->add_flag("--json", a->json, "Print JSON, not CSV, if there is no output file");
    c->callback([a, &status] {
        status = guarded(a->files.size() == 1 ? a->files[0] : "a workload", [&] { return sweep(*a); });
    });
}

} // namespace vramlab::cli
