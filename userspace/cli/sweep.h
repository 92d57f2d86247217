// SPDX-License-Identifier: MIT
// Many points of scenarios' parameters, each under several policies, on all processors: what sweep and cliff
// run.
#pragma once

#include "cli/input.h"
#include "workload/scenario.h"

#include <optional>

namespace vramlab::cli {

struct sweep_arguments {
    std::vector<std::string> policies;  // full names
    std::vector<std::string> metrics;   // of the total, then likewise of each process
    std::vector<std::string> processes; // a scenario may lack them: no value then
    input in;
    u32 jobs = 0;        // 0: one a processor
    bool bounds = false; // columns of what any policy could have reached
};

// A point: one scenario with settings of its own, on top of input::settings.
struct sweep_item {
    std::string file;
    std::vector<workload::setting> point;
};

// One item under one policy.
struct sweep_row {
    std::vector<std::optional<double>> values; // in the order of sweep_columns()
    u64 failed_invariants = 0;
};

struct sweep_table {
    std::vector<sweep_item> items;
    std::vector<std::vector<sweep_row>> rows; // by item, then by policy
};

// Names of the values: "metric" of the total, then "process.metric", then those of bounds.
std::vector<std::string> sweep_columns(const sweep_arguments &a);

// The grid of NAME=V,V,... (`parameters`), or, if there are none, of the scenario's own [sweep]. Throws
// parse_error, and std::runtime_error if there is nothing to sweep.
std::vector<sweep_item> sweep_grid(const std::string &file, const std::vector<std::string> &parameters);

// Runs every item. With a journal (a path; empty: none) each item is written there when it is done, and those
// that are there already, from a sweep that was the same in everything, are not run again. Every item is
// parsed before the first is run. Throws parse_error, std::runtime_error, and whatever a run throws.
sweep_table run_sweep(const sweep_arguments &a, std::vector<sweep_item> items, const std::string &journal);

// One line an item and policy, after a line of names: file, each parameter, policy, the columns,
// failed_invariants.
std::string sweep_csv(const sweep_arguments &a, const sweep_table &t);
std::string sweep_json(const sweep_arguments &a, const sweep_table &t);

// Writes the table to `path` (.csv or .json; all or nothing) and removes its journal.
void write_sweep(const std::string &path, const sweep_arguments &a, const sweep_table &t);
// Likewise with a text made of it.
void write_sweep_text(const std::string &path, const std::string &text);
// That of a table. Throws std::runtime_error if path is neither .csv nor .json.
std::string journal_of(const std::string &path);

} // namespace vramlab::cli
