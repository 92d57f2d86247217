// SPDX-License-Identifier: MIT
// Where converted records go, and the forms that there are.
#pragma once

#include "trace/info.h"

#include <cstdio>
#include <memory>
#include <string_view>

namespace vramlab::gputrace {

class record_sink {
public:
    virtual ~record_sink() = default;
    // By time, as the reader gives them. info: what is known of tasks so far.
    virtual void write(const trace::record &r, const trace::trace_info &info) = 0;
    // Once, after the last record.
    virtual void finish(const trace::trace_info &info, std::string_view kallsyms) = 0;
    // Records that the form can't hold.
    virtual u64 dropped() const { return 0; }
};

// `out` is the caller's, and must outlive the sink. All throw std::runtime_error if it can't be written.
std::unique_ptr<record_sink> make_dat_sink(std::FILE *out, const trace::trace_info &info);
std::unique_ptr<record_sink> make_text_sink(std::FILE *out);
// The JSON form that Perfetto and Chromium read ("Trace Event Format"): jobs as slices of their engines,
// waits and frames as slices of their processes, everything else as instants.
std::unique_ptr<record_sink> make_perfetto_sink(std::FILE *out);

} // namespace vramlab::gputrace
