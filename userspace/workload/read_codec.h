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
        else
            fields_.wrong(key, v, "an integer or \"max\"");
    }
    void list(const char *key, std::vector<u64> &bos)
    {
        const json_value &v = fields_.array(key, list_max);

        bos.clear();
        bos.reserve(v.items.size());
        for (const json_value &item : v.items) {
            if (item.kind != json_kind::integer)
                fields_.fail(key, fmt::format("has {} in it", kind_name(item.kind)), "BO tags");
            bos.push_back(item.integer);
        }
    }
    void touches(const char *key, std::vector<touch> &touches)
    {
        const json_value &v = fields_.array(key, list_max);

        touches.clear();
        touches.reserve(v.items.size());
        for (const json_value &item : v.items) {
            bool good = item.kind == json_kind::array && item.items.size() == 3;

            for (const json_value &n : item.items)
                good = good && n.kind == json_kind::integer;
            if (!good)
                fields_.fail(key, fmt::format("has {} in it", kind_name(item.kind)),
                             "arrays [bo, vram_bytes, link_bytes] of integers");
            touches.push_back({item.items[0].integer, item.items[1].integer, item.items[2].integer});
        }
    }
    void begin(op_kind &kind)
    {
        if (fields_.boolean("begin", kind == op_kind::begin))
            kind = op_kind::begin;
    }

private:
    u32 read_mask(const char *key, std::optional<u32> (*bit)(std::string_view), const char *words)
    {
        const json_value &v = fields_.any(key);
        std::string text = v.string;

        if (v.kind == json_kind::array) {
            for (const json_value &item : v.items)
                text += (text.empty() ? "" : "|") + item.string; // a non-string has none: refused below
        } else if (v.kind != json_kind::string) {
            fields_.wrong(key, v, "a string or an array of strings");
        }
        const std::optional<u32> mask = parse_mask(text, bit);

        if (!mask)
            fields_.fail(key, fmt::format("is \"{}\"", text),
                         fmt::format("each at most once of {}, joined by |", words));
        return *mask;
    }

    fields &fields_;
};

} // namespace vramlab::workload
