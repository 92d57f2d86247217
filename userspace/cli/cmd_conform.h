// SPDX-License-Identifier: MIT
#pragma once

namespace CLI {
class App;
}

namespace vramlab::cli {

// Adds the subcommand; running it sets the exit status: 0 all equal, 1 something differs, 2 it could not be
// done.
void add_conform_command(CLI::App &app, int &status);

} // namespace vramlab::cli
