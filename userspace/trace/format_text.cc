// SPDX-License-Identifier: MIT
#include "trace/format_text.h"

#include <fmt/format.h>

namespace vramlab::trace {

namespace {

constexpr u32 record_max_bytes = 64 * 1024; // offsets and sizes beyond are nonsense: a page is not larger

std::string_view trimmed(std::string_view s)
{
    while (!s.empty() && (s.front() == ' ' || s.front() == '\t'))
        s.remove_prefix(1);
    while (!s.empty() && (s.back() == ' ' || s.back() == '\t' || s.back() == '\r'))
        s.remove_suffix(1);
    return s;
}

// The number after "key:", up to a ';'.
std::optional<u64> attribute(std::string_view line, std::string_view key)
{
    const std::size_t at = line.find(key);
    if (at == std::string_view::npos)
        return std::nullopt;
    line.remove_prefix(at + key.size());
    return parse_number(trimmed(line.substr(0, line.find(';'))));
}

// "char comm[16]", "__data_loc char[] name", "struct dma_fence * fence", "char data": type and name.
bool split_declaration(std::string_view d, field &f)
{
    d = trimmed(d);
    std::string_view array;
    if (d.ends_with(']')) {
        const std::size_t open = d.rfind('[');
        if (open == std::string_view::npos)
            return false;
        array = d.substr(open);
        d = trimmed(d.substr(0, open));
    }
    const std::size_t at = d.find_last_of(" \t*");
    if (at == std::string_view::npos)
        return false;
    f.name = d.substr(at + 1);
    f.type = trimmed(d.substr(0, at + 1));
    f.type += array;
    return !f.name.empty() && !f.type.empty();
}

field_kind kind_of(const field &f)
{
    if (f.type.starts_with("__data_loc"))
        return field_kind::where;
    if (f.type.starts_with("__rel_loc"))
        return field_kind::rel_where;
    const bool pointer = f.type.find('*') != std::string::npos;
    const bool array = f.type.ends_with(']');
    if (!pointer && f.type.find("char") != std::string::npos && (array || f.size == 0))
        return field_kind::text;
    if (array || (f.size != 1 && f.size != 2 && f.size != 4 && f.size != 8))
        return field_kind::other;
    return field_kind::number;
}

} // namespace

std::optional<field> parse_field(std::string_view line)
{
    line = trimmed(line);
    if (!line.starts_with("field:") && !line.starts_with("field special:"))
        return std::nullopt;
    const std::size_t end = line.find(';');
    if (end == std::string_view::npos)
        return std::nullopt;
    const std::size_t colon = line.find(':');
    const std::optional<u64> offset = attribute(line.substr(end), "offset:");
    const std::optional<u64> size = attribute(line.substr(end), "size:");
    field f;
    if (!offset || !size || *offset > record_max_bytes || *size > record_max_bytes ||
        !split_declaration(line.substr(colon + 1, end - colon - 1), f))
        return std::nullopt;
    f.offset = static_cast<u32>(*offset);
    f.size = static_cast<u32>(*size);
    f.is_signed = attribute(line.substr(end), "signed:").value_or(0) != 0;
    f.kind = kind_of(f);
    return f;
}

std::optional<event_format> parse_format(std::string_view text, std::string_view system)
{
    event_format f;
    bool has_id = false;
    f.system = system;
    while (!text.empty()) {
        const std::size_t end = text.find('\n');
        const std::string_view line = text.substr(0, end);
        const std::string_view t = trimmed(line);
        if (t.starts_with("print fmt:")) { // the rest of the text: it may go over several lines
            text.remove_prefix(text.find("print fmt:") + 10);
            while (!text.empty() && (text.back() == '\n' || text.back() == '\0'))
                text.remove_suffix(1);
            f.print = trimmed(text);
            break;
        }
        if (t.starts_with("name:")) {
            f.name = trimmed(t.substr(5));
        } else if (t.starts_with("ID:")) {
            const std::optional<u64> id = parse_number(trimmed(t.substr(3)));
            has_id = id && *id <= 0xffff;
            f.id = static_cast<u16>(has_id ? *id : 0);
        } else if (std::optional<field> n = parse_field(line)) {
            (n->name.starts_with("common_") ? f.common : f.fields).push_back(std::move(*n));
        }
        if (end == std::string_view::npos)
            break;
        text.remove_prefix(end + 1);
    }
    if (f.name.empty() || !has_id || (f.common.empty() && f.fields.empty()))
        return std::nullopt;
    return f;
}

namespace {

void append_field(std::string &out, const field &f)
{
    // An array's brackets go behind the name, but for __data_loc.
    const std::size_t open = f.kind == field_kind::where || f.kind == field_kind::rel_where
                                 ? std::string::npos
                                 : f.type.rfind('[');
    const std::string_view type = std::string_view(f.type).substr(0, open);
    const std::string_view array =
        open == std::string::npos ? std::string_view() : std::string_view(f.type).substr(open);
    out += fmt::format("\tfield:{} {}{};\toffset:{};\tsize:{};\tsigned:{};\n", type, f.name, array, f.offset,
                       f.size, f.is_signed ? 1 : 0);
}

} // namespace

std::string format_text(const event_format &f)
{
    std::string out = fmt::format("name: {}\nID: {}\nformat:\n", f.name, f.id);
    for (const field &c : f.common)
        append_field(out, c);
    out += '\n';
    for (const field &o : f.fields)
        append_field(out, o);
    out += "\nprint fmt: " + f.print + "\n";
    return out;
}

} // namespace vramlab::trace
