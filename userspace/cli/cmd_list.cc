// SPDX-License-Identifier: MIT
// vramlab list: what there is to run.
#include "cli/commands.h"
#include "cli/input.h"
#include "driver/policy.h"
#include "report/table.h"
#include "workload/scenario.h"

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include <filesystem>

namespace vramlab::cli {

namespace {

std::string first_line(const std::string &text)
{
    const std::size_t begin = text.find_first_not_of(" \n");
    return begin == std::string::npos ? "" : text.substr(begin, text.find('\n', begin) - begin);
}

int list()
{
    const report::painter p = report::painter::for_stream(stdout);
    report::table policies({"policy", ""});
    policies.set_align(1, report::align::left);
    for (std::string_view name : driver::policy_names())
        policies.add_row({std::string(name), std::string(driver::policy_description(name))});
    const std::string dir = scenario_directory();
    report::table scenarios({"scenario", ""});
    scenarios.set_align(1, report::align::left);
    for (const std::string &file : files_in(dir)) {
        std::string what;
        if (file.ends_with(".toml"))
            what = first_line(workload::read_scenario(file).description);
        scenarios.add_row({std::filesystem::path(file).filename().string(), what});
    }
    fmt::print("{}\n{}in {}\n", policies.render(p), scenarios.render(p), dir);
    return 0;
}

} // namespace

void add_list_command(CLI::App &app, int &status)
{
    CLI::App *c = app.add_subcommand("list", "List policies and the scenarios that come along");
    c->callback([&status] { status = guarded("", list); });
}

} // namespace vramlab::cli
