// SPDX-License-Identifier: MIT
// Sizes and times as people write them: "32MiB", "16ms". Integers only.
#pragma once

#include "base/types.h"

#include <optional>
#include <string_view>

namespace vramlab::workload {

std::optional<u64> parse_size(std::string_view text); // B, KiB, MiB, GiB; nothing: not a size, or above 2^64
std::optional<u64> parse_time(std::string_view text); // ns, us, ms, s

inline constexpr const char *size_words = "bytes, or an integer with B, KiB, MiB or GiB";
inline constexpr const char *time_words = "ns, or an integer with ns, us, ms or s";

} // namespace vramlab::workload
