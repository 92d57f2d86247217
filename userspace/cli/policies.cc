// SPDX-License-Identifier: MIT
#include "cli/policies.h"

#include "cli/input.h"
#include "driver/policy.h"
#include "report/metrics.h"

#include <fmt/format.h>

#include <stdexcept>

namespace vramlab::cli {

std::vector<std::string> policies_of(const std::vector<std::string> &typed)
{
    std::vector<std::string> policies;
    for (const std::string &p : typed)
        policies.push_back(find_policy(p));
    if (policies.empty())
        for (std::string_view p : driver::policy_names())
            policies.emplace_back(p);
    return policies;
}

void check_metrics(const std::vector<std::string> &metrics)
{
    const report::metrics of_nothing({});
    for (const std::string &m : metrics)
        if (!of_nothing.value(m))
            throw std::runtime_error(
                fmt::format("no metric \"{}\", expected a name of Documentation/metrics.rst", m));
}

std::vector<std::string> default_metrics()
{
    return {"frames",
            "frame_time_avg_ms",
            "frame_time_p99_ms",
            "failed_submissions",
            "evictions",
            "evicted_bytes",
            "moved_in_bytes",
            "remote_bytes",
            "link_read_bytes_per_frame",
            "ping_pong_round_trips",
            "preferred_share_end",
            "run_time_ms"};
}

} // namespace vramlab::cli
