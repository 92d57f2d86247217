// SPDX-License-Identifier: MIT
// Metrics of a run as text and as JSON.
#pragma once

#include "report/metrics.h"
#include "report/table.h"

#include <nlohmann/json_fwd.hpp>

#include <span>
#include <string>
#include <utility>
#include <vector>

namespace vramlab::report {

// The tables of one run, ending with provenance_line.
std::string print_metrics(const metrics &m, const painter &p);

// One metric a row, one run a column; rows in which all are zero are left out. Ends with provenance_line.
struct compared_run {
    std::vector<std::string> heading; // lines above the column, as many for each run
    const metrics *m;
    // Rows of their own after the metrics of all: label and text. The same labels for each run.
    std::vector<std::pair<std::string, std::string>> more = {};
};
std::string print_comparison(std::span<const compared_run> runs, const painter &p);

// {"total": {metric: value}, "processes": {name: {metric: value}}, "ping_pong": [...], "provenance": ...}
nlohmann::ordered_json metrics_json(const metrics &m);

} // namespace vramlab::report
