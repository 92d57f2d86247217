// SPDX-License-Identifier: MIT
// Lines of a plain, compressed or in-memory text file. A last line without newline is a truncated file.
#pragma once

#include "base/types.h"

#include <memory>
#include <string>
#include <string_view>

namespace vramlab::workload {

class line_source {
public:
    virtual ~line_source() = default;

    // The next line without its newline; false at the end. Throws parse_error: a line too long or not
    // terminated, a read error, a broken or incomplete compressed file.
    bool next(std::string &line);

    const std::string &file() const { return file_; }
    u32 line() const { return line_; } // of the line returned last, from 1

protected:
    explicit line_source(std::string file) : file_(std::move(file)) {}

    // Up to a buffer of bytes into chunk, valid until the next call; empty at the end.
    virtual std::string_view read_chunk() = 0;

    [[noreturn]] void fail(const std::string &problem, const std::string &expected) const;

private:
    std::string file_;
    std::string_view chunk_;
    u32 line_ = 0;
    bool ended_ = false;
};

std::unique_ptr<line_source> open_lines(const std::string &path);                      // ".zst": decompressed
std::unique_ptr<line_source> lines_of(std::string_view text, const std::string &file); // text must outlive it

} // namespace vramlab::workload
