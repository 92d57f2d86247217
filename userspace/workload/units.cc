// SPDX-License-Identifier: MIT
#include "workload/units.h"

#include <charconv>
#include <limits>
#include <span>

namespace vramlab::workload {

namespace {

struct unit {
    std::string_view suffix;
    u64 factor;
};

std::optional<u64> parse(std::string_view text, std::span<const unit> units)
{
    u64 n = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), n);

    if (error != std::errc{})
        return std::nullopt;
    const std::string_view suffix = text.substr(static_cast<std::size_t>(end - text.data()));

    for (const unit &u : units) {
        if (suffix != u.suffix)
            continue;
        if (n > std::numeric_limits<u64>::max() / u.factor)
            return std::nullopt;
        return n * u.factor;
    }
    return std::nullopt;
}

} // namespace

std::optional<u64> parse_size(std::string_view text)
{
    static constexpr unit units[] = {{"B", 1}, {"KiB", KiB}, {"MiB", MiB}, {"GiB", GiB}};

    return parse(text, units);
}

std::optional<u64> parse_time(std::string_view text)
{
    static constexpr unit units[] = {{"ns", 1}, {"us", ns_per_us}, {"ms", ns_per_ms}, {"s", ns_per_s}};

    return parse(text, units);
}

} // namespace vramlab::workload
