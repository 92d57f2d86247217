// SPDX-License-Identifier: MIT
// A trace as a workload (Documentation/workload-format.rst) that vramlab runs: each process's jobs at the
// times at which it submitted them and as long as they took, its frames, and the BOs that the trace knows.
// What a trace does not say is assumed, and counted.
#pragma once

#include "gputrace/frames.h"
#include "workload/stream_writer.h"

#include <map>
#include <string>
#include <unordered_map>
#include <vector>

namespace vramlab::gputrace {

struct import_options {
    u64 vram_bytes = 0;                // 0: all that is known or assumed fits
    u64 working_set_bytes = 256 * MiB; // of a process of whose BOs the trace says nothing
    std::string name = "trace";        // of the workload
};

struct import_summary {
    u64 events = 0;
    u64 processes = 0;
    u64 frames = 0;
    u64 jobs = 0;
    std::map<std::string, u64> jobs_by_engine;
    u64 bos_created = 0; // that the trace saw
    u64 bos_listed = 0;  // others that stood in a list
    u64 bos_moved = 0;   // others that moved
    u64 lists = 0;
    u64 moves = 0;
    u64 in_bytes = 0;
    u64 out_bytes = 0;
    u64 without_bos = 0;     // processes that a working set was assumed for
    u64 completed = 0;       // processes whose lists were larger than what is known of them
    u64 assumed_bytes = 0;   // for both
    u64 kernel_jobs = 0;     // left out
    u64 unfinished_jobs = 0; // left out
    u64 too_many = 0;        // events left out because of items_max
    u64 shared_bos = 0;
    u64 vram_bytes = 0;
    u64 needed_bytes = 0; // all that is known or assumed
    std::string frames_by;
};

class importer {
public:
    static constexpr std::size_t items_max = 8'000'000; // jobs, frames, BOs
    static constexpr std::size_t list_entries_max = 16'000'000;

    explicit importer(import_options options) : options_(std::move(options)) {}

    // Once. The probe is of the same trace.
    void read(trace::trace_reader &in, const frame_probe &probe);
    // After it. Throws std::runtime_error if there is no job to replay.
    workload::workload header();
    void operations(const std::function<void(const workload::operation &)> &put) const;
    const import_summary &summary() const { return summary_; }
    // What was recovered, and what was assumed.
    std::string print_summary() const;

private:
    enum class item_kind : u8 { frame, job, create, destroy, list };
    struct item {
        u64 time_ns;     // since the first event
        u64 duration_ns; // of a job; never_ns: not known
        u32 what;        // BO or list
        u32 process : 29;
        u32 kind : 3;
    };
    struct bo {
        u64 bytes = 0;
        u32 process = 0;
        u32 preferred = 0;
        u32 allowed = 0;
        bool created = false; // within the trace: not at its begin
        bool placed =
            false; // its first placement was seen, its creation, which drivers tell after it, not yet
        bool listed = false;
        bool shared = false;
        bool replaced = false; // another has its address
    };
    struct process {
        s32 pid = 0;
        std::string name;
        std::vector<u32> listing; // of its next submission
        std::vector<u32> last_list;
        std::vector<u32> shared_in; // BOs of others that it lists
        u64 interval = 0;
        u64 known_bytes = 0; // that prefer VRAM, now and at most
        u64 peak_bytes = 0;
        u64 total_bytes = 0; // as the driver says of its lists
        u64 assumed_bytes = 0;
        u64 jobs = 0;
        bool tells = false; // of its BOs
    };
    class writer;

    void job_event(const gpu_event &e, const trace::record &r, u32 p, const frame_probe &probe);
    static void set_domains(bo &b, const gpu_event &e);
    void create(const gpu_event &e, u32 p, u64 time_ns);
    u32 seen_bo(const gpu_event &e, u32 p, u64 &count);
    void moved(const gpu_event &e, u32 p, u64 time_ns);
    void list_entry(const gpu_event &e, u32 p);
    void account(const bo &b, bool more);
    bool add(item_kind kind, u64 time_ns, u32 p, u32 what, u64 duration_ns = 0);
    u32 process_of(s32 pid, const trace::trace_info &info);
    void assume();

    import_options options_;
    import_summary summary_;
    gpu_decoder decoder_;
    job_tracker tracker_;
    std::vector<item> items_;
    std::vector<process> processes_;
    std::vector<bo> bos_;
    std::vector<std::vector<u32>> lists_;
    std::size_t list_entries_ = 0;
    std::map<s32, u32> by_pid_;
    std::unordered_map<u64, u32> by_address_;
    std::unordered_map<u64, std::size_t> job_items_; // by serial: not done yet
    u64 first_ns_ = 0;
    u64 vblanks_ = 0;
};

} // namespace vramlab::gputrace
