// SPDX-License-Identifier: MIT
// vramlab: what happens when programs ask for more video memory than there is. Exit status: see commands.h.
#include "cli/cmd_trace.h"
#include "cli/commands.h"
#include "report/table.h"

#include <CLI/CLI.hpp>

#include <csignal>

int main(int argc, char **argv)
{
    using namespace vramlab;

    std::signal(SIGPIPE, SIG_DFL); // `vramlab expand FILE | head` ends quietly
    CLI::App app{"Video memory under pressure: TTM's decisions, modelled and on the real kernel"};
    app.name("vramlab");
    app.require_subcommand(1);
    app.footer(std::string(report::provenance_line));
    int status = 0;
    cli::add_run_command(app, status);
    cli::add_compare_command(app, status);
    cli::add_bound_command(app, status);
    cli::add_report_command(app, status);
    cli::add_sweep_command(app, status);
    cli::add_cliff_command(app, status);
    cli::add_calibrate_command(app, status);
    cli::add_latency_command(app, status);
    cli::add_explain_command(app, status);
    cli::add_expand_command(app, status);
    cli::add_cases_command(app, status);
    cli::add_list_command(app, status);
    cli::add_conform_command(app, status);
#ifdef VRAMLAB_TRACE_COMMANDS
    cli::add_trace_command(app, status);
#endif
    try {
        app.parse(argc, argv);
    } catch (const CLI::ParseError &e) {
        return app.exit(e) ? 2 : 0; // help is no error
    }
    return status;
}
