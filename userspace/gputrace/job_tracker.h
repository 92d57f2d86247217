// SPDX-License-Identifier: MIT
// Puts together what a trace says of each job: queued, run, done. Keyed by context and sequence number, so
// that it takes signals in any order; what is lost or cut off is counted, and memory is bounded.
#pragma once

#include "gputrace/gpu_event.h"

#include <deque>
#include <string>
#include <unordered_map>
#include <vector>

namespace vramlab::gputrace {

struct engine {
    std::string device; // empty: not said
    std::string name;
    std::string label;      // name, with the device if it is not the trace's first
    u64 last_done_ns = 0;   // of its last job that ended
    u64 last_start_run = 0; // when that had been given to it
};

inline constexpr s32 pid_unknown = -1; // nobody was seen to queue it: the kernel itself, or before the trace

struct job {
    u64 context = 0;
    u64 seqno = 0;
    u32 engine = 0; // index
    s32 pid = pid_unknown;
    u64 queue_ns = never_ns; // never_ns: not seen
    u64 run_ns = never_ns;
    u64 start_ns = never_ns; // when the engine was free for it, too
    u64 done_ns = never_ns;
    dialect by = dialect::other; // who told of it first
    u64 serial = 0;

    u64 busy_ns() const { return done_ns - start_ns; }
    u64 wait_ns() const { return queue_ns == never_ns ? 0 : start_ns - queue_ns; }
};

struct job_counts {
    u64 done = 0;
    u64 without_queue = 0; // of these: run and done, but nobody queued them
    u64 without_run = 0;   // of these: taken to have run when queued
    u64 out_of_order = 0;  // of these: signaled behind a later job of their engine
    u64 signals_alone = 0; // of a scheduler, for jobs of before the trace, or whose begin was lost
    u64 never_done = 0;    // the trace ends first, or the signal was lost
    u64 seen_by_two = 0;   // events of a scheduler and a driver for the same step
};

class job_tracker {
public:
    static constexpr std::size_t jobs_max = 1 << 16; // remembered: the oldest go

    enum class news : u8 { none, queued, ran, done };
    struct step {
        news what = news::none;  // none: nothing new
        const job *of = nullptr; // until the next take(); nullptr: of no job
    };
    step take(const gpu_event &e, u64 time_ns, s32 pid);
    // The trace is over: what is left never was done.
    void finish();

    const std::vector<engine> &engines() const { return engines_; }
    const job_counts &counts() const { return counts_; }

private:
    struct key {
        u64 context;
        u64 seqno;
        friend bool operator==(const key &, const key &) = default;
    };
    struct key_hash {
        std::size_t operator()(const key &k) const
        {
            return static_cast<std::size_t>((k.context * 0x9e3779b97f4a7c15u) ^
                                            (k.seqno * 0xc2b2ae3d27d4eb4fu));
        }
    };

    job &add(const key &k, const gpu_event &e);
    u32 engine_of(const gpu_event &e);
    void name_device(engine &n, std::string_view device);
    void end(job &j, u64 time_ns);

    std::unordered_map<key, job, key_hash> jobs_;
    std::deque<std::pair<key, u64>> order_; // with its serial
    std::vector<engine> engines_;
    std::string first_device_;
    job_counts counts_;
    u64 serial_ = 0;
    bool amdgpu_ = false; // then the old scheduler's events say the same under other keys
};

} // namespace vramlab::gputrace
