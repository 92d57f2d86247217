// SPDX-License-Identifier: MIT
// What the commands about traces read, and what they say of it.
#pragma once

#include "trace/reader.h"

#include <memory>
#include <string>

namespace vramlab::cli {

inline constexpr const char *trace_in_words =
    "trace.dat of version 6 or 7, a text trace, or a zip archive with one";

// Throws std::runtime_error that names the file.
std::unique_ptr<trace::trace_reader> open_named(const std::string &file, bool kallsyms = false);

// On stderr, when all is read.
void print_damages(const std::string &file, const trace::damage_list &damages);

} // namespace vramlab::cli
