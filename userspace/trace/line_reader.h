// SPDX-License-Identifier: MIT
// A file line by line, in bounded memory.
#pragma once

#include "trace/byte_source.h"

#include <string_view>
#include <vector>

namespace vramlab::trace {

class line_reader {
public:
    static constexpr std::size_t line_max_bytes = 64 * KiB; // the rest of a longer one is left out

    explicit line_reader(const byte_source &source) : source_(source) { buffer_.reserve(block_bytes); }
    // Without its line feed; valid until the next call. False: there are no more.
    bool next(std::string_view &line);
    u64 offset() const { return offset_; } // of that line's first byte
    bool cut() const { return cut_; }      // the last line had no line feed

private:
    static constexpr std::size_t block_bytes = 256 * KiB;
    bool fill();

    const byte_source &source_;
    std::vector<u8> buffer_;
    std::size_t position_ = 0; // in the buffer, of the next line
    u64 buffer_offset_ = 0;    // in the file
    u64 offset_ = 0;
    bool cut_ = false;
    bool skip_ = false; // until the end of an overlong line
};

} // namespace vramlab::trace
