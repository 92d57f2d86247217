// SPDX-License-Identifier: MIT
#include "cli/mechanism_settings.h"

#include <fmt/format.h>

#include <charconv>

namespace vramlab::cli {

namespace {

bool is_mechanism_s(const workload::setting &s)
{
    return s.path.starts_with("ttm.");
}

u32 milliseconds(const workload::setting &s)
{
    u32 ms = 0;
    const char *end = s.value.data() + s.value.size();
    const auto [rest, error] = std::from_chars(s.value.data(), end, ms);
    if (error != std::errc() || rest != end || s.value.empty())
        throw workload::parse_error("--set", 0, fmt::format("{} is \"{}\"", s.path, s.value),
                                    "a whole number of ms, at most 4294967295");
    return ms;
}

} // namespace

std::vector<workload::setting> scenario_settings(const std::vector<std::string> &texts)
{
    std::vector<workload::setting> out;
    for (const std::string &text : texts)
        if (workload::setting s = workload::parse_setting(text); !is_mechanism_s(s))
            out.push_back(std::move(s));
    return out;
}

mechanism_times times_of(const std::vector<std::string> &texts)
{
    mechanism_times t;
    for (const std::string &text : texts) {
        const workload::setting s = workload::parse_setting(text);
        if (!is_mechanism_s(s))
            continue;
        if (s.path == "ttm.throttle_strong_ms")
            t.throttle_strong_ms = milliseconds(s);
        else if (s.path == "ttm.throttle_weak_ms")
            t.throttle_weak_ms = milliseconds(s);
        else
            throw workload::parse_error("--set", 0, fmt::format("no parameter {}", s.path),
                                        "ttm.throttle_strong_ms or ttm.throttle_weak_ms");
    }
    return t;
}

} // namespace vramlab::cli
