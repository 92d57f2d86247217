// SPDX-License-Identifier: MIT
// Reads explicit workloads (JSON Lines; Documentation/workload-format.rst). Everything is checked: a workload
// that was read is well-formed, so that what fails in a run is the memory manager's doing. Throws
// parse_error.
#pragma once

#include "workload/checker.h"
#include "workload/line_source.h"
#include "workload/parse_error.h"
#include "workload/workload.h"

#include <memory>
#include <string>
#include <string_view>

namespace vramlab::workload {

// Streaming: one operation at a time, in constant memory but for the table of live objects. A caller that
// acts on operations before next() has returned false acts on a file whose rest may yet prove wrong.
class reader {
public:
    // Names that end in ".zst" are decompressed. Reads the header.
    explicit reader(const std::string &path);
    explicit reader(std::unique_ptr<line_source> source);
    ~reader();
    reader(const reader &) = delete;
    reader &operator=(const reader &) = delete;

    // All but the operations.
    const workload &header() const { return header_; }

    // The next operation into op (whose vectors are reused). False at the end of a complete file.
    bool next(operation &op);

private:
    void read_header();

    std::unique_ptr<line_source> source_;
    workload header_;
    checker checker_;
    u64 operations_ = 0;
    u64 expected_operations_ = never_ns; // never_ns: the header does not say
    std::string line_;
};

// The whole file, or an exception: no partial results.
workload read_file(const std::string &path);

// Likewise from memory (not compressed); file names it in errors.
workload read_string(std::string_view text, const std::string &file = "<string>");

} // namespace vramlab::workload
