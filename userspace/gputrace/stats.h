// SPDX-License-Identifier: MIT
// What a trace says: who kept which engine busy, who waited how long and behind whom, what moved, and why the
// worst frames were bad.
#pragma once

#include "gputrace/frames.h"
#include "report/table.h"

#include <nlohmann/json_fwd.hpp>

#include <array>
#include <map>
#include <unordered_map>

namespace vramlab::gputrace {

struct engine_row {
    u64 jobs = 0;
    u64 busy_ns = 0;
    u64 wait_ns = 0; // from being queued to the engine's start
    u64 longest_wait_ns = 0;
};

struct process_row {
    std::string name;
    u64 moves = 0;
    u64 in_bytes = 0; // into VRAM, out of it; whoever asked for it
    u64 out_bytes = 0;
    u64 reversals = 0; // BOs that came back within reversal_ns
    frame_list::totals frames;
};
inline constexpr u64 reversal_ns = ns_per_s;

struct stall_row {
    s32 process = 0;
    job of;
    s32 behind = 0; // as in frame_row
    u64 behind_ns = 0;
};

struct trace_stats {
    static constexpr std::size_t stalls_max = 10;

    u64 events = 0;
    u64 first_ns = 0;
    u64 last_ns = 0;
    u64 lost_gaps = 0;
    u64 lost = 0;
    u64 without_key = 0;
    u64 incomplete = 0;
    std::string frames_by;            // how frames were told
    std::map<std::string, u64> names; // events, by name
    std::vector<engine> engines;
    std::map<s32, process_row> processes; // by pid; pid_unknown: the kernel, or before the trace
    std::map<std::pair<s32, u32>, engine_row> by_engine; // process, engine
    std::vector<stall_row> stalls;                       // longest first
    std::vector<frame_row> worst;
    job_counts jobs;
};

// The probe is of the same trace.
trace_stats collect_stats(trace::trace_reader &in, const frame_probe &probe);

std::string print_stats(const trace_stats &s, const report::painter &p);
nlohmann::ordered_json stats_json(const trace_stats &s);

} // namespace vramlab::gputrace
