// SPDX-License-Identifier: MIT
// vramlab trace convert, stats and import.
#pragma once

namespace CLI {
class App;
}

namespace vramlab::cli {

void add_trace_command(CLI::App &app, int &status); // see commands.h

} // namespace vramlab::cli
