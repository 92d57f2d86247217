// SPDX-License-Identifier: MIT
#include "trace/ring_page.h"

#include <algorithm>

namespace vramlab::trace {

namespace {

// Absolute time stamps have 59 bits; the rest is the page's.
constexpr u64 time_stamp_mask = (u64{1} << 59) - 1;

} // namespace

bool page_cursor::fail(const char *error)
{
    error_ = error;
    fault_ = true;
    position_ = static_cast<u32>(page_.size());
    return false;
}

bool page_cursor::start(std::span<const u8> page, const page_layout &layout, byte_order order, u32 page_size)
{
    page_ = {};
    position_ = 0;
    offset_ = 0;
    error_ = nullptr;
    fault_ = false;
    lost_ = 0;
    order_ = order;
    if (page.size() < layout.data_offset || page.size() < layout.timestamp_offset + 8 ||
        page.size() < layout.commit_offset + layout.commit_size)
        return fail("the page's header is cut off");
    page_time_ = time_ = load64(page.data() + layout.timestamp_offset, order);
    const u64 commit = layout.commit_size == 8 ? load64(page.data() + layout.commit_offset, order)
                                               : load32(page.data() + layout.commit_offset, order);
    const u64 committed = commit & commit_mask;
    const u64 end = std::min<u64>(layout.data_offset + committed, page.size());
    if (commit & commit_missed_events) {
        lost_ = never_ns;
        if (commit & commit_missed_stored && end + layout.commit_size <= page.size())
            lost_ =
                layout.commit_size == 8 ? load64(page.data() + end, order) : load32(page.data() + end, order);
    }
    page_ = page.first(end);
    position_ = layout.data_offset;
    if (layout.data_offset + committed > page_size) {
        error_ = "the page says that it holds more than fits";
        return false;
    }
    if (layout.data_offset + committed > page.size()) {
        error_ = "the page is cut off";
        return false;
    }
    return true;
}

bool page_cursor::next()
{
    const u32 end = static_cast<u32>(page_.size());
    while (end - position_ >= 4) {
        offset_ = position_;
        const u32 word = load32(page_.data() + position_, order_);
        const u32 type_len = order_ == byte_order::little ? word & 31 : word >> 27;
        const u32 delta = order_ == byte_order::little ? word >> 5 : word & ((1u << ring_delta_bits) - 1);
        position_ += 4;
        if (type_len && type_len <= ring_data_max) {
            if (type_len * 4 > end - position_)
                return fail("an event is cut off");
            time_ += delta;
            data_ = page_.subspan(position_, type_len * 4);
            position_ += type_len * 4;
            return true;
        }
        if (type_len == ring_padding && !delta) { // nothing but padding until the end
            position_ = end;
            return false;
        }
        if (end - position_ < 4)
            return fail("an event is cut off");
        const u32 array = load32(page_.data() + position_, order_);
        if (type_len == ring_time_extend) {
            time_ += (u64{array} << ring_delta_bits) + delta;
            position_ += 4;
        } else if (type_len == ring_time_stamp) {
            time_ = (((u64{array} << ring_delta_bits) + delta) & time_stamp_mask) |
                    (page_time_ & ~time_stamp_mask);
            position_ += 4;
        } else if (type_len == ring_padding) {
            time_ += delta;
            if (array > end - position_ || array < 4)
                return fail("padding goes beyond the page");
            position_ += array;
        } else {
            if (array < 4 || array > end - position_)
                return fail("an event is cut off");
            time_ += delta;
            data_ = page_.subspan(position_ + 4, array - 4);
            position_ += std::min((array + 3) & ~3u, end - position_);
            return true;
        }
    }
    if (position_ < end)
        return fail("an event is cut off");
    return false;
}

} // namespace vramlab::trace
