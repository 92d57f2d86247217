// SPDX-License-Identifier: MIT
// Turns a run into the question of how little link traffic it needed: the submissions that ran, in the order
// in which they were made, and what they touch.
//
// The order is that of this run. Another policy's submissions of several processes may interleave in another
// way, so a bound belongs to the run that it was recorded in.
#pragma once

#include "bounds/instance.h"
#include "events/event.h"
#include "workload/workload.h"

#include <map>
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

private:
    struct submission {
        u32 vm;
        u64 seqno;
        const std::vector<touch> *touches; // of the workload
        std::vector<u64>
            must; // be in VRAM: what was pinned, and listed or private BOs that only VRAM can hold
        u32 emptied_before = 0; // how often the system had evicted all
        bool started = false;
    };
    struct bo {
        u64 size_bytes;
        u32 allowed;
        std::size_t born; // submissions recorded before
    };

    void operation_ended(const events::event &e);
    void job_started(std::pair<u32, u64> job); // VM and seqno
    void submitted(const events::event &e, const request &r);
    void created(const request &r);
    void pinned(const events::event &e);
    void add_vram_only(const request &r, std::vector<u64> &must) const;

    const workload::workload &w_;
    std::unordered_map<u64, bo> bos_;                                      // by tag
    std::map<std::pair<u32, u32>, const std::vector<touch> *> touch_sets_; // by VM and id
    std::map<std::pair<u32, u32>, const std::vector<u64> *> lists_;
    std::map<u32, std::set<u64>> private_vram_only_; // by VM: its submissions need them, listed or not
    std::map<u64, std::pair<u32, u64>> pins_;        // by tag: how often, and the event's number
    std::unordered_map<u32, u64> begun_; // by process: the number of the event that began its operation
    std::map<std::pair<u32, u64>, std::size_t> by_seqno_; // submission of a VM
    std::set<std::pair<u32, u64>> started_early_;         // jobs whose submissions have not returned yet
    std::vector<submission> submissions_;
    u64 events_ = 0;
    u32 emptied_ = 0;
};

} // namespace vramlab::runner
