// SPDX-License-Identifier: MIT
// Every metric by name. Documentation/metrics.rst says what each means; metrics_test.cc holds the two
// together.
#include "report/format.h"
#include "report/metrics.h"

#include <fmt/format.h>

#include <numeric>

namespace vramlab::report {

namespace {

double ms(u64 ns)
{
    return static_cast<double>(ns) / ns_per_ms;
}

double quotient(double a, double b)
{
    return b ? a / b : 0;
}

double mean_ms(const std::vector<u64> &ns)
{
    return quotient(ms(std::accumulate(ns.begin(), ns.end(), u64{0})), static_cast<double>(ns.size()));
}

double per_frame(u64 bytes, const counters &c)
{
    return quotient(static_cast<double>(bytes), static_cast<double>(c.frame_ns.size()));
}

double share(u64 part, u64 whole)
{
    return quotient(static_cast<double>(part), static_cast<double>(whole));
}

} // namespace

#define VALUE [](const metrics &m [[maybe_unused]], const counters &c [[maybe_unused]]) -> double

const std::vector<metric_descriptor> &metric_table()
{
    static const std::vector<metric_descriptor> table{
        {"frames", unit::count, false, VALUE{return static_cast<double>(c.frame_ns.size());
}
} // namespace vramlab::report
, {"frame_time_avg_ms", unit::ms, false, VALUE{return mean_ms(c.frame_ns);
}
}
, {"frame_time_p50_ms", unit::ms, false, VALUE{return ms(percentile(c.frame_ns, 50));
}
}
, {"frame_time_p99_ms", unit::ms, false, VALUE{return ms(percentile(c.frame_ns, 99));
}
}
, {"frame_time_max_ms", unit::ms, false, VALUE{return ms(percentile(c.frame_ns, 100));
}
}
, {"submissions", unit::count, false, VALUE{return static_cast<double>(c.submissions());
}
}
, {"failed_submissions", unit::count, false, VALUE{return static_cast<double>(c.failed_submissions_total());
}
}
, {"submit_latency_avg_ms", unit::ms, false, VALUE{return mean_ms(c.submit_ns);
}
}
, {"submit_latency_p50_ms", unit::ms, false, VALUE{return ms(percentile(c.submit_ns, 50));
}
}
, {"submit_latency_p99_ms", unit::ms, false, VALUE{return ms(percentile(c.submit_ns, 99));
}
}
, {"submit_latency_max_ms", unit::ms, false, VALUE{return ms(percentile(c.submit_ns, 100));
}
}
, {"failed_operations", unit::count, false, VALUE{return static_cast<double>(c.failed_operations_total());
}
}
, {"failed_creates", unit::count, false, VALUE{return static_cast<double>(c.failed_creates);
}
}
, {"failed_flips", unit::count, false, VALUE{return static_cast<double>(c.failed_flips);
}
}
, {"evictions", unit::count, false, VALUE{return static_cast<double>(c.evictions);
}
}
, {"evicted_bytes", unit::bytes, false, VALUE{return static_cast<double>(c.evicted_bytes);
}
}
, {"evictions_caused", unit::count, false, VALUE{return static_cast<double>(c.evictions_caused);
}
}
, {"evictions_for_scanout", unit::count, false, VALUE{return static_cast<double>(c.evictions_for_scanout);
}
}
, {"moved_in_bytes", unit::bytes, false, VALUE{return static_cast<double>(c.link.moved_in_bytes);
}
}
, {"moved_out_bytes", unit::bytes, false, VALUE{return static_cast<double>(c.link.moved_out_bytes);
}
}
, {"remote_bytes", unit::bytes, false, VALUE{return static_cast<double>(c.link.remote_bytes);
}
}
, {"link_read_bytes_per_frame", unit::bytes_per_frame, false,
   VALUE{return per_frame(c.frames_link.read_bytes(), c);
}
}
, {"link_read_bytes_per_frame_max", unit::bytes_per_frame, false,
   VALUE{return static_cast<double>(c.frame_link_max_bytes);
}
}
, {"moved_in_bytes_per_frame", unit::bytes_per_frame, false,
   VALUE{return per_frame(c.frames_link.moved_in_bytes, c);
}
}
, {"moved_out_bytes_per_frame", unit::bytes_per_frame, false,
   VALUE{return per_frame(c.frames_link.moved_out_bytes, c);
}
}
, {"remote_bytes_per_frame", unit::bytes_per_frame, false,
   VALUE{return per_frame(c.frames_link.remote_bytes, c);
}
}
, {"reversals_100ms", unit::count, false, VALUE{return static_cast<double>(c.reversals[0]);
}
}
, {"reversals_1s", unit::count, false, VALUE{return static_cast<double>(c.reversals[1]);
}
}
, {"reversals_10s", unit::count, false, VALUE{return static_cast<double>(c.reversals[2]);
}
}
, {"vram_bytes_end", unit::bytes, false, VALUE{return static_cast<double>(c.vram_bytes);
}
}
, {"outside_bytes_end", unit::bytes, false, VALUE{return static_cast<double>(c.outside_bytes);
}
}
, {"preferred_share_end", unit::share, false, VALUE{return share(c.preferred_in_bytes, c.preferred_bytes);
}
}
, {"high_priority_share_end", unit::share, false, VALUE{return share(c.high_in_bytes, c.high_bytes);
}
}
, {"deadlks", unit::count, false, VALUE{return static_cast<double>(c.deadlks);
}
}
, {"retries", unit::count, false, VALUE{return static_cast<double>(c.retries);
}
}
, {"fence_wait_ms", unit::ms, false, VALUE{return ms(c.fence_wait_ns);
}
}
, {"gfx_busy_share", unit::share, false, VALUE{return share(c.gfx_busy_ns, m.end_ns());
}
}
, {"copy_busy_share", unit::share, true, VALUE{return share(c.copy_busy_ns, m.end_ns());
}
}
, {"ping_pong_bos", unit::count, true, VALUE{return static_cast<double>(m.ping_pong().bo_count());
}
}
, {"ping_pong_round_trips", unit::count, true, VALUE{return static_cast<double>(m.ping_pong().round_trips());
}
}
, {"run_time_ms", unit::ms, true, VALUE{return ms(m.end_ns());
}
}
,
}
;
return table;
}

#undef VALUE

namespace {

// failed_submissions_enomem and the like: any error name.
std::optional<double> by_error(std::string_view metric, std::string_view prefix,
                               const std::map<int, u64> &counts)
{
    if (!metric.starts_with(prefix) || metric.size() == prefix.size())
        return std::nullopt;
    const std::string_view name = metric.substr(prefix.size());
    for (const auto &[error, n] : counts)
        if (error_suffix(error) == name)
            return static_cast<double>(n);
    for (int error = 1; error <= ERESTARTSYS_; error++) // a real error that did not happen
        if (error_suffix(error) == name)
            return 0;
    return std::nullopt;
}

} // namespace

std::optional<double> metrics::value(std::string_view metric, std::string_view process) const
{
    u32 number = 0;
    for (const process_config &p : processes_)
        if (!process.empty() && p.name == process)
            number = p.process;
    if (!process.empty() && !number)
        return std::nullopt;
    const counters &c = of(number);
    for (const metric_descriptor &d : metric_table())
        if (metric == d.name)
            return d.total_only && number ? std::nullopt : std::optional(d.get(*this, c));
    if (auto v = by_error(metric, "failed_submissions_", c.failed_submissions))
        return v;
    return by_error(metric, "failed_operations_", c.failed_operations);
}

std::string format_metric(unit u, double value)
{
    switch (u) {
    case unit::count:
        return format_number(value, 0);
    case unit::bytes:
        return format_bytes(value);
    case unit::bytes_per_frame:
        return format_bytes(value);
    case unit::ms:
        return format_duration(static_cast<u64>(value * ns_per_ms + 0.5));
    case unit::share:
        return fmt::format("{} %", format_number(value * 100, 1));
    }
    return "";
}

} // namespace vramlab::report
