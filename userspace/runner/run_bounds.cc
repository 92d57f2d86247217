// SPDX-License-Identifier: MIT
#include "runner/run_bounds.h"

#include <fmt/format.h>

namespace vramlab::runner {

run_bounds bounds_of(const bound_recorder &r, const report::metrics &m)
{
    const bounds::instance in = r.finish();
    run_bounds b{in.steps, m.of(0).link.read_bytes(), bounds::least_link_bytes(in), 0, std::nullopt};
    if (const auto lost = r.finish_stall()) {
        b.stall_ns = lost->stall_ns;
        b.stall = bounds::least_stall(lost->question);
    }
    return b;
}

std::optional<invariant_failure> below_bound(const run_bounds &b)
{
    const auto failure = [](const std::string &what, const std::string &lower) {
        return invariant_failure{
            "bound",
            fmt::format("{}, which is below the lower bound of {}: one of both is wrong", what, lower), 0, 0};
    };
    if (b.link_read_bytes < b.link.lower_bytes)
        return failure(fmt::format("{} bytes were read over the link", b.link_read_bytes),
                       fmt::format("{}", b.link.lower_bytes));
    if (b.stall && b.stall->lower_ns && (b.stall_ns < 0 || static_cast<u64>(b.stall_ns) < b.stall->lower_ns))
        return failure(fmt::format("{} ns were lost", b.stall_ns), fmt::format("{}", b.stall->lower_ns));
    return std::nullopt;
}

std::string times_lower(u64 value, u64 lower, bool known)
{
    if (!known)
        return "unknown";
    if (!lower)
        return value ? "-" : "1.00";
    return fmt::format("{:.2f}", static_cast<double>(value) / static_cast<double>(lower));
}

} // namespace vramlab::runner
