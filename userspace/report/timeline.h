// SPDX-License-Identifier: MIT
// What a run looked like over time, small enough to draw: from its events alone, as they come. Whatever is
// thinned out, cut or dropped on the way is counted.
#pragma once

#include "base/request.h"
#include "report/bo_tracker.h"
#include "report/throttle_phases.h"
#include "report/time_bins.h"

#include <array>
#include <deque>
#include <unordered_map>
#include <vector>

namespace vramlab::report {

struct timeline_options {
    std::size_t bins_max = 400;           // of every amount over time
    std::size_t frames_max = 1500;        // of a process
    std::size_t changes_max = 400;        // of a BO's placement
    std::size_t changes_all_max = 200000; // of all BOs together
    u64 strong_ns = 0;                    // the throttle's times under the run's policy
    u64 weak_ns = 0;
};

class timeline final : public events::event_sink {
public:
    enum link_row : u8 { moved_in, moved_out, remote_reads, link_rows };
    enum change_row : u8 {
        evicted_for_scanout, // for a BO that is or is about to be shown, whoever owns it
        evicted_for_others,  // by an operation of another process, reclaim, or evict-all
        evicted_for_own,     // by an operation of the process that owns it
        came_back,           // moved into VRAM
        change_rows
    };

    // Frames in the order in which they ended; where they were thinned out, the longest of each `stride`.
    struct frame {
        u64 end_ns = 0;
        u64 duration_ns = 0;
    };
    struct frame_series {
        std::vector<frame> kept;
        u64 frames = 0;
        u64 stride = 1; // frames that one of `kept` stands for
    };

    // A BO's placement changed.
    struct change {
        u64 at_ns = 0;
        u64 for_bo = 0;  // evicted to make room for this one; 0: evict-all, reclaim, or the run does not say
        u32 process = 0; // in whose operation; 0: the system
        u8 from = 0;     // domains; 0: no memory
        u8 to = 0;       // likewise; 0 also when it is destroyed
        bool eviction = false;
        bool for_scanout = false;
    };
    struct bo_life {
        bo_info info; // when it was destroyed, or at the end
        u64 created_ns = 0;
        u64 destroyed_ns = never_ns;
        u64 evictions = 0;       // from VRAM
        u64 left_out = 0;        // changes beyond the limits
        bool name_again = false; // an earlier BO had the same tag; its life is not kept
        std::vector<change> changes;
    };

    explicit timeline(std::vector<process_config> processes, const timeline_options &o = {});

    void record(const events::event &e) override;
    bool wants_skipped() const override { return false; }
    // Once, after the last event.
    void finish(u64 end_ns);

    const std::vector<process_config> &processes() const { return processes_; }
    u64 end_ns() const { return end_ns_; }
    // By the number of a process.
    const frame_series &frames(u32 process) const { return frames_[process]; }
    // Bytes in VRAM of the BOs of a process (0: of nobody) that have a handle; bytes of all BOs that were
    // created for VRAM.
    const time_levels &vram() const { return vram_; }
    std::size_t demand_row() const { return frames_.size(); }
    // Bytes: spread evenly over the copy or the job that took them across.
    const time_bins &link() const { return link_; }
    const time_bins &changes() const { return changes_; }
    const throttle_phases &phases() const { return phases_; }
    u32 process_of_vm(u32 vm) const { return bos_.process_of_vm(vm); }
    const std::unordered_map<u64, bo_life> &lives() const { return lives_; }

    u64 cut_jobs() const { return cut_jobs_; }             // under way at the end: their traffic is not drawn
    u64 cut_bytes() const { return cut_bytes_; }           // of these
    u64 unknown_copies() const { return unknown_copies_; } // that no move asked for: likewise
    u64 left_out_changes() const { return left_out_changes_; }

private:
    struct running_job {
        u64 begin_ns;
        u64 bo;
        u64 link_bytes;
        bool copy;
    };

    void moved(const events::event &e);
    void frame_ends(const events::event &e);
    void job_ends(const events::event &e);
    void created(const events::event &e);
    void destroyed(u64 bo, u64 at_ns);
    void keep_change(bo_life &life, const change &c);
    void set_vram(u32 process, u64 at_ns, s64 bytes);
    void set_demand(u64 at_ns, s64 bytes);
    u32 row_of(u32 process) const { return process < frames_.size() ? process : 0; }

    timeline_options options_;
    std::vector<process_config> processes_;
    std::vector<frame_series> frames_; // by number of the process
    bo_tracker bos_;
    time_levels vram_;
    time_bins link_;
    time_bins changes_;
    throttle_phases phases_;
    std::array<std::deque<running_job>, 2> running_;      // by engine
    std::unordered_map<u64, std::deque<link_row>> asked_; // by BO: directions of copies that have not ended
    std::unordered_map<u64, u64> evicted_for_;            // by BO under eviction
    std::unordered_map<u64, bo_life> lives_;
    u64 end_ns_ = 0;
    u64 changes_kept_ = 0;
    u64 cut_jobs_ = 0;
    u64 cut_bytes_ = 0;
    u64 unknown_copies_ = 0;
    u64 left_out_changes_ = 0;
};

} // namespace vramlab::report
