// SPDX-License-Identifier: MIT
// A run as the source of an IGT test: it asks vttm for the same, call by call, and asserts what came of each,
// and the state at the end. What plays it is igt-tests/vttm/igt_vttm_replay.c.
#pragma once

#include "base/mechanisms.h"
#include "runner/recorder.h"
#include "workload/workload.h"

#include <string>
#include <vector>

namespace vramlab::runner {

struct igt_export {
    const workload::workload &w;
    const std::vector<recorded_call> &calls;
    const std::string &state;          // at the end, as memory_backend::state() says it
    std::string policy;                // whose run it is
    mechanisms switches;               // what the kernel has to switch on for it
    std::vector<std::string> verdicts; // of the workload's expectations, in words
};

// The test's name without ".c": that of the workload, as far as a file and a subtest can be called so.
std::string igt_subtest_name(const workload::workload &w);

// The source. Throws std::runtime_error for what a replay can't do: more calls, VMs, lists or processes than
// it has room for.
std::string igt_source(const igt_export &e);

} // namespace vramlab::runner
