// SPDX-License-Identifier: MIT
// Frames of a trace's processes, with what happened in each. A process that marks its frames is believed; for
// others a frame is what it submits between two vblanks, and lasts from the first submission to the end of
// the last job.
#pragma once

#include "gputrace/job_tracker.h"
#include "trace/reader.h"

#include <map>
#include <set>
#include <string>
#include <vector>

namespace vramlab::gputrace {

inline constexpr u64 assumed_period_ns = ns_per_s / 60; // of a trace without vblanks

// What has to be known of a trace before its frames can be told.
class frame_probe {
public:
    // Reads the whole trace.
    explicit frame_probe(trace::trace_reader &in);

    std::set<s32> marking;      // processes that mark their frames
    std::map<u32, u64> vblanks; // by crtc
    u32 crtc = 0;               // whose vblanks divide frames: that with the most
    bool has_vblanks = false;
    u64 first_ns = 0;
};

struct frame_move {
    u64 time_ns = 0;
    u64 bo = 0;
    u64 bytes = 0;
    u32 from = 0;
    u32 to = 0;
};

struct frame_row {
    s32 process = 0;
    u64 number = 0; // of the process, from 1, or as it says
    u64 begin_ns = 0;
    u64 end_ns = never_ns; // never_ns: under way
    u64 time_ns = 0;
    u64 jobs = 0;
    u64 busy_ns = 0;
    u64 wait_ns = 0;
    u64 in_bytes = 0; // moved by it, into and out of VRAM
    u64 out_bytes = 0;
    job slowest;    // that waited longest; done_ns is never_ns if there is none
    s32 behind = 0; // process that had slowest's engine longest meanwhile, and how long; 0 ns: none
    u64 behind_ns = 0;
    job longest;                   // that ran longest
    std::vector<frame_move> moves; // largest first, at most 3
};

class frame_list {
public:
    static constexpr std::size_t worst_max = 10;

    explicit frame_list(const frame_probe &probe) : probe_(probe) {}
    void vblank(u64 time_ns);
    void mark(s32 process, const gpu_event &e, u64 time_ns);
    void queued(s32 process, u64 time_ns);
    void done(s32 process, const job &j, s32 behind, u64 behind_ns);
    void moved(s32 process, const gpu_event &e, u64 time_ns);
    void finish();

    struct totals {
        u64 frames = 0;
        u64 time_ns = 0;
        u64 worst_ns = 0;
    };
    const std::map<s32, totals> &by_process() const { return totals_; }
    // Worst first; valid after finish().
    const std::vector<frame_row> &worst() const { return worst_; }

private:
    static constexpr std::size_t open_max = 64; // of a process: older ones get no more jobs
    struct process_frames {
        std::vector<frame_row> open; // by begin
        u64 interval = 0;
        u64 count = 0;
    };

    u64 interval_at(u64 time_ns) const;
    frame_row *at(s32 process, u64 time_ns);
    void begin(s32 process, u64 time_ns);
    void close(frame_row &f);

    const frame_probe &probe_;
    std::map<s32, process_frames> processes_;
    std::map<s32, totals> totals_;
    std::vector<frame_row> worst_;
    u64 vblank_ = 0; // how many there were
};

} // namespace vramlab::gputrace
