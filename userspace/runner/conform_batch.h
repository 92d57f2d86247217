// SPDX-License-Identifier: MIT
// Conformance of many workloads: seeds of random ones, or files. Keeps the counts, shrinks what fails and
// writes it down.
#pragma once

#include "runner/conform.h"

#include <nlohmann/json_fwd.hpp>

#include <chrono>
#include <map>
#include <string>
#include <vector>

namespace vramlab::runner {

struct batch_failure {
    std::string name;        // of the workload
    std::string text;        // the difference in words, of the shrunk workload if there is one
    std::string file;        // the (shrunk) workload, if it was written
    u64 operations = 0;      // of the original
    u64 operations_left = 0; // of the shrunk one
};

struct batch_result {
    u64 workloads = 0;
    u64 operations = 0;       // compared
    u64 workloads_deadlk = 0; // in which -EDEADLK was taken
    u64 deadlk = 0;
    std::map<int, u64> errors; // results by error number, 0 for success
    std::vector<batch_failure> failures;
    u64 elapsed_ms = 0;

    void add(const batch_result &o);
    std::string summary() const;
};
nlohmann::json to_json(const batch_result &r);
batch_result batch_from_json(const nlohmann::json &j);

struct batch_options {
    bool shrink = true;
    u32 shrink_runs_max = 3000;
    u32 failures_max = 5;         // then it ends
    std::string output_dir = "."; // for workloads that fail
    std::string side = "kernel";  // what the other side is called in progress messages
};

class conform_batch {
public:
    // Borrows both backends.
    conform_batch(backend::memory_backend &model, backend::memory_backend &kernel, const batch_options &o);

    // False when there are enough failures.
    bool run(const workload::workload &w);
    // Rough progress on stderr, every two seconds at most; `total` workloads are expected.
    void expect(u64 total) { total_ = total; }
    const batch_result &result();

private:
    void on_failure(const workload::workload &w, const comparison &c);
    void progress(const std::string &doing);

    backend::memory_backend &model_;
    backend::memory_backend &kernel_;
    batch_options o_;
    batch_result result_;
    u64 total_ = 0;
    std::chrono::steady_clock::time_point start_;
    std::chrono::steady_clock::time_point shown_;
};

} // namespace vramlab::runner
