// SPDX-License-Identifier: MIT
// A run with everything that is said about it: metrics, expectations, failed invariants.
#pragma once

#include "report/metrics.h"
#include "runner/executor.h"
#include "runner/expect.h"
#include "runner/run_bounds.h"

#include <functional>
#include <string>
#include <vector>

namespace vramlab::runner {

struct experiment_options {
    std::vector<events::event_sink *> sinks; // besides the metrics
    std::function<void(u64 operations, u64 now_ns)> progress;
    std::function<void(const operation_report &)> after_operation;
    bool keep_state = false; // the backend's state after the last operation
    bool bounds = false;     // what any policy could have reached, of a run without failures
};

struct experiment {
    report::metrics metrics;
    run_result run;
    std::vector<verdict> verdicts; // refer to the workload
    std::string state;
    std::optional<run_bounds> bounds;

    // All expectations and invariants hold.
    bool good() const;
};

// Throws workload_error (also for an unknown metric, before anything runs), and whatever the backend throws.
experiment run_experiment(const workload::workload &w, backend::memory_backend &b,
                          const experiment_options &o = {});

// One line for each failed invariant; file names the workload.
std::string print_failures(const run_result &r, const std::string &file, const report::painter &p);

} // namespace vramlab::runner
