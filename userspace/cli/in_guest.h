// SPDX-License-Identifier: MIT
// --backend=kernel: the same command again, inside a guest, with --backend=kernel-here.
#pragma once

#include <string>
#include <vector>

namespace vramlab::cli {

// A file that the command writes: option and the user's path. In the guest it is written to the exchange
// directory, and moved to its place when the guest has ended with status 0 or 1.
struct guest_output {
    std::string option; // "--events"
    std::string path;   // empty: not asked for
};

// Arguments without --backend; relative paths of inputs must have been made absolute. Returns the exit
// status. Throws std::runtime_error if the guest did not boot or broke.
int run_in_guest(std::vector<std::string> arguments, const std::vector<guest_output> &outputs = {});

} // namespace vramlab::cli
