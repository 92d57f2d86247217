// SPDX-License-Identifier: MIT
// One page of ftrace's ring buffer (kernel/trace/ring_buffer.c): a time stamp, a commit count, then events
// with time deltas.
#pragma once

#include "trace/record.h"

#include <utility>

namespace vramlab::trace {

// As header_page says.
struct page_layout {
    u32 timestamp_offset = 0; // always 8 bytes
    u32 commit_offset = 8;
    u32 commit_size = 8; // 4 on 32-bit kernels
    u32 data_offset = 16;
};

// Bits of the commit field.
inline constexpr u64 commit_mask = (u64{1} << 27) - 1;
inline constexpr u64 commit_missed_events = u64{1} << 31; // events were lost before this page
inline constexpr u64 commit_missed_stored = u64{1} << 30; // and how many stands behind the data

// type_len of an event.
inline constexpr u32 ring_padding = 29;
inline constexpr u32 ring_time_extend = 30;
inline constexpr u32 ring_time_stamp = 31;
inline constexpr u32 ring_data_max = 28; // type_len * 4 bytes
inline constexpr u32 ring_delta_bits = 27;

class page_cursor {
public:
    // page: what there is of it, perhaps less than a whole one. False: not even its header is there, or its
    // commit count is larger than it; then error() says so and what there is of it can be read nevertheless.
    bool start(std::span<const u8> page, const page_layout &layout, byte_order order, u32 page_size);

    // The next event that has data. False: no more, or error() is not nullptr.
    bool next();

    u64 time() const { return time_; }
    std::span<const u8> data() const { return data_; }
    u32 offset() const { return offset_; } // of the event in the page
    u64 lost() const { return lost_; }     // before the first event of the page; never_ns: unknown number
    const char *error() const { return error_; }
    // Whether next() found a fault, once.
    bool take_fault() { return std::exchange(fault_, false); }

private:
    bool fail(const char *error);

    std::span<const u8> page_; // up to the end of what is committed
    std::span<const u8> data_;
    u64 page_time_ = 0;
    u64 time_ = 0;
    u64 lost_ = 0;
    u32 position_ = 0;
    u32 offset_ = 0;
    const char *error_ = nullptr;
    bool fault_ = false;
    byte_order order_ = byte_order::little;
};

} // namespace vramlab::trace
