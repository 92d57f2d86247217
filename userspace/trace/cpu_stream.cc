// SPDX-License-Identifier: MIT
#include "trace/cpu_stream.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

namespace vramlab::trace {

namespace {

constexpr std::size_t window_bytes = 256 * KiB; // but at least a page

} // namespace

cpu_stream::cpu_stream(const byte_source &source, const dat_header &header, const cpu_area &area,
                       damage_list &damages)
    : source_(source), header_(header), damages_(damages), position_(area.offset),
      end_(area.offset + area.size), page_size_(area.page_size), cpu_(area.cpu), compressed_(area.compressed),
      packed_start_(area.compressed)
{
}

u64 cpu_stream::take_lost()
{
    return std::exchange(lost_, 0);
}

// The next pages from the file. False: there are none.
bool cpu_stream::fill()
{
    page_ = next_page_ = 0;
    if (compressed_)
        return fill_packed();
    window_offset_ = position_;
    const u64 pages = std::max<u64>(window_bytes / page_size_, 1);
    window_.resize(std::min<u64>(pages * page_size_, end_ - position_));
    window_.resize(source_.read(position_, window_));
    position_ += window_.size();
    return !window_.empty();
}

// "count, then count times: packed size, size, packed".
bool cpu_stream::fill_packed()
{
    std::array<u8, 8> b;
    if (std::exchange(packed_start_, false)) {
        if (end_ - position_ < 4 || source_.read(position_, std::span(b).first(4)) < 4)
            return false;
        chunks_ = load32(b.data(), header_.order);
        position_ += 4;
    }
    if (!chunks_)
        return false;
    const u64 at = position_;
    const auto broken = [&](std::string what) {
        damages_.add(at, fmt::format("packed events of CPU {}: {}", cpu_, what));
        position_ = end_;
        chunks_ = 0;
        return false;
    };
    if (end_ - position_ < 8 || source_.read(position_, b) < 8)
        return broken("the file ends");
    const u64 packed_size = load32(b.data(), header_.order);
    const u64 size = load32(b.data() + 4, header_.order);
    position_ += 8;
    if (packed_size > end_ - position_)
        return broken("the file ends");
    if (size / expansion_max > packed_size)
        return broken(fmt::format("{} bytes can't hold {}", packed_size, size));
    std::vector<u8> packed(packed_size);
    window_.resize(size);
    if (source_.read(position_, packed) < packed_size || !unpack(header_.packing, packed, window_))
        return broken("broken, or packed in a way that is not known");
    window_offset_ = at;
    position_ += packed_size;
    chunks_--;
    return true;
}

bool cpu_stream::next_page()
{
    for (;;) {
        page_ = next_page_;
        if (page_ >= window_.size()) {
            // An empty chunk is no end.
            do {
                if (!fill())
                    return false;
            } while (window_.empty());
        }
        const std::size_t size = std::min<std::size_t>(page_size_, window_.size() - page_);
        next_page_ = page_ + size;
        const std::span<const u8> page(window_.data() + page_, size);
        const bool good = cursor_.start(page, header_.layout, header_.order, page_size_);
        if (!good)
            damages_.add(window_offset_ + page_, fmt::format("CPU {}: {}", cpu_, cursor_.error()));
        if (cursor_.lost())
            lost_ = cursor_.lost() == never_ns || lost_ == never_ns ? never_ns : lost_ + cursor_.lost();
        if (cursor_.next())
            return true;
        if (good)
            report_fault();
    }
}

void cpu_stream::report_fault()
{
    if (cursor_.take_fault())
        damages_.add(window_offset_ + page_ + cursor_.offset(),
                     fmt::format("CPU {}: {}", cpu_, cursor_.error()));
}

bool cpu_stream::next()
{
    if (cursor_.next())
        return true;
    report_fault();
    return next_page();
}

} // namespace vramlab::trace
