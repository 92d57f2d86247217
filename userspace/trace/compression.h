// SPDX-License-Identifier: MIT
// What trace-cmd packs sections and pages with.
#pragma once

#include "base/types.h"

#include <span>
#include <string_view>
#include <vector>

namespace vramlab::trace {

enum class compression : u8 { none, zlib, zstd, unknown };
compression compression_of(std::string_view name);

// More is a fault, or an attack: packed pages of nothing but zeros stay below.
inline constexpr u64 expansion_max = 4096;

// Unpacks `in` to exactly out.size() bytes. False: it is broken, or gives another size; out is undefined
// then.
bool unpack(compression how, std::span<const u8> in, std::span<u8> out);

} // namespace vramlab::trace
