// SPDX-License-Identifier: MIT
// The subcommands. Each adds itself to the command line; running it sets the exit status: 0 good, 1 an
// expectation or an invariant failed, 2 bad input or the thing cannot be done (the message is on stderr and
// nothing was half-written).
#pragma once

#include "cli/cmd_conform.h"

namespace CLI {
class App;
}

namespace vramlab::cli {

void add_run_command(CLI::App &app, int &status);
void add_bound_command(CLI::App &app, int &status);
void add_compare_command(CLI::App &app, int &status);
void add_explain_command(CLI::App &app, int &status);
void add_expand_command(CLI::App &app, int &status);
void add_cases_command(CLI::App &app, int &status);
void add_report_command(CLI::App &app, int &status);
void add_sweep_command(CLI::App &app, int &status);
void add_cliff_command(CLI::App &app, int &status);
void add_calibrate_command(CLI::App &app, int &status);
void add_latency_command(CLI::App &app, int &status);
void add_list_command(CLI::App &app, int &status);

} // namespace vramlab::cli
