// SPDX-License-Identifier: MIT
// Limits of plans and predictions. Internal to their parsers.
#pragma once

#include "workload/limits.h"

#include <cstddef>

namespace vramlab::calibration {

inline constexpr std::size_t item_max = 256; // tables of a kind, texts of a list
inline constexpr std::size_t path_max = 16;  // of a prior or scalar
inline constexpr std::size_t text_max = workload::text_max_bytes;
inline constexpr const char *keys = "the keys of Documentation/calibration.rst";

} // namespace vramlab::calibration
