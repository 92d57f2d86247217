// SPDX-License-Identifier: MIT
// Reads what op_fields.h describes. Internal to the reader.
#pragma once

#include "workload/fields.h"
#include "workload/limits.h"
#include "workload/names.h"

#include <fmt/format.h>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace vramlab::workload {

// Fills members from the keys of one object. Counterpart of write_codec in write_codec.h.
class read_codec {
public:
    explicit read_codec(fields &f) : fields_(f) {}

    template <typename number> void integer(const char *key, number &n, u64 first, u64 last)
    {
        n = static_cast<number>(fields_.integer(key, first, last));
    }
    template <typename number> void optional(const char *key, number &n, u64 first, u64 last, u64 otherwise)
    {
        n = static_cast<number>(fields_.integer(key, first, last, otherwise));
    }
    void domains(const char *key, u32 &mask, bool required)
    {
        mask = required || fields_.has(key) ? read_mask(key, domain_bit, domain_words) : 0;
    }
    void flags(const char *key, u32 &mask)
    {
        mask = fields_.has(key) ? read_mask(key, flag_bit, flag_words) : 0;
    }
    void text(const char *key, std::string &s) { s = fields_.text(key, text_max_bytes); }
    void limit(const char *key, u64 &bytes, u64 otherwise)
    {
        bytes = otherwise;
        if (!fields_.has(key))
            return;
        const json_value &v = fields_.any(key);

        if (v.kind == json_kind::integer)
            bytes = v.integer;
        else if (v.kind == json_kind::string && v.string == "max")
            bytes = ~u64{0};

    } // namespace vramlab::workload
