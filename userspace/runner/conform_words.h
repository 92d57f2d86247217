// SPDX-License-Identifier: MIT
// Differences in words. Internal to runner/.
#pragma once

#include "backend/memory_backend.h"
#include "workload/workload.h"

#include <string>
#include <string_view>
#include <vector>

namespace vramlab::runner {

// "operation 17 (line 19 of the workload): process 2, VM 3: submit list 1, 20000 ns"
std::string describe_operation(const workload::workload &w, u32 index);

// What differs between two state texts, one difference a line: "BO 17: mem model gtt, kernel vram". At most
// max_lines.
std::string describe_state_difference(std::string_view model, std::string_view kernel, u32 max_lines = 40);

// The lines of a state that are about more than single BOs.
std::string summarize_state(std::string_view state);

} // namespace vramlab::runner
