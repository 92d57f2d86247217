// SPDX-License-Identifier: MIT
#include "trace/dat_bytes.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace vramlab::trace {

void dat_bytes::cut_off(const char *what) const
{
    throw trace_error(offset(), fmt::format("the file ends within {}", what));
}

void dat_bytes::get(std::span<u8> out, const char *what)
{
    if (position_ > end_ || out.size() > end_ - position_ || source_.read(position_, out) != out.size())
        cut_off(what);
    position_ += out.size();
}

u8 dat_bytes::number8(const char *what)
{
    std::array<u8, 1> b;
    get(b, what);
    return b[0];
}

u16 dat_bytes::number16(const char *what)
{
    std::array<u8, 2> b;
    get(b, what);
    return load16(b.data(), order_);
}

u32 dat_bytes::number32(const char *what)
{
    std::array<u8, 4> b;
    get(b, what);
    return load32(b.data(), order_);
}

u64 dat_bytes::number64(const char *what)
{
    std::array<u8, 8> b;
    get(b, what);
    return load64(b.data(), order_);
}

std::string dat_bytes::bytes(u64 size, const char *what)
{
    if (position_ > end_ || size > end_ - position_) // before anything is allocated
        cut_off(what);
    std::string s(size, '\0');
    get({reinterpret_cast<u8 *>(s.data()), s.size()}, what);
    return s;
}

std::string dat_bytes::string(const char *what)
{
    std::string s;
    std::array<u8, 64> b;
    while (s.size() < 4096) {
        const std::size_t n = source_.read(position_, b);
        if (!n || position_ >= end_)
            cut_off(what);
        const std::string_view part(reinterpret_cast<const char *>(b.data()), n);
        const std::size_t nul = part.find('\0');
        s += part.substr(0, nul);
        if (nul != std::string_view::npos) {
            position_ += nul + 1;
            return s;
        }
        position_ += n;
    }
    throw trace_error(offset(), fmt::format("{} does not end, expected a NUL", what));
}

void dat_bytes::expect(std::string_view literal, const char *what)
{
    const u64 at = offset();
    if (bytes(literal.size(), what) != literal)
        throw trace_error(at,
                          fmt::format("no {}, expected \"{}\"", what, literal.substr(0, literal.find('\0'))));
}

void dat_bytes::skip(u64 size, const char *what)
{
    if (position_ > end_ || size > end_ - position_)
        cut_off(what);
    position_ += size;
}

} // namespace vramlab::trace
