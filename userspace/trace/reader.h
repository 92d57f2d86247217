// SPDX-License-Identifier: MIT
// Reads traces: trace.dat of versions 6 and 7, text as ftrace and `trace-cmd report` print it, and either of
// them in a zip archive. What is damaged is left out and said; what stands before the damage is read.
#pragma once

#include "trace/byte_source.h"
#include "trace/info.h"

#include <memory>

namespace vramlab::trace {

class trace_reader {
public:
    virtual ~trace_reader() = default;

    // The next event, by time; at equal times the lower CPU's first. False: there are no more. Throws
    // trace_error only if the file can't be read any more.
    virtual bool next(record &r) = 0;

    virtual const trace_info &info() const = 0;
    // Complete when next() has returned false.
    virtual const damage_list &damages() const = 0;
    // kallsyms of the traced machine, if it was asked for and is there.
    virtual std::string_view kallsyms() const { return {}; }
};

struct reader_options {
    bool kallsyms = false; // keep them for kallsyms(): megabytes
};

// By what is in the file, not by its name. Throws trace_error if it is none of these, or so broken that
// nothing can be read.
std::unique_ptr<trace_reader> open_trace(const std::string &path, const reader_options &options = {});
std::unique_ptr<trace_reader> open_trace(std::unique_ptr<byte_source> source,
                                         const reader_options &options = {});

// The kinds, one by one.
std::unique_ptr<trace_reader> open_dat(std::unique_ptr<byte_source> source, const reader_options &options);
std::unique_ptr<trace_reader> open_text(std::unique_ptr<byte_source> source);

} // namespace vramlab::trace
