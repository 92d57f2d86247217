// SPDX-License-Identifier: MIT
#pragma once

#include "workload/workload.h"

#include <memory>
#include <string>

namespace vramlab::backend {
class memory_backend;
}

namespace vramlab::cli {

// Writes the run of w on the model under the policy as the source of an IGT test, and tells what is in it.
// Returns the exit status. Throws std::runtime_error for what can't be exported, and for a policy that no
// kernel has.
int export_igt_test(const workload::workload &w, backend::memory_backend &model, const std::string &policy,
                    const std::string &path);

} // namespace vramlab::cli
