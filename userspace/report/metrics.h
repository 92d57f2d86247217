// SPDX-License-Identifier: MIT
// What a run cost, from its events alone and as they come: nothing is kept that grows with the number of
// events but one number a frame and a submission (for exact percentiles). Documentation/metrics.rst defines
// every metric.
#pragma once

#include "base/request.h"
#include "report/bo_tracker.h"
#include "report/ping_pong.h"

#include <array>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace vramlab::report {

// Link traffic of a process: moves of its BOs, remote reads of its jobs. Bytes.
struct link_traffic {
    u64 moved_in_bytes = 0;  // into VRAM
    u64 moved_out_bytes = 0; // out of VRAM
    u64 remote_bytes = 0;    // read by jobs where BOs are, outside of VRAM

    u64 read_bytes() const { return moved_in_bytes + remote_bytes; }
    link_traffic &operator+=(const link_traffic &o);
    friend link_traffic operator-(const link_traffic &a, const link_traffic &b);
};

// Within how long a BO that left VRAM is said to have gone for nothing.
inline constexpr std::array<u64, 3> reversal_limits_ns{ns_per_s / 10, ns_per_s, 10 * ns_per_s};

// What is counted for a process, and summed up for all.
struct counters {
    std::vector<u64> frame_ns;             // of each frame
    std::vector<u64> submit_ns;            // of each submission that ended, failed ones included
    std::map<int, u64> failed_submissions; // by error (positive)
    std::map<int, u64> failed_operations;  // all others
    u64 failed_flips = 0;
    u64 failed_creates = 0;
    link_traffic link;            // whole run
    link_traffic frames_link;     // from the begin of the first frame to the end of the last
    u64 frame_link_max_bytes = 0; // reads of one frame
    u64 evictions = 0;            // of its BOs, from VRAM
    u64 evicted_bytes = 0;
    u64 evictions_caused = 0;      // by its operations
    u64 evictions_for_scanout = 0; // of its BOs
    std::array<u64, 3> reversals{};
    u64 deadlks = 0;
    u64 retries = 0;
    u64 fence_wait_ns = 0;
    u64 gfx_busy_ns = 0;
    u64 copy_busy_ns = 0; // total only: the copy engine is the kernel's

    // At the end of the run.
    u64 vram_bytes = 0;
    u64 outside_bytes = 0;      // in GTT or SYSTEM
    u64 preferred_bytes = 0;    // of BOs that were created for VRAM
    u64 preferred_in_bytes = 0; // of these in VRAM
    u64 high_bytes = 0;         // likewise of those above default priority
    u64 high_in_bytes = 0;

    u64 submissions() const { return submit_ns.size(); }
    u64 failed_submissions_total() const;
    u64 failed_operations_total() const;
    void add(const counters &o);
};

class metrics final : public events::event_sink {
public:
    explicit metrics(std::vector<process_config> processes);

    void record(const events::event &e) override;
    bool wants_skipped() const override { return false; }
    // Once, after the last event.
    void finish(u64 end_ns);

    const std::vector<process_config> &processes() const { return processes_; }
    // Process 0 is all of them together, the system's own doings included.
    const counters &of(u32 process) const { return process ? by_process_[process] : total_; }
    u64 end_ns() const { return end_ns_; }
    u64 last_event_ns() const { return last_event_ns_; }
    const class ping_pong &ping_pong() const { return ping_pong_; }

    // By the names of Documentation/metrics.rst. nullopt: no such metric or process. Metrics that are a
    // quotient are 0 where there is nothing to divide by.
    std::optional<double> value(std::string_view metric, std::string_view process = {}) const;

private:
    counters &counters_of(u32 process);
    u32 owner_of(const events::event &e);
    void end_operation(const events::event &e);
    void move(const events::event &e);
    void frame(const events::event &e);
    void job_start(const events::event &e);
    void job_end(u64 engine, u64 end_ns);

    struct running_job {
        u64 start_ns;
        u32 process;
    };

    std::vector<process_config> processes_;
    std::vector<counters> by_process_;      // by number; 0: the system, and what belongs to no process
    std::vector<link_traffic> frame_begin_; // a process's traffic when its frame began
    counters total_;
    bo_tracker bos_;
    class ping_pong ping_pong_;
    std::array<std::deque<running_job>, 2> running_; // by engine
    u64 end_ns_ = 0;
    u64 last_event_ns_ = 0;
};

// Nearest rank: the smallest value that at least `percent` of all do not exceed; 0 of none.
u64 percentile(std::vector<u64> values, u32 percent);

enum class unit : u8 { count, bytes, ms, share, bytes_per_frame };

struct metric_descriptor {
    const char *name;
    unit u;
    bool total_only;
    double (*get)(const metrics &m, const counters &c);
};
// All of them in the order in which they are printed, but for failed_submissions_<errno> and
// failed_operations_<errno>.
const std::vector<metric_descriptor> &metric_table();

// Value with unit, as tables show it.
std::string format_metric(unit u, double value);

} // namespace vramlab::report
