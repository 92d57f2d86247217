// SPDX-License-Identifier: MIT
#include "cli/bound_words.h"

#include <nlohmann/json.hpp>

namespace vramlab::cli {

std::vector<std::string> bound_headings()
{
    return {"link x lower", "stall x lower"};
}

std::vector<std::string> bound_texts(const std::optional<runner::run_bounds> &b)
{
    if (!b)
        return std::vector<std::string>(bound_headings().size(), "-");
    const u64 lost_ns = b->stall_ns > 0 ? static_cast<u64>(b->stall_ns) : 0;
    return {runner::times_lower(b->link_read_bytes, b->link.lower_bytes, b->link.known()),
            b->stall ? runner::times_lower(lost_ns, b->stall->lower_ns, b->stall->known()) : "unknown"};
}

std::vector<std::string> bound_columns()
{
    return {"link_read_bytes", "link_lower_bytes", "link_upper_bytes", "link_x_lower",
            "stall_ms",        "stall_lower_ms",   "stall_upper_ms",   "stall_x_lower"};
}

std::vector<std::optional<double>> bound_values(const std::optional<runner::run_bounds> &b)
{
    std::vector<std::optional<double>> values(bound_columns().size());
    if (!b)
        return values;
    const auto read = static_cast<double>(b->link_read_bytes),
               lower = static_cast<double>(b->link.lower_bytes);
    values[0] = read;
    values[1] = lower;
    if (b->link.upper_bytes)
        values[2] = static_cast<double>(*b->link.upper_bytes);
    if (b->link.known() && b->link.lower_bytes)
        values[3] = read / lower;
    if (!b->stall)
        return values;
    const auto ms = [](auto ns) { return static_cast<double>(ns) / ns_per_ms; };
    values[4] = ms(b->stall_ns);
    values[5] = ms(b->stall->lower_ns);
    if (b->stall->upper_ns)
        values[6] = ms(*b->stall->upper_ns);
    if (b->stall->known() && b->stall->lower_ns)
        values[7] = *values[4] / *values[5];
    return values;
}

nlohmann::ordered_json bounds_json(const runner::run_bounds &b)
{
    nlohmann::ordered_json j{{"submissions", b.submissions},
                             {"link_read_bytes", b.link_read_bytes},
                             {"link_lower_bytes", b.link.lower_bytes}};
    if (b.link.upper_bytes)
        j["link_upper_bytes"] = *b.link.upper_bytes;
    j["link_exact"] = b.link.exact;
    j["link_known"] = b.link.known();
    if (!b.stall)
        return j;
    j["stall_ns"] = b.stall_ns;
    j["stall_lower_ns"] = b.stall->lower_ns;
    if (b.stall->upper_ns)
        j["stall_upper_ns"] = *b.stall->upper_ns;
    j["stall_known"] = b.stall->known();
    return j;
}

} // namespace vramlab::cli
