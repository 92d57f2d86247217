// SPDX-License-Identifier: MIT
#include "workload/toml_fields.h"

#include "workload/limits.h"
#include "workload/names.h"
#include "workload/units.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>

namespace vramlab::workload {

namespace {

// Text of a value for errors.
std::string shown(const toml::node &n)
{
    if (const auto *s = n.as_string())
        return fmt::format("\"{}\"", s->get().substr(0, 64));
    if (const auto *i = n.as_integer())
        return fmt::format("{}", i->get());
    if (const auto *b = n.as_boolean())
        return b->get() ? "true" : "false";
    if (n.is_floating_point())
        return "a number with a fraction";
    if (n.is_array())
        return "an array";
    return n.is_table() ? "a table" : "a date or time";
}

// A scenario's base is another file.
const std::string &file_of(const toml::node &n, const std::string &otherwise)
{
    return n.source().path ? *n.source().path : otherwise;
}

} // namespace

toml_fields::toml_fields(const toml::table &table, const std::string &file, std::string what)
    : table_(table), file_(file), what_(std::move(what))
{
}

u32 toml_fields::line() const
{
    return table_.source().begin.line;
}

void toml_fields::fail(const std::string &problem, const std::string &expected) const
{
    throw parse_error(file_of(table_, file_), line(), what_.empty() ? problem : what_ + ": " + problem,
                      expected);
}

void toml_fields::fail(std::string_view key, const std::string &problem, const std::string &expected)
{
    const toml::node *n = take(key);
    const toml::node &where = n ? *n : table_;

    throw parse_error(file_of(where, file_), where.source().begin.line,
                      fmt::format("{}{}key \"{}\" {}", what_, what_.empty() ? "" : ": ", key, problem),
                      expected);
}

void toml_fields::wrong(std::string_view key, const toml::node &n, const std::string &expected) const
{
    throw parse_error(file_of(n, file_), n.source().begin.line,
                      fmt::format("{}{}key \"{}\" is {}", what_, what_.empty() ? "" : ": ", key, shown(n)),
                      expected);
}

const toml::node *toml_fields::take(std::string_view key)
{
    const toml::node *n = table_.get(key);

    if (n)
        taken_.emplace_back(key);
    return n;
}

const toml::node &toml_fields::any(std::string_view key)
{
    const toml::node *n = take(key);

    if (!n)
        fail(fmt::format("no key \"{}\"", key), "it");
    return *n;
}

u64 toml_fields::quantity(std::string_view key, const toml::node &n,
                          std::optional<u64> (*parse)(std::string_view), const char *words, u64 first,
                          u64 last) const
{
    std::optional<u64> value;

    if (const auto *i = n.as_integer(); i && i->get() >= 0)
        value = static_cast<u64>(i->get());
    else if (const auto *s = n.as_string(); s && parse)
        value = parse(s->get());
    if (!value)
        wrong(key, n, words);
    if (*value < first || *value > last)
        wrong(key, n, fmt::format("{} to {}", first, last));
    return *value;
}

u64 toml_fields::integer(std::string_view key, u64 first, u64 last, std::optional<u64> otherwise)
{
    const toml::node *n = otherwise ? take(key) : &any(key);

    return n ? quantity(key, *n, nullptr, fmt::format("an integer from {} to {}", first, last).c_str(), first,
                        last)
             : *otherwise;
}

u32 toml_fields::integer32(std::string_view key, u64 first, u64 last, std::optional<u64> otherwise)
{
    return static_cast<u32>(integer(key, first, last, otherwise));
}

u64 toml_fields::size(std::string_view key, u64 first, u64 last, std::optional<u64> otherwise)
{
    const toml::node *n = otherwise ? take(key) : &any(key);

    return n ? quantity(key, *n, parse_size, size_words, first, last) : *otherwise;
}

u64 toml_fields::time(std::string_view key, u64 first, u64 last, std::optional<u64> otherwise)
{
    const toml::node *n = otherwise ? take(key) : &any(key);

    return n ? quantity(key, *n, parse_time, time_words, first, last) : *otherwise;
}

u64 toml_fields::limit(std::string_view key, u64 otherwise)
{
    const toml::node *n = take(key);

    if (!n)
        return otherwise;
    if (const auto *s = n->as_string(); s && s->get() == "max")
        return ~u64{0};
    return quantity(key, *n, parse_size, fmt::format("{}, or \"max\"", size_words).c_str(), 0,
                    size_max_bytes);
}

double toml_fields::number(std::string_view key)
{
    const toml::node &n = any(key);

    if (const auto *i = n.as_integer())
        return static_cast<double>(i->get());
    if (const auto *d = n.as_floating_point(); d && std::isfinite(d->get()))
        return d->get();
    wrong(key, n, "a finite number");
}

bool toml_fields::boolean(std::string_view key, bool otherwise)
{
    const toml::node *n = take(key);

    if (!n)
        return otherwise;
    if (const auto *b = n->as_boolean())
        return b->get();
    wrong(key, *n, "true or false");
}

std::string toml_fields::text(std::string_view key, std::size_t max_bytes,
                              std::optional<std::string> otherwise)
{
    const toml::node *n = otherwise ? take(key) : &any(key);

    if (!n)
        return *otherwise;
    const auto *s = n->as_string();

    if (!s || s->get().size() > max_bytes)
        wrong(key, *n, fmt::format("a string of at most {} bytes", max_bytes));
    return s->get();
}

std::string toml_fields::name(std::string_view key, std::optional<std::string> otherwise)
{
    const toml::node *n = otherwise ? take(key) : &any(key);

    if (!n)
        return *otherwise;
    const auto *s = n->as_string();

    if (!s || !is_name(s->get()))
        wrong(key, *n, fmt::format("a name of {}", name_words));
    return s->get();
}

u32 toml_fields::mask(std::string_view key, std::optional<u32> (*bit)(std::string_view), const char *words,
                      u32 otherwise)
{
    const toml::node *n = take(key);

    if (!n)
        return otherwise;
    const auto *s = n->as_string();
    const std::optional<u32> m = s ? parse_mask(s->get(), bit) : std::nullopt;

    if (!m)
        wrong(key, *n, fmt::format("each at most once of {}, joined by |", words));
    return *m;
}

std::vector<u64> toml_fields::sizes(std::string_view key, u64 first, u64 last, std::size_t max_items)
{
    const toml::node &n = any(key);
    const toml::array *array = n.as_array();
    std::vector<u64> all;

    if (!array || array->empty() || array->size() > max_items)
        wrong(key, n, fmt::format("an array of 1 to {} sizes", max_items));
    for (const toml::node &item : *array)
        all.push_back(quantity(key, item, parse_size, size_words, first, last));
    return all;
}

std::vector<std::string> toml_fields::texts(std::string_view key, std::size_t max_items)
{
    const toml::node &n = any(key);
    const toml::array *array = n.as_array();
    std::vector<std::string> all;

    if (const auto *s = n.as_string())
        return {s->get()};
    if (!array || array->empty() || array->size() > max_items)
        wrong(key, n, fmt::format("a string or an array of 1 to {} strings", max_items));
    for (const toml::node &item : *array) {
        const auto *s = item.as_string();

        if (!s)
            wrong(key, item, "a string");
        all.push_back(s->get());
    }
    return all;
}

std::vector<const toml::table *> toml_fields::tables(std::string_view key, std::size_t max_items)
{
    const toml::node *n = take(key);
    std::vector<const toml::table *> all;

    if (!n)
        return all;
    const toml::array *array = n->as_array();

    if (!array || array->size() > max_items)
        wrong(key, *n, fmt::format("at most {} tables [[{}]]", max_items, key));
    for (const toml::node &item : *array) {
        if (!item.is_table())
            wrong(key, item, fmt::format("tables [[{}]]", key));
        all.push_back(item.as_table());
    }
    return all;
}

const toml::table *toml_fields::table(std::string_view key)
{
    const toml::node *n = take(key);

    if (n && !n->is_table())
        wrong(key, *n, fmt::format("a table [{}]", key));
    return n ? n->as_table() : nullptr;
}

void toml_fields::done(const char *expected) const
{
    for (const auto &[key, value] : table_) {
        if (std::find(taken_.begin(), taken_.end(), key.str()) == taken_.end())
            throw parse_error(
                file_of(value, file_), value.source().begin.line,
                fmt::format("{}{}unknown key \"{}\"", what_, what_.empty() ? "" : ": ", key.str()), expected);
    }
}

} // namespace vramlab::workload
