// SPDX-License-Identifier: MIT
// Scenarios under several policies on the model, side by side: what compare and report run.
#pragma once

#include "cli/input.h"
#include "report/timeline.h"
#include "runner/experiment.h"

#include <optional>

namespace vramlab::report {
struct page_scenario;
}

namespace vramlab::cli {

struct comparison_arguments {
    std::vector<std::string> files;
    std::vector<std::string> policies; // as typed; none: all
    input in;
    bool sweep = false;     // every point of each scenario's [sweep]
    bool timelines = false; // what the page draws
    bool bounds = true;     // what any policy could have reached
    u32 jobs = 0;           // 0: one a processor
};
void add_comparison_options(CLI::App &c, comparison_arguments &a);
// --no-bounds, for those that can do without.
void add_bounds_option(CLI::App &c, comparison_arguments &a);

// One cell of the grid.
struct compared {
    std::string file;
    std::string name;  // of the workload
    std::string point; // of the sweep
    std::string policy;
    input in;                              // with the settings of the point
    std::size_t workload = 0;              // number of its workload; cells of one are next to each other
    std::optional<runner::experiment> x;   // has run
    std::optional<report::timeline> drawn; // with timelines
};

struct comparison {
    std::vector<system_config> systems; // by number of the workload
    std::vector<compared> cells;
};

// Runs all of it. Throws parse_error and whatever a run throws.
comparison run_comparison(const comparison_arguments &a);
// Says on stderr which invariants did not hold. True if all did.
bool print_invariants(const comparison &c);

struct page_arguments {
    std::string command;  // "report" or "compare"
    std::vector<u64> bos; // whose lives to show besides those that were evicted most
    std::size_t bos_max = 40;
};
// Writes the page of a comparison with timelines, all of it or nothing. Throws std::runtime_error.
void write_page_file(const std::string &path, const comparison_arguments &a, const comparison &c,
                     const page_arguments &page);

} // namespace vramlab::cli
