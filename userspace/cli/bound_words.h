// SPDX-License-Identifier: MIT
// What commands show of a run's bounds: the same columns, notes and keys everywhere.
#pragma once

#include "runner/run_bounds.h"

#include <nlohmann/json_fwd.hpp>

#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace vramlab::cli {

// Headings of the columns that compare a run with its lower bounds.
std::vector<std::string> bound_headings();
// Their texts, one a heading; "-" without bounds.
std::vector<std::string> bound_texts(const std::optional<runner::run_bounds> &b);
// The line below such a table.
inline constexpr const char *bound_note =
    "x lower: link reads and lost time beside the least that any policy could have caused that knew the "
    "future, for "
    "the same submissions in the same order (Documentation/bounds.rst); -: that is 0; unknown: bounds too "
    "far apart";

// The same as numbers for tables of many runs, and what they are called. Without bounds, or where a number is
// not known: none.
std::vector<std::string> bound_columns();
std::vector<std::optional<double>> bound_values(const std::optional<runner::run_bounds> &b);

// What is unknown is left out.
nlohmann::ordered_json bounds_json(const runner::run_bounds &b);

} // namespace vramlab::cli
