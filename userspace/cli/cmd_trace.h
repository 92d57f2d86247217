// SPDX-License-Identifier: MIT
// vramlab trace convert, stats and import.
#pragma once

namespace CLI {
class App;
}

namespace vramlab::cli {

void add_trace_command(CLI::App &app, int &status);
// Its part that converts.
void add_trace_convert(CLI::App &trace, int &status); // see commands.h

} // namespace vramlab::cli
