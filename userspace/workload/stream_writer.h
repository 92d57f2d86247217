// SPDX-License-Identifier: MIT
// Writes workloads that are too long to be held as operations: they are made one after the other.
#pragma once

#include "workload/workload.h"

#include <functional>
#include <string>

namespace vramlab::workload {

// Calls its argument with each operation. Asked twice, for their number and for the operations; must make the
// same ones.
using operation_source = std::function<void(const std::function<void(const operation &)> &)>;

// As write_file(); of `header` everything but the operations.
void write_file(const workload &header, const operation_source &source, const std::string &path);

} // namespace vramlab::workload
