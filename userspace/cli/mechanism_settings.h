// SPDX-License-Identifier: MIT
// Settings (--set, and axes of sweeps) that are the mechanisms', not the scenario's. They are called as the
// kernel calls its module parameters: ttm.throttle_strong_ms=100.
#pragma once

#include "base/mechanism_times.h"
#include "workload/scenario.h"

#include <string>
#include <vector>

namespace vramlab::cli {

// Those of the scenario among PATH=VALUE texts. Throws workload::parse_error.
std::vector<workload::setting> scenario_settings(const std::vector<std::string> &texts);
// What the others say; later ones win. Throws workload::parse_error for an unknown name, or no number of ms.
mechanism_times times_of(const std::vector<std::string> &texts);

} // namespace vramlab::cli
