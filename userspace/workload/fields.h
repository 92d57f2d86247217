// SPDX-License-Identifier: MIT
// Typed access to the keys of a JSON object, strict: what is missing, of a wrong type, out of range or
// unknown throws parse_error.
#pragma once

#include "workload/json_value.h"

#include <optional>
#include <string>
#include <string_view>

namespace vramlab::workload {

// Where a line is: for errors.
struct location {
    const std::string &file;
    u32 line = 0;

    [[noreturn]] void fail(const std::string &problem, const std::string &expected) const;
};

class fields {
public:
    // what: the object in errors ("submit"). Throws if value is no object.
    fields(const json_value &value, location where, std::string_view what);

    bool has(std::string_view key);
    u64 integer(std::string_view key, u64 first, u64 last);
    u64 integer(std::string_view key, u64 first, u64 last, u64 otherwise);
    double number(std::string_view key);
    bool boolean(std::string_view key, bool otherwise);
    const std::string &text(std::string_view key, std::size_t max_bytes);
    std::string text(std::string_view key, std::size_t max_bytes, const std::string &otherwise);
    const json_value &array(std::string_view key, std::size_t max_items);
    const json_value &any(std::string_view key); // must be there

    // Throws if a key was not asked for. Call when all have been.
    void done() const;

    location where() const { return where_; }
    [[noreturn]] void fail(std::string_view key, const std::string &problem,
                           const std::string &expected) const;
    [[noreturn]] void wrong(std::string_view key, const json_value &v, const std::string &expected) const;

private:
    const json_value *take(std::string_view key);
    u64 check_integer(std::string_view key, const json_value &v, u64 first, u64 last) const;

    const json_value &value_;
    location where_;
    std::string_view what_;
    u64 taken_ = 0; // bit per member; parse_json() limits them to 64
};

} // namespace vramlab::workload
