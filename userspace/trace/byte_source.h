// SPDX-License-Identifier: MIT
// Where a trace's bytes come from: a file, or memory. Files are read piece by piece, never mapped, so that
// one that shrinks meanwhile is a short read and not a signal.
#pragma once

#include "base/types.h"

#include <memory>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

namespace vramlab::trace {

// The trace can't be used at all: what() says why and where.
class trace_error : public std::runtime_error {
public:
    explicit trace_error(const std::string &what) : std::runtime_error(what) {}
    trace_error(u64 offset, const std::string &what);
};

// A part of the trace that was not understood, and left out.
struct damage {
    u64 offset = 0; // in the file
    std::string what;
};

// Damages, as many as anybody would read; the rest is counted.
class damage_list {
public:
    void add(u64 offset, std::string what);
    const std::vector<damage> &first() const { return first_; }
    u64 count() const { return count_; }

private:
    static constexpr std::size_t kept = 100;
    std::vector<damage> first_;
    u64 count_ = 0;
};

class byte_source {
public:
    virtual ~byte_source() = default;
    virtual u64 size() const = 0;
    // Fills `out` from `offset` on; returns how many bytes there were. Throws trace_error if the file can't
    // be read.
    virtual std::size_t read(u64 offset, std::span<u8> out) const = 0;
};

// Throws trace_error if it can't be opened.
std::unique_ptr<byte_source> open_file(const std::string &path);
// Takes an open file over, from its begin.
std::unique_ptr<byte_source> source_of(std::FILE *f);
// The bytes must outlive the source.
std::unique_ptr<byte_source> source_of(std::span<const u8> bytes);

} // namespace vramlab::trace
