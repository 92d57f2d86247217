// SPDX-License-Identifier: MIT
// The events of one CPU of a trace.dat file, page after page, in bounded memory.
#pragma once

#include "trace/dat_header.h"

namespace vramlab::trace {

class cpu_stream {
public:
    // All must outlive it.
    cpu_stream(const byte_source &source, const dat_header &header, const cpu_area &area,
               damage_list &damages);

    // False: no more events.
    bool next();

    u32 cpu() const { return cpu_; }
    u64 time() const { return cursor_.time(); } // as the tracer's clock has it
    std::span<const u8> data() const { return cursor_.data(); }
    u64 offset() const { return window_offset_ + page_ + cursor_.offset(); }
    u64 take_lost(); // events lost before this one, once

private:
    bool next_page();
    bool fill();
    bool fill_packed();
    void report_fault();

    const byte_source &source_;
    const dat_header &header_;
    damage_list &damages_;
    page_cursor cursor_;
    std::vector<u8> window_; // pages
    u64 window_offset_ = 0;  // in the file, of the window or of what it was packed into
    std::size_t page_ = 0;   // in the window
    std::size_t next_page_ = 0;
    u64 position_; // in the file: what comes into the window next
    u64 end_;
    u64 lost_ = 0;
    u32 page_size_;
    u32 cpu_;
    u32 chunks_ = 0; // packed: that are left
    bool compressed_;
    bool packed_start_; // their number comes next
};

} // namespace vramlab::trace
