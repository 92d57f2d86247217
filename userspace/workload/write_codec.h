// SPDX-License-Identifier: MIT
// Writes what op_fields.h describes. Internal to the writer.
#pragma once

#include "workload/names.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <cmath>
#include <iterator>
#include <string>
#include <vector>

namespace vramlab::workload {

inline std::string quoted(const std::string &s)
{
    return nlohmann::json(s).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

// Prints the members of one object. Counterpart of read_codec in read_codec.h.
class write_codec {
public:
    explicit write_codec(std::string &out) : out_(out) { out_ += '{'; }
    ~write_codec() { out_ += '}'; }
    write_codec(const write_codec &) = delete;
    write_codec &operator=(const write_codec &) = delete;

    template <typename number> void integer(const char *key, const number &n, u64, u64)
    {
        print(key, "{}", u64{n});
    }
    template <typename number> void optional(const char *key, const number &n, u64, u64, u64 otherwise)
    {
        if (n != otherwise)
            print(key, "{}", u64{n});
    }
    void domains(const char *key, u32 mask, bool required)
    {
        if (mask || required)
            print(key, "\"{}\"", domains_text(mask));
    }
    void set(const char *key, bool is_set)
    {
        if (is_set)
            print(key, "true");
    }
    void flags(const char *key, u32 mask)
    {
        if (mask)
            print(key, "\"{}\"", flags_text(mask));
    }
    void text(const char *key, const std::string &s) { print(key, "{}", quoted(s)); }
    void optional_text(const char *key, const std::string &s)
    {
        if (!s.empty())
            text(key, s);
    }
    void limit(const char *key, u64 bytes, u64 otherwise)
    {
        if (bytes == otherwise)
            return;
        if (bytes == ~u64{0})
            print(key, "\"max\"");
        else
            print(key, "{}", bytes);
    }
    void list(const char *key, const std::vector<u64> &bos) { print(key, "[{}]", fmt::join(bos, ",")); }
    void touches(const char *key, const std::vector<touch> &touches)
    {
        print(key, "[");
        for (const touch &t : touches)
            fmt::format_to(std::back_inserter(out_), "{}[{},{},{}]", &t == touches.data() ? "" : ",", t.bo,
                           t.vram_bytes, t.link_bytes);
        out_ += ']';
    }
    void number(const char *key, double d)
    {
        // Integers as such, so that reading gives them back the same; no "-0".
        if (d == std::floor(d) && std::fabs(d) < 9e15)
            print(key, "{}", static_cast<s64>(d));
        else
            print(key, "{}", d);
    }
    void begin(op_kind kind)
    {
        if (kind == op_kind::begin)
            print("begin", "true");
    }

    // An array of objects, one for each element.
    template <typename elements, typename writes>
    void objects(const char *key, const elements &all, writes &&write)
    {
        print(key, "[");
        for (const auto &element : all) {
            if (&element != &*all.begin())
                out_ += ',';
            write_codec c(out_);

            write(c, element);
        }
        out_ += ']';
    }
    template <typename writes> void object(const char *key, writes &&write)
    {
        print(key, "");
        write_codec c(out_);

        write(c);
    }

private:
    template <typename... args>
    void print(const char *key, fmt::format_string<args...> format, args &&...values)
    {
        fmt::format_to(std::back_inserter(out_), "{}\"{}\":", first_ ? "" : ",", key);
        fmt::format_to(std::back_inserter(out_), format, std::forward<args>(values)...);
        first_ = false;
    }

    std::string &out_;
    bool first_ = true;
};

} // namespace vramlab::workload
