// SPDX-License-Identifier: MIT
#include "gputrace/stats.h"

#include "report/format.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>

namespace vramlab::gputrace {

namespace {

using report::align;
using report::color;
using report::format_bytes;
using report::format_duration;
using report::format_number;
using report::format_time;
using report::table;

std::string name_of(const trace_stats &s, s32 process)
{
    const auto it = s.processes.find(process);
    return it == s.processes.end() || process == pid_unknown ? "(kernel)"
                                                             : fmt::format("{}-{}", it->second.name, process);
}

std::string share(u64 part, u64 whole)
{
    return whole ? format_number(100.0 * static_cast<double>(part) / static_cast<double>(whole), 1) + " %"
                 : "";
}

// "gfx job 4929:3200 waited 3.2 ms, of these 2.9 ms behind xyz-12".
std::string waited(const trace_stats &s, const job &j, s32 behind, u64 behind_ns)
{
    std::string out = fmt::format("{} job {}:{} waited {}", s.engines[j.engine].label, j.context, j.seqno,
                                  format_duration(j.wait_ns()));
    if (behind_ns)
        out += fmt::format(", {} behind {}", format_duration(behind_ns), name_of(s, behind));
    return out;
}

// The events that explain a frame, the most important first.
std::vector<std::string> explanation(const trace_stats &s, const frame_row &f)
{
    std::vector<std::string> out;
    if (f.slowest.done_ns != never_ns && f.slowest.wait_ns())
        out.push_back(waited(s, f.slowest, f.behind, f.behind_ns) +
                      fmt::format(" (queued at {})", format_time(f.slowest.queue_ns)));
    if (f.longest.done_ns != never_ns)
        out.push_back(fmt::format("{} job {}:{} ran {} (from {})", s.engines[f.longest.engine].label,
                                  f.longest.context, f.longest.seqno, format_duration(f.longest.busy_ns()),
                                  format_time(f.longest.start_ns)));
    if (f.in_bytes || f.out_bytes)
        out.push_back(
            fmt::format("{} moved into VRAM, {} out", format_bytes(f.in_bytes), format_bytes(f.out_bytes)));
    for (const frame_move &m : f.moves)
        out.push_back(fmt::format("BO 0x{:x}, {}: {} to {} (at {})", m.bo, format_bytes(m.bytes),
                                  report::domain_names(m.from), report::domain_names(m.to),
                                  format_time(m.time_ns)));
    return out;
}

std::string processes_table(const trace_stats &s, const report::painter &p)
{
    table t({"process", "frames", "mean", "worst", "moves", "into VRAM", "out of VRAM", "reversals"});
    for (const auto &[process, r] : s.processes) {
        const u64 n = r.frames.frames;
        t.add_row({name_of(s, process), fmt::format("{}", n), n ? format_duration(r.frames.time_ns / n) : "",
                   n ? format_duration(r.frames.worst_ns) : "", fmt::format("{}", r.moves),
                   format_bytes(r.in_bytes), format_bytes(r.out_bytes), fmt::format("{}", r.reversals)});
    }
    return t.render(p);
}

std::string engines_table(const trace_stats &s, const report::painter &p)
{
    table t({"process", "engine", "jobs", "busy", "share", "wait", "longest stall"});
    t.set_align(1, align::left);
    for (const auto &[key, r] : s.by_engine)
        t.add_row({name_of(s, key.first), s.engines[key.second].label, fmt::format("{}", r.jobs),
                   format_duration(r.busy_ns), share(r.busy_ns, s.last_ns - s.first_ns),
                   format_duration(r.wait_ns), format_duration(r.longest_wait_ns)});
    return t.render(p);
}

std::string counts_text(const trace_stats &s)
{
    const job_counts &j = s.jobs;
    std::string out =
        fmt::format("{} events, {}; {} jobs done", s.events, format_duration(s.last_ns - s.first_ns), j.done);
    const auto add = [&](u64 n, const char *what) {
        if (n)
            out += fmt::format("; {} {}", n, what);
    };
    add(j.never_done, "never done (end of the trace, or lost)");
    add(j.without_queue, "that nobody was seen to queue (the kernel's own, or begun before the trace)");
    add(j.without_run, "not seen to start");
    add(j.out_of_order, "signaled out of order");
    add(j.signals_alone, "signals of jobs that were not seen");
    add(s.without_key, "events of jobs without context and number");
    add(s.incomplete, "events without the fields they should have");
    add(s.lost_gaps, "gaps where the tracer lost events");
    add(s.lost, "events known to be lost there");
    return out + "\n";
}

} // namespace

std::string print_stats(const trace_stats &s, const report::painter &p)
{
    std::string out = counts_text(s) + "Frames by " + s.frames_by + ".\n\n";
    out += processes_table(s, p) + "\n" + engines_table(s, p);
    if (!s.stalls.empty()) {
        out += "\n" + p.paint("Longest stalls", color::bold) + "\n";
        for (const stall_row &r : s.stalls)
            out += fmt::format("  {}  {}: {}\n", format_time(r.of.queue_ns), name_of(s, r.process),
                               waited(s, r.of, r.behind, r.behind_ns));
    }
    if (!s.worst.empty())
        out += "\n" + p.paint("Worst frames", color::bold) + "\n";
    for (const frame_row &f : s.worst) {
        out += fmt::format("  {}  {} frame {}: {} ({} jobs, busy {})\n", format_time(f.begin_ns),
                           name_of(s, f.process), f.number, format_duration(f.time_ns), f.jobs,
                           format_duration(f.busy_ns));
        for (const std::string &line : explanation(s, f))
            out += "      " + line + "\n";
    }
    return out;
}

nlohmann::ordered_json stats_json(const trace_stats &s)
{
    using nlohmann::ordered_json;
    ordered_json j;
    j["events"] = s.events;
    j["first_ns"] = s.first_ns;
    j["last_ns"] = s.last_ns;
    j["event_names"] = s.names;
    j["lost"] = {{"gaps", s.lost_gaps}, {"events", s.lost}};
    j["jobs"] = {{"done", s.jobs.done},
                 {"never_done", s.jobs.never_done},
                 {"without_queue", s.jobs.without_queue},
                 {"without_run", s.jobs.without_run},
                 {"out_of_order", s.jobs.out_of_order},
                 {"signals_alone", s.jobs.signals_alone},
                 {"without_key", s.without_key},
                 {"incomplete", s.incomplete}};
    j["frames_by"] = s.frames_by;
    j["processes"] = ordered_json::array();
    for (const auto &[process, r] : s.processes) {
        ordered_json x = {{"pid", process},
                          {"name", r.name},
                          {"frames", r.frames.frames},
                          {"frame_ns", r.frames.time_ns},
                          {"worst_frame_ns", r.frames.worst_ns},
                          {"moves", r.moves},
                          {"into_vram_bytes", r.in_bytes},
                          {"out_of_vram_bytes", r.out_bytes},
                          {"reversals", r.reversals}};
        x["engines"] = ordered_json::array();
        for (auto it = s.by_engine.lower_bound({process, 0});
             it != s.by_engine.end() && it->first.first == process; ++it)
            x["engines"].push_back({{"engine", s.engines[it->first.second].label},
                                    {"jobs", it->second.jobs},
                                    {"busy_ns", it->second.busy_ns},
                                    {"wait_ns", it->second.wait_ns},
                                    {"longest_stall_ns", it->second.longest_wait_ns}});
        j["processes"].push_back(std::move(x));
    }
    j["stalls"] = ordered_json::array();
    for (const stall_row &r : s.stalls)
        j["stalls"].push_back({{"pid", r.process},
                               {"engine", s.engines[r.of.engine].label},
                               {"context", r.of.context},
                               {"seqno", r.of.seqno},
                               {"queued_ns", r.of.queue_ns},
                               {"wait_ns", r.of.wait_ns()},
                               {"behind_pid", r.behind},
                               {"behind_ns", r.behind_ns}});
    j["worst_frames"] = ordered_json::array();
    for (const frame_row &f : s.worst)
        j["worst_frames"].push_back({{"pid", f.process},
                                     {"number", f.number},
                                     {"begin_ns", f.begin_ns},
                                     {"time_ns", f.time_ns},
                                     {"jobs", f.jobs},
                                     {"busy_ns", f.busy_ns},
                                     {"wait_ns", f.wait_ns},
                                     {"into_vram_bytes", f.in_bytes},
                                     {"out_of_vram_bytes", f.out_bytes},
                                     {"explained_by", explanation(s, f)}});
    return j;
}

} // namespace vramlab::gputrace
