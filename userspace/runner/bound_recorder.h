// SPDX-License-Identifier: MIT
// Turns a run into the question of how little link traffic it needed: the submissions that ran, in the order
// in which they were made, and what they touch.
//
// The same of the time that it needed, with jobs in the order in which they ran. Documentation/bounds.rst
// defines both.
//
// The order is that of this run. Another policy's submissions of several processes may interleave in another
// way, so a bound belongs to the run that it was recorded in.
#pragma once

#include "bounds/instance.h"
#include "bounds/stall_instance.h"
#include "events/event.h"
#include "workload/workload.h"

#include <map>
#include <optional>
#include <set>
#include <unordered_map>
#include <utility>
#include <vector>

namespace vramlab::runner {

class bound_recorder final : public events::event_sink {
public:
    // w must outlive this.
    explicit bound_recorder(const workload::workload &w) : w_(w) {}

    void record(const events::event &e) override;
    bool wants_skipped() const override { return false; }
    // What has been recorded. Submissions whose job never began are left out: nothing was read for them.
    bounds::instance finish() const;

    struct lost_time {
        bounds::stall_instance question;
        s64 stall_ns = 0; // of this run; less than 0 if remote reads were quicker than VRAM
    };
    // nullopt: jobs ran on several engines, which the bound knows nothing of, or with all in VRAM they would
    // take longer than 2^60 ns.
    std::optional<lost_time> finish_stall() const;

    // A tag that names two BOs, one after the other, is more than this can tell apart: don't ask then.
    bool usable() const { return !tag_again_; }

private:
    struct job_times {
        u64 started_event = 0; // its number
        u64 start_ns = 0;
        u64 end_ns = never_ns;
    };
    struct submission {
        u32 vm;
        u64 seqno;
        const std::vector<touch> *touches; // of the workload
        std::vector<u64> must;             // be in VRAM: listed or private BOs that only VRAM can hold
        std::vector<u64> pinned;           // while it was validated
        std::vector<u64> held_pinned;      // and until its job ended
        u32 emptied_before = 0;            // how often the system had evicted all
        u64 compute_ns = 0;
        u64 begun_event = 0; // its number
        u64 begun_ns = 0;
        std::optional<job_times> job; // that has started
    };
    struct bo {
        u64 size_bytes;
        u32 allowed;
        std::size_t born; // submissions recorded before
        u64 created_event = 0;
    };
    struct need {
        u64 vram_bytes = 0;
        u64 link_bytes = 0; // or must_be_in_vram
    };
    // By tag: touches of the same BO add up; what must be in VRAM need not be touched.
    static std::map<u64, need> needs(const submission &s, const std::vector<u64> &pinned);
    std::vector<const submission *> by_start() const; // those whose jobs have ended
    void add_job(const submission &s, u32 step, std::map<u64, std::size_t> &index,
                 bounds::stall_instance &in) const;
    void set_births(const std::vector<const submission *> &jobs, const std::map<u64, std::size_t> &index,
                    bounds::stall_instance &in) const;

    void operation_ended(const events::event &e);
    void job_started(const events::event &e);
    void job_ended(const events::event &e);
    void end_job(submission &s);
    void moved(const events::event &e);
    bool may_be_in_vram(u64 tag) const;
    void submitted(const events::event &e, const request &r);
    void created(const request &r);
    void pinned(const events::event &e);
    void add_vram_only(const request &r, std::vector<u64> &must) const;

    const workload::workload &w_;
    std::unordered_map<u64, bo> bos_;                                      // by tag
    std::map<std::pair<u32, u32>, const std::vector<touch> *> touch_sets_; // by VM and id
    std::map<std::pair<u32, u32>, const std::vector<u64> *> lists_;
    std::map<u32, std::set<u64>> private_vram_only_; // by VM: its submissions need them, listed or not
    std::set<u64> in_vram_;                          // now
    std::set<u64> seen_in_it_;                // ever: a pin may put into VRAM what is not allowed there
    std::map<u64, std::pair<u32, u64>> pins_; // in VRAM, by tag: how often, and the event's number
    // By process: number and time of the event that began its operation.
    std::unordered_map<u32, std::pair<u64, u64>> begun_;
    std::map<std::pair<u32, u64>, std::size_t> by_seqno_; // submission of a VM
    std::map<std::pair<u32, u64>, job_times> early_;      // jobs whose submissions have not returned yet
    std::vector<submission> submissions_;
    u64 events_ = 0;
    u32 emptied_ = 0;
    std::vector<u64> emptied_idle_; // numbers of the events that emptied VRAM with no job under way
    std::size_t jobs_ended_ = 0;
    bool tag_again_ = false;
    bool other_engines_ = false;
};

} // namespace vramlab::runner
