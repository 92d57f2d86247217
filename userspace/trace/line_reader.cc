// SPDX-License-Identifier: MIT
#include "trace/line_reader.h"

#include <algorithm>
#include <cstring>
#include <utility>

namespace vramlab::trace {

// More of the file behind what has not been given yet. False: there is no more.
bool line_reader::fill()
{
    buffer_.erase(buffer_.begin(), buffer_.begin() + static_cast<std::ptrdiff_t>(position_));
    buffer_offset_ += position_;
    position_ = 0;
    const std::size_t have = buffer_.size();
    buffer_.resize(block_bytes);
    buffer_.resize(have + source_.read(buffer_offset_ + have, std::span(buffer_).subspan(have)));
    return buffer_.size() > have;
}

bool line_reader::next(std::string_view &line)
{
    for (;;) {
        const char *begin = reinterpret_cast<const char *>(buffer_.data()) + position_;
        const std::size_t size = buffer_.size() - position_;
        const void *end = size ? std::memchr(begin, '\n', size) : nullptr;
        if (end) {
            const std::size_t length = static_cast<std::size_t>(static_cast<const char *>(end) - begin);
            line = std::string_view(begin, std::min(length, line_max_bytes));
            offset_ = buffer_offset_ + position_;
            position_ += length + 1;
            if (std::exchange(skip_, false))
                continue;
            return true;
        }
        if (size > line_max_bytes) {
            line = std::string_view(begin, line_max_bytes);
            offset_ = buffer_offset_ + position_;
            position_ = buffer_.size();
            if (std::exchange(skip_, true))
                continue;
            return true;
        }
        if (fill())
            continue;
        if (position_ == buffer_.size())
            return false;
        cut_ = !skip_;
        line = std::string_view(reinterpret_cast<const char *>(buffer_.data()) + position_,
                                buffer_.size() - position_);
        offset_ = buffer_offset_ + position_;
        position_ = buffer_.size();
        if (!skip_)
            return true;
    }
}

} // namespace vramlab::trace
