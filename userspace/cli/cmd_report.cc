// SPDX-License-Identifier: MIT
// vramlab report: scenarios under several policies as one HTML file.
#include "cli/commands.h"
#include "cli/comparison.h"

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include <filesystem>

namespace vramlab::cli {

namespace {

struct report_arguments : comparison_arguments {
    page_arguments page{.command = "report", .bos = {}};
    std::string output = "report.html";
};

int make_report(report_arguments &a)
{
    a.timelines = true;
    const comparison c = run_comparison(a);
    write_page_file(a.output, a, c, a.page);
    std::error_code ignored;
    fmt::print("{}: {} runs; open it in a browser: file://{}\n", a.output, c.cells.size(),
               std::filesystem::weakly_canonical(a.output, ignored).string());
    return print_invariants(c) ? 0 : 1;
}

} // namespace

void add_report_command(CLI::App &app, int &status)
{
    auto a = std::make_shared<report_arguments>();
    CLI::App *c = app.add_subcommand(
        "report",
        "Draw scenarios or workloads under several policies, as one HTML file that needs nothing else");
    add_comparison_options(*c, *a);
    add_bounds_option(*c, *a);
    c->add_option("--output,-o", a->output, "File to write")->capture_default_str()->type_name("FILE");
    c->add_option("--bo", a->page.bos, "Show this BO's life, too (repeatable)")
        ->type_name("BO")
        ->expected(1)
        ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll)
        ->allow_extra_args(false);
    c->add_option("--bos", a->page.bos_max, "Show the lives of so many BOs: those that are evicted most")
        ->capture_default_str()
        ->type_name("N");
    c->callback([a, &status] {
        status = guarded(a->files.size() == 1 ? a->files[0] : "a workload", [&] { return make_report(*a); });
    });
}

} // namespace vramlab::cli
