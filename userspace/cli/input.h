// SPDX-License-Identifier: MIT
// What the subcommands have in common: the workload or scenario, the policy, the backend, and how errors are
// told.
#pragma once

#include "backend/memory_backend.h"
#include "base/mechanisms.h"
#include "workload/workload.h"

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace vramlab::cli {

struct input {
    std::vector<std::string> settings; // --set
    std::optional<u64> seed;           // --seed: of the scenario, and of policies that draw
};
void add_input_options(CLI::App &c, input &in);

// A scenario, expanded, or an explicit workload. Its name is that of the file if it has none. Throws
// workload::parse_error.
workload::workload load(const std::string &file, const input &in);

enum class backend_kind : unsigned char { model, kernel, kernel_here };
// --backend; kernel boots a guest in which this executable runs again with kernel-here.
void add_backend_option(CLI::App &c, backend_kind &kind);

// The policy's full name ("mainline" is short for that of the kernel release). Throws std::runtime_error with
// the names that there are.
std::string find_policy(const std::string &name);
std::string mainline_policy();
// What a kernel has to switch on for a policy. Throws std::runtime_error for one that is the model's own.
mechanisms kernel_mechanisms(const std::string &policy);
// Throws std::runtime_error if the backend does not have the policy.
std::unique_ptr<backend::memory_backend> make_backend(backend_kind kind, const std::string &policy,
                                                      const input &in);

// Runs the body of a subcommand; exceptions become a message on stderr and status 2. file names the input in
// errors that know only a line.
int guarded(const std::string &file, const std::function<int()> &body);

// The directory of the shipped scenarios: $VRAMLAB_SCENARIOS, above the executable, or in the source tree
// this was built from. Throws std::runtime_error if there is none.
std::string scenario_directory();
// Likewise that of the shipped calibration plans, beside it.
std::string calibration_directory();
// Paths of the *.toml and *.jsonl[.zst] files in it, sorted.
std::vector<std::string> files_in(const std::string &directory);

} // namespace vramlab::cli
