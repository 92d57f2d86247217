// SPDX-License-Identifier: MIT
// Writes explicit workloads in canonical form: keys in the order of Documentation/workload-format.rst,
// defaults left out. What reader accepts and writer wrote, writer writes again byte for byte.
#pragma once

#include "workload/workload.h"

#include <string>

namespace vramlab::workload {

std::string write_header(const workload &w); // one line with its newline; counts w.operations
void append_operation(std::string &out, const operation &op); // likewise

std::string write_string(const workload &w);

// Names that end in ".zst" are compressed. The file appears complete or not at all (written beside it, then
// renamed). Throws std::runtime_error.
void write_file(const workload &w, const std::string &path);

} // namespace vramlab::workload
