// SPDX-License-Identifier: MIT
#include "trace/record.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstring>

namespace vramlab::trace {

u16 load16(const u8 *p, byte_order order)
{
    return static_cast<u16>(order == byte_order::little ? p[0] | p[1] << 8 : p[1] | p[0] << 8);
}

u32 load32(const u8 *p, byte_order order)
{
    u32 v;
    std::memcpy(&v, p, sizeof(v));
    return order == byte_order::little ? v : __builtin_bswap32(v);
}

u64 load64(const u8 *p, byte_order order)
{
    u64 v;
    std::memcpy(&v, p, sizeof(v));
    return order == byte_order::little ? v : __builtin_bswap64(v);
}

static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__,
              "load32() and load64() take the host for little endian");

const field *event_format::find(std::string_view field_name) const
{
    for (const field &f : fields)
        if (f.name == field_name)
            return &f;
    for (const field &f : common)
        if (f.name == field_name)
            return &f;
    return nullptr;
}

std::vector<field> common_fields()
{
    return {{"unsigned short", "common_type", 0, 2, false, field_kind::number},
            {"unsigned char", "common_flags", 2, 1, false, field_kind::number},
            {"unsigned char", "common_preempt_count", 3, 1, false, field_kind::number},
            {"int", "common_pid", 4, 4, true, field_kind::number}};
}

void add_field(event_format &f, std::string_view type, std::string_view name)
{
    field n{std::string(type), std::string(name), 0, 4, false, field_kind::number};
    const field &last = f.fields.empty() ? f.common.back() : f.fields.back();
    if (type == "__data_loc char[]") {
        n.kind = field_kind::where;
    } else if (type == "char[]") {
        n.kind = field_kind::text;
        n.size = 0;
    } else if (type == "int") {
        n.is_signed = true;
    } else {
        n.is_signed = type[0] == 's';
        n.size = type == "u8" || type == "s8"     ? 1
                 : type == "u16" || type == "s16" ? 2
                 : type == "u64" || type == "s64" ? 8
                                                  : 4;
    }
    const u32 align = std::max(n.size, 1u);
    n.offset = (last.offset + last.size + align - 1) / align * align;
    f.fields.push_back(std::move(n));
}

namespace {

// The bytes of a field that is text or an array; empty if they are not in the record.
std::span<const u8> extent(const record &r, const field &f)
{
    if (f.kind != field_kind::where && f.kind != field_kind::rel_where) {
        if (f.offset >= r.data.size())
            return {};
        const std::size_t rest = r.data.size() - f.offset;
        if (f.size > rest)
            return {};
        return r.data.subspan(f.offset, f.size ? f.size : rest);
    }
    if (f.offset > r.data.size() || r.data.size() - f.offset < 4)
        return {};
    const u32 where = load32(r.data.data() + f.offset, r.order);
    std::size_t offset = where & 0xffff;
    if (f.kind == field_kind::rel_where)
        offset += f.offset + 4;
    const std::size_t size = where >> 16;
    if (offset > r.data.size() || size > r.data.size() - offset)
        return {};
    return r.data.subspan(offset, size);
}

std::string_view up_to_nul(std::span<const u8> bytes)
{
    const std::string_view s(reinterpret_cast<const char *>(bytes.data()), bytes.size());
    return s.substr(0, s.find('\0'));
}

bool is_text(const field &f)
{
    return f.kind == field_kind::text || ((f.kind == field_kind::where || f.kind == field_kind::rel_where) &&
                                          f.type.find("char") != std::string::npos);
}

} // namespace

std::optional<u64> parse_number(std::string_view s)
{
    const bool negative = s.starts_with('-');
    if (negative)
        s.remove_prefix(1);
    const bool hex = s.starts_with("0x") || s.starts_with("0X");
    if (hex)
        s.remove_prefix(2);
    u64 v = 0;
    const auto [end, error] = std::from_chars(s.data(), s.data() + s.size(), v, hex ? 16 : 10);
    if (error != std::errc() || end != s.data() + s.size())
        return std::nullopt;
    return negative ? ~v + 1 : v;
}

std::optional<u64> record::number(const field &f) const
{
    if (is_text(f))
        return parse_number(text(f));
    if (f.kind != field_kind::number || f.offset > data.size() || data.size() - f.offset < f.size)
        return std::nullopt;
    const u8 *p = data.data() + f.offset;
    switch (f.size) {
    case 1:
        return f.is_signed ? static_cast<u64>(static_cast<std::int8_t>(*p)) : *p;
    case 2:
        return f.is_signed ? static_cast<u64>(static_cast<std::int16_t>(load16(p, order))) : load16(p, order);
    case 4:
        return f.is_signed ? static_cast<u64>(static_cast<s32>(load32(p, order))) : load32(p, order);
    case 8:
        return load64(p, order);
    default:
        return std::nullopt;
    }
}

std::optional<u64> record::number(std::string_view field_name) const
{
    const field *f = format->find(field_name);
    return f ? number(*f) : std::nullopt;
}

std::string_view record::text(const field &f) const
{
    return is_text(f) ? up_to_nul(extent(*this, f)) : std::string_view();
}

std::string_view record::text(std::string_view field_name) const
{
    const field *f = format->find(field_name);
    return f ? text(*f) : std::string_view();
}

std::string record::show(const field &f) const
{
    if (is_text(f))
        return std::string(text(f));
    if (f.kind == field_kind::number) {
        const std::optional<u64> v = number(f);
        if (!v)
            return {};
        if (f.type.find('*') != std::string::npos)
            return fmt::format("0x{:x}", *v);
        return f.is_signed ? fmt::format("{}", static_cast<s64>(*v)) : fmt::format("{}", *v);
    }
    std::string out;
    for (const u8 byte : extent(*this, f))
        out += fmt::format("{:02x}", byte);
    return out;
}

} // namespace vramlab::trace
