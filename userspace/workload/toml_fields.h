// SPDX-License-Identifier: MIT
// Typed access to the keys of a TOML table, as fields.h for JSON: strict, with the line of the offending
// value.
#pragma once

#include "workload/parse_error.h"

#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <toml++/toml.h>
#include <vector>

namespace vramlab::workload {

class toml_fields {
public:
    // what: the table in errors ("process \"game\""). table and file must outlive it.
    toml_fields(const toml::table &table, const std::string &file, std::string what);

    void rename(std::string what) { what_ = std::move(what); }
    u32 line() const;
    bool has(std::string_view key) { return take(key); }

    // Without `otherwise` the key must be there.
    u64 integer(std::string_view key, u64 first, u64 last, std::optional<u64> otherwise = {});
    u32 integer32(std::string_view key, u64 first, u64 last, std::optional<u64> otherwise = {});
    u64 size(std::string_view key, u64 first, u64 last, std::optional<u64> otherwise = {});
    u64 time(std::string_view key, u64 first, u64 last, std::optional<u64> otherwise = {});
    u64 limit(std::string_view key, u64 otherwise); // a size or "max"
    double number(std::string_view key);
    bool boolean(std::string_view key, bool otherwise);
    std::string text(std::string_view key, std::size_t max_bytes, std::optional<std::string> otherwise = {});
    std::string name(std::string_view key, std::optional<std::string> otherwise = {});
    u32 mask(std::string_view key, std::optional<u32> (*bit)(std::string_view), const char *words,
             u32 otherwise);
    std::vector<u64> sizes(std::string_view key, u64 first, u64 last, std::size_t max_items);
    std::vector<std::string> texts(std::string_view key, std::size_t max_items);

    template <typename kind>
    kind choice(std::string_view key, std::initializer_list<std::pair<std::string_view, kind>> words,
                std::optional<kind> otherwise = {})
    {
        const toml::node *n = otherwise ? take(key) : &any(key);

        if (!n)
            return *otherwise;
        std::string expected;

        for (const auto &[word, value] : words) {
            if (const auto *s = n->as_string(); s && s->get() == word)
                return value;
            expected += (expected.empty() ? "\"" : ", \"") + std::string(word) + "\"";
        }
        wrong(key, *n, "one of " + expected);
    }

    // Tables of an array of tables, none if the key is missing.
    std::vector<const toml::table *> tables(std::string_view key, std::size_t max_items);
    const toml::table *table(std::string_view key); // nullptr if missing
    const toml::node *node(std::string_view key) { return take(key); }

    // Throws if a key was not asked for. expected: where they are documented.
    void done(const char *expected = "the keys of Documentation/scenario-format.rst") const;

    [[noreturn]] void fail(const std::string &problem, const std::string &expected) const; // of the table
    [[noreturn]] void fail(std::string_view key, const std::string &problem, const std::string &expected);
    [[noreturn]] void wrong(std::string_view key, const toml::node &n, const std::string &expected) const;

private:
    const toml::node *take(std::string_view key);
    const toml::node &any(std::string_view key);
    u64 quantity(std::string_view key, const toml::node &n, std::optional<u64> (*parse)(std::string_view),
                 const char *words, u64 first, u64 last) const;

    const toml::table &table_;
    const std::string &file_;
    std::string what_;
    std::vector<std::string> taken_;
};

} // namespace vramlab::workload
