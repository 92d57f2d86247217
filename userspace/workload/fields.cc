// SPDX-License-Identifier: MIT
#include "workload/fields.h"

#include "workload/parse_error.h"

#include <cmath>
#include <fmt/format.h>

namespace vramlab::workload {

void location::fail(const std::string &problem, const std::string &expected) const
{
    throw parse_error(file, line, problem, expected);
}

fields::fields(const json_value &value, location where, std::string_view what)
    : value_(value), where_(where), what_(what)
{
    if (value.kind != json_kind::object)
        where.fail(fmt::format("{} is {}", what, kind_name(value.kind)), "an object");
}

void fields::fail(std::string_view key, const std::string &problem, const std::string &expected) const
{
    where_.fail(fmt::format("{}: key \"{}\" {}", what_, key, problem), expected);
}

void fields::wrong(std::string_view key, const json_value &v, const std::string &expected) const
{
    fail(key, fmt::format("is {}", kind_name(v.kind)), expected);
}

const json_value *fields::take(std::string_view key)
{
    for (std::size_t i = 0; i < value_.members.size(); i++) {
        if (value_.members[i].first == key) {
            taken_ |= u64{1} << i;
            return &value_.members[i].second;
        }
    }
    return nullptr;
}

bool fields::has(std::string_view key)
{
    return take(key);
}

const json_value &fields::any(std::string_view key)
{
    const json_value *v = take(key);

    if (!v)
        where_.fail(fmt::format("{} without key \"{}\"", what_, key), "it");
    return *v;
}

u64 fields::check_integer(std::string_view key, const json_value &v, u64 first, u64 last) const
{
    const std::string range = fmt::format("an integer from {} to {}", first, last);

    if (v.kind != json_kind::integer)
        wrong(key, v, range);
    if (v.integer < first || v.integer > last)
        fail(key, fmt::format("is {}", v.integer), range);
    return v.integer;
}

u64 fields::integer(std::string_view key, u64 first, u64 last)
{
    return check_integer(key, any(key), first, last);
}

u64 fields::integer(std::string_view key, u64 first, u64 last, u64 otherwise)
{
    const json_value *v = take(key);

    return v ? check_integer(key, *v, first, last) : otherwise;
}

double fields::number(std::string_view key)
{
    const json_value &v = any(key);

    if (v.kind != json_kind::integer && v.kind != json_kind::real)
        wrong(key, v, "a number");
    if (!std::isfinite(v.real))
        fail(key, "is not finite", "a number");
    return v.real;
}

bool fields::boolean(std::string_view key, bool otherwise)
{
    const json_value *v = take(key);

    if (!v)
        return otherwise;
    if (v->kind != json_kind::boolean)
        wrong(key, *v, "true or false");
    return v->boolean;
}

const std::string &fields::text(std::string_view key, std::size_t max_bytes)
{
    const json_value &v = any(key);

    if (v.kind != json_kind::string)
        wrong(key, v, "a string");
    if (v.string.size() > max_bytes)
        fail(key, fmt::format("is a string of {} bytes", v.string.size()),
             fmt::format("at most {}", max_bytes));
    return v.string;
}

std::string fields::text(std::string_view key, std::size_t max_bytes, const std::string &otherwise)
{
    return take(key) ? text(key, max_bytes) : otherwise;
}

const json_value &fields::array(std::string_view key, std::size_t max_items)
{
    const json_value &v = any(key);

    if (v.kind != json_kind::array)
        wrong(key, v, "an array");
    if (v.items.size() > max_items)
        fail(key, fmt::format("has {} elements", v.items.size()), fmt::format("at most {}", max_items));
    return v;
}

void fields::done() const
{
    for (std::size_t i = 0; i < value_.members.size(); i++)
        if (!(taken_ >> i & 1))
            where_.fail(fmt::format("{}: unknown key \"{}\"", what_, value_.members[i].first),
                        "the keys of Documentation/workload-format.rst");
}

} // namespace vramlab::workload
