// SPDX-License-Identifier: MIT
// Lists of policies and metrics, as typed.
#pragma once

#include <string>
#include <vector>

namespace vramlab::cli {

// Full names; of none, all policies. Throws std::runtime_error for an unknown one.
std::vector<std::string> policies_of(const std::vector<std::string> &typed);
// Throws std::runtime_error if one is no metric.
void check_metrics(const std::vector<std::string> &metrics);
// What a sweep shows if nobody says otherwise.
std::vector<std::string> default_metrics();

} // namespace vramlab::cli
