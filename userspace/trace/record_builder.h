// SPDX-License-Identifier: MIT
// Puts a record together, field by field, as its format says: little endian.
#pragma once

#include "trace/record.h"

namespace vramlab::trace {

class record_builder {
public:
    // Starts over. The format must outlive the record, and be one of add_field()'s making.
    void start(const event_format &f, s32 pid);

    // field: its index among the format's own. Text is cut at a NUL by whoever reads it; a char[] takes what
    // comes, and must come last. What is not set is 0 or empty.
    void number(std::size_t field, u64 v);
    void text(std::size_t field, std::string_view s);

    // Valid until start().
    std::span<const u8> data() const { return data_; }

private:
    const event_format *format_ = nullptr;
    std::vector<u8> data_;
};

} // namespace vramlab::trace
