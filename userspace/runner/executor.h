// SPDX-License-Identifier: MIT
// Runs a workload on a memory backend, in file order or in time order, and says what came of each operation.
// The same code drives the model and the kernel, so that both see the same requests at the same device times.
#pragma once

#include "backend/memory_backend.h"
#include "workload/workload.h"

#include <functional>
#include <stdexcept>
#include <string>
#include <vector>

namespace vramlab::runner {

// A workload that cannot be run as written (two operations of one process at a time, an operation of the
// other order).
class workload_error : public std::runtime_error {
public:
    workload_error(u32 line, const std::string &what) : std::runtime_error(what), line_(line) {}
    u32 line() const { return line_; } // in the workload's file, 0 for unknown

private:
    u32 line_;
};

// What must hold for every run and did not: no progress within the bound on steps, or nobody left who could
// go on.
struct invariant_failure {
    std::string invariant; // "livelock", "deadlock"
    std::string message;
    u32 index = 0; // operation under way
    u32 line = 0;
};

struct op_result {
    result r;
    u64 begin_ns = 0;
    u64 end_ns = 0;
    bool done =
        false; // a request that began and was never finished, or that the end of the run cut off, is not
};

// What a caller sees after each operation.
struct operation_report {
    u32 index; // into workload.operations
    const workload::operation &op;
    // Operations whose results became known in this one, in that order. A request's own index, or, after step
    // and run, those of the begin operations that ended. Valid until the hook returns.
    const std::vector<u32> &completed;
    const std::vector<op_result> &results; // by index
    backend::memory_backend &backend;      // state() and query_usage() on demand
};

struct executor_options {
    events::event_sink *sink = nullptr; // the executor's own events and the backend's
    // Steps of tasks, or advances of the clock with nobody going on, that one operation may take.
    u64 max_steps = 1'000'000;
    // False stops the run (run_result::stopped).
    std::function<bool(const operation_report &)> after_operation;
    // Called now and then: operations done and device time.
    std::function<void(u64 operations, u64 now_ns)> progress;
};

struct run_result {
    std::vector<op_result> results; // by index of the operation
    std::vector<invariant_failure> failures;
    u64 end_ns = 0;
    bool stopped = false;
};

// Resets the backend to w.system and runs w. The event sink is taken off the backend again before this
// returns or throws. Throws workload_error, and whatever the backend throws.
run_result execute(const workload::workload &w, backend::memory_backend &b,
                   const executor_options &options = {});

// The operation's name in events and reports: that of the request kind, or of the operation. Static strings.
const char *op_name(const workload::operation &op);

} // namespace vramlab::runner
