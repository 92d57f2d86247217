// SPDX-License-Identifier: MIT
// JSON as the workload reader wants it: integers kept apart from other numbers, duplicate keys and deep
// nesting refused. nlohmann-json does the lexing.
#pragma once

#include "base/types.h"

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace vramlab::workload {

enum class json_kind : u8 { null, boolean, integer, real, string, array, object };

struct json_value {
    json_kind kind = json_kind::null;
    bool boolean = false;
    u64 integer = 0; // not negative: negative integers are kept as real
    double real = 0; // of integers too
    std::string string{};
    std::vector<json_value> items{};
    std::vector<std::pair<std::string, json_value>> members{}; // as written

    const json_value *find(std::string_view key) const;
};

// "an integer", "a string", ...
const char *kind_name(json_kind kind);

// Objects have at most 64 keys, nesting is at most 6 deep: enough for the format.
struct json_error {
    std::string problem; // empty: none
    std::string expected;
};
json_error parse_json(std::string_view text, json_value &value);

} // namespace vramlab::workload
