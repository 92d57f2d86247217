// SPDX-License-Identifier: MIT
#include "report/metrics_print.h"

#include "report/format.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>

namespace vramlab::report {

namespace {

std::string process_name(const metrics &m, u32 process)
{
    for (const process_config &p : m.processes())
        if (p.process == process)
            return p.name.empty() ? fmt::format("process {}", process) : p.name;
    return "the system";
}

// The value of a metric as text; "-" where it says nothing about this process.
table::cell cell_of(const metrics &m, u32 process, const char *name, bool meaningful = true)
{
    for (const metric_descriptor &d : metric_table())
        if (meaningful && std::string_view(d.name) == name)
            return format_metric(d.u, d.get(m, m.of(process)));
    return {"-", color::dim};
}

void add_frames_row(table &t, const metrics &m, u32 process, const std::string &name)
{
    const counters &c = m.of(process);
    const bool frames = !c.frame_ns.empty(), submits = c.submissions() != 0;
    std::vector<table::cell> row{{name, process ? color::none : color::bold}};
    row.push_back(cell_of(m, process, "frames"));
    for (const char *metric :
         {"frame_time_avg_ms", "frame_time_p50_ms", "frame_time_p99_ms", "frame_time_max_ms"})
        row.push_back(cell_of(m, process, metric, frames));
    row.push_back(cell_of(m, process, "submissions"));
    table::cell failed = cell_of(m, process, "failed_submissions");
    failed.paint = c.failed_submissions_total() ? color::red : color::none;
    row.push_back(failed);
    for (const char *metric : {"submit_latency_avg_ms", "submit_latency_p99_ms", "submit_latency_max_ms"})
        row.push_back(cell_of(m, process, metric, submits));
    t.add_row(std::move(row));
}

void add_memory_row(table &t, const metrics &m, u32 process, const std::string &name)
{
    const bool frames = !m.of(process).frame_ns.empty();
    std::vector<table::cell> row{{name, process ? color::none : color::bold}};
    for (const char *metric : {"evictions", "moved_out_bytes", "moved_in_bytes", "remote_bytes"})
        row.push_back(cell_of(m, process, metric));
    for (const char *metric : {"moved_in_bytes_per_frame", "remote_bytes_per_frame"})
        row.push_back(cell_of(m, process, metric, frames));
    for (const char *metric : {"reversals_1s", "vram_bytes_end", "outside_bytes_end"})
        row.push_back(cell_of(m, process, metric));
    t.add_row(std::move(row));
}

template <typename Fn>
std::string process_table(std::vector<std::string> headings, const metrics &m, const painter &p, Fn add)
{
    table t(std::move(headings));
    for (const process_config &process : m.processes())
        add(t, m, process.process, process_name(m, process.process));
    if (m.processes().size() > 1)
        add(t, m, 0, "total");
    return t.render(p);
}

std::string errors_of(const std::map<int, u64> &errors)
{
    std::string s;
    for (const auto &[error, n] : errors)
        s += fmt::format("{}{} {}", s.empty() ? "" : ", ", n, error_name(error));
    return s;
}

std::string print_failures(const metrics &m, const painter &p)
{
    std::string out;
    for (const process_config &process : m.processes()) {
        const counters &c = m.of(process.process);
        const std::string name = process_name(m, process.process);
        if (!c.failed_submissions.empty())
            out += p.paint(fmt::format("failed submissions of {}: {}", name, errors_of(c.failed_submissions)),
                           color::red) +
                   "\n";
        if (!c.failed_operations.empty())
            out += p.paint(
                       fmt::format("failed operations of {}: {}{}{}", name, errors_of(c.failed_operations),
                                   c.failed_creates ? fmt::format("; {} were creates", c.failed_creates) : "",
                                   c.failed_flips ? fmt::format("; {} were flips", c.failed_flips) : ""),
                       color::red) +
                   "\n";
    }
    return out;
}

std::string print_ping_pong(const metrics &m, const painter &p)
{
    const auto pairs = m.ping_pong().pairs();
    if (pairs.empty())
        return {};
    table t({"ping-pong: BOs of", "evicted for", "because of", "BOs", "round trips", "moved"});
    t.set_align(1, align::left).set_align(2, align::left);
    for (const auto &row : pairs)
        t.add_row({process_name(m, row.owner), process_name(m, row.evictor),
                   row.evictor ? row.for_scanout ? "scanout" : "other BOs" : "eviction of all, or reclaim",
                   fmt::format("{}", row.bos), fmt::format("{}", row.round_trips),
                   format_bytes(static_cast<double>(row.moved_bytes))});
    std::string most;
    for (const auto &bo : m.ping_pong().bos(5))
        most += fmt::format("{}{} ({} times)", most.empty() ? "" : ", ", bo.bo, bo.round_trips);
    return "\n" + t.render(p) + "most often: BO " + most + "\n";
}

} // namespace

std::string print_metrics(const metrics &m, const painter &p)
{
    const counters &total = m.of(0);
    std::string out = process_table(
        {"process", "frames", "avg", "p50", "p99", "max", "submits", "failed", "latency avg", "p99", "max"},
        m, p, add_frames_row);
    out += "\n" + process_table({"process", "evicted", "out of VRAM", "into VRAM", "remote", "in/frame",
                                 "remote/frame", "back in 1 s", "in VRAM now", "outside"},
                                m, p, add_memory_row);
    out += print_ping_pong(m, p) + "\n";
    out += print_failures(m, p);
    out += fmt::format("{} in all; gfx busy {}, copy busy {}; came back within 0.1 s: {}, 1 s: {}, 10 s: {}; "
                       "-EDEADLK: {}, retries: {}\n",
                       format_time(m.end_ns()), cell_of(m, 0, "gfx_busy_share").text,
                       cell_of(m, 0, "copy_busy_share").text, total.reversals[0], total.reversals[1],
                       total.reversals[2], total.deadlks, total.retries);
    return out + p.paint(provenance_line, color::dim) + "\n";
}

std::string print_comparison(std::span<const compared_run> runs, const painter &p)
{
    table t;
    std::size_t heading_lines = 0;
    for (const compared_run &r : runs)
        heading_lines = std::max(heading_lines, r.heading.size());
    for (std::size_t line = 0; line < heading_lines; line++) {
        std::vector<table::cell> row{""};
        for (const compared_run &r : runs)
            row.emplace_back(line < r.heading.size() ? r.heading[line] : "", color::bold);
        t.add_row(std::move(row));
    }
    auto add_row = [&](const std::string &label, auto value, unit u) {
        std::vector<table::cell> row{label};
        bool any = false;
        for (const compared_run &r : runs) {
            const std::optional<double> v = value(*r.m);
            any |= v && *v != 0;
            row.push_back(v ? table::cell(format_metric(u, *v)) : table::cell("-", color::dim));
        }
        if (any)
            t.add_row(std::move(row));
    };
    for (const metric_descriptor &d : metric_table())
        add_row(
            d.name, [&](const metrics &m) { return m.value(d.name); }, d.u);
    for (std::size_t i = 0; !runs.empty() && i < runs[0].more.size(); i++) {
        std::vector<table::cell> row{runs[0].more[i].first};
        for (const compared_run &r : runs)
            row.emplace_back(r.more[i].second);
        t.add_row(std::move(row));
    }
    // Per process, what people look at first; processes are matched by name.
    std::vector<std::string> names;
    for (const compared_run &r : runs)
        for (const process_config &process : r.m->processes())
            if (!process.name.empty() && std::find(names.begin(), names.end(), process.name) == names.end())
                names.push_back(process.name);
    if (names.size() > 1)
        for (const std::string &name : names)
            for (const metric_descriptor &d : metric_table())
                for (std::string_view shown : {"frame_time_avg_ms", "frame_time_p99_ms", "failed_submissions",
                                               "link_read_bytes_per_frame", "preferred_share_end"})
                    if (d.name == shown)
                        add_row(
                            name + " " + d.name, [&](const metrics &m) { return m.value(d.name, name); },
                            d.u);
    return t.render(p) + p.paint(provenance_line, color::dim) + "\n";
}

namespace {

// Whole numbers as such: a reader should not have to guess whether 1e+06 bytes were rounded.
nlohmann::ordered_json number(double v)
{
    if (v >= 0 && v < 9007199254740992.0 && v == static_cast<double>(static_cast<u64>(v)))
        return static_cast<u64>(v);
    return v;
}

nlohmann::ordered_json counters_json(const metrics &m, u32 process)
{
    nlohmann::ordered_json j = nlohmann::ordered_json::object();
    const counters &c = m.of(process);
    for (const metric_descriptor &d : metric_table())
        if (!d.total_only || !process)
            j[d.name] = number(d.get(m, c));
    for (const auto &[error, n] : c.failed_submissions)
        j["failed_submissions_" + error_suffix(error)] = n;
    for (const auto &[error, n] : c.failed_operations)
        j["failed_operations_" + error_suffix(error)] = n;
    return j;
}

} // namespace

nlohmann::ordered_json metrics_json(const metrics &m)
{
    nlohmann::ordered_json j;
    j["total"] = counters_json(m, 0);
    j["processes"] = nlohmann::ordered_json::object();
    for (const process_config &p : m.processes())
        j["processes"][process_name(m, p.process)] = counters_json(m, p.process);
    j["ping_pong"] = nlohmann::ordered_json::array();
    for (const auto &row : m.ping_pong().pairs())
        j["ping_pong"].push_back({{"owner", process_name(m, row.owner)},
                                  {"evicted_for", process_name(m, row.evictor)},
                                  {"scanout", row.for_scanout},
                                  {"bos", row.bos},
                                  {"round_trips", row.round_trips},
                                  {"moved_bytes", row.moved_bytes}});
    j["provenance"] = provenance_line;
    return j;
}

} // namespace vramlab::report
