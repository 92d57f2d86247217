// SPDX-License-Identifier: MIT
// Reading numbers and strings one after another: from a file, or from a section that was unpacked.
#pragma once

#include "trace/byte_source.h"
#include "trace/record.h"

namespace vramlab::trace {

// Every read that goes beyond the end throws trace_error with the place in the file.
class dat_bytes {
public:
    // file_offset: where errors say that the first byte is. end: of what may be read, in the source.
    dat_bytes(const byte_source &source, byte_order order, u64 offset, u64 end, u64 file_offset)
        : source_(source), order_(order), position_(offset), begin_(offset), end_(end),
          file_offset_(file_offset)
    {
    }

    u8 number8(const char *what);
    u16 number16(const char *what);
    u32 number32(const char *what);
    u64 number64(const char *what);
    std::string bytes(u64 size, const char *what);
    // Up to a NUL, which is skipped; at most 4096 bytes.
    std::string string(const char *what);
    void expect(std::string_view literal, const char *what);
    void skip(u64 size, const char *what);

    u64 position() const { return position_; } // in the source
    u64 offset() const { return file_offset_ + (position_ - begin_); }
    bool at_end() const { return position_ >= end_; }
    void seek(u64 position) { position_ = position; }
    byte_order order() const { return order_; }
    void set_order(byte_order o) { order_ = o; }

private:
    void get(std::span<u8> out, const char *what);
    [[noreturn]] void cut_off(const char *what) const;

    const byte_source &source_;
    byte_order order_;
    u64 position_;
    u64 begin_;
    u64 end_;
    u64 file_offset_;
};

} // namespace vramlab::trace
