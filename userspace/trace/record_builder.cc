// SPDX-License-Identifier: MIT
#include "trace/record_builder.h"

#include <algorithm>
#include <cstring>

namespace vramlab::trace {

void record_builder::start(const event_format &f, s32 pid)
{
    format_ = &f;
    u32 end = 8;
    for (const field &n : f.fields)
        end = std::max(end, n.offset + n.size);
    data_.assign(end, 0);
    std::memcpy(data_.data(), &f.id, sizeof(f.id));
    std::memcpy(data_.data() + 4, &pid, sizeof(pid));
}

void record_builder::number(std::size_t i, u64 v)
{
    const field &f = format_->fields[i];
    std::memcpy(data_.data() + f.offset, &v, f.size);
}

void record_builder::text(std::size_t i, std::string_view s)
{
    const field &f = format_->fields[i];
    constexpr std::size_t length_max = 0xffff - 1;
    s = s.substr(0, length_max);
    if (f.kind == field_kind::where) {
        const u32 where = static_cast<u32>(data_.size() & 0xffff) | static_cast<u32>(s.size() + 1) << 16;
        std::memcpy(data_.data() + f.offset, &where, sizeof(where));
    }
    data_.insert(data_.end(), s.begin(), s.end());
    data_.push_back(0);
}

} // namespace vramlab::trace
