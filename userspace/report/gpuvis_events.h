// SPDX-License-Identifier: MIT
// A run as a trace that gpuvis draws: beside each event as it is (event_records.h), what gpuvis knows from
// amdgpu. Documentation/traces.rst describes it.
//
// Jobs: amdgpu_cs_ioctl, amdgpu_sched_run_job, dma_fence_signaled with timeline (gfx, sdma0), context and
// seqno. A job is queued by its submission, runs from its start on the engine, and is done at its end.
// Frames: ftrace's print. Vblanks: drm_vblank_event. Moves, VRAM's use and frames: vramlab_bo_move,
// vramlab_vram, vramlab_frame_done, which the shipped gpuvis.ini plots.
#pragma once

#include "base/request.h"
#include "report/bo_tracker.h"
#include "report/event_records.h"
#include "trace/dat_writer.h"

#include <deque>
#include <map>
#include <string>
#include <vector>

namespace vramlab::report {

struct gpuvis_options {
    std::vector<process_config> processes;
    // Periods of displays: each is a crtc, and has a vblank at every multiple.
    std::vector<u64> vblank_periods_ns;
    std::string kernel = "vramlab model"; // what uname said
    // With evict_skipped events: of 16 million events of two seconds under pressure they are all but 100,000.
    bool skipped = true;
};

class gpuvis_events final : public events::event_sink {
public:
    // Writes to `out` (see dat_writer), which must outlive it. Throws std::runtime_error as the writer does,
    // also from record().
    gpuvis_events(std::FILE *out, gpuvis_options options);

    void record(const events::event &e) override;
    bool wants_skipped() const override { return options_.skipped; }
    // Once, after the last event.
    void finish();

    u64 events() const { return writer_.events(); } // of the trace, not of the run

private:
    struct job_key {
        u64 context;
        u64 seqno;
    };
    // Copies of a BO: the move that caused one is told before or after it starts.
    struct copies {
        std::deque<u64> queued; // sequence numbers
        u32 started_early = 0;
    };

    void job_event(const trace::event_format &f, u64 time_ns, u32 process, u64 engine, job_key key);
    void queue_gfx(const events::event &e, u64 seqno);
    u64 queue_copy(u64 time_ns, u32 process);
    void job_start(const events::event &e);
    void job_end(const events::event &e);
    void move(const events::event &e);
    void frame(const events::event &e);
    void vblanks_until(u64 time_ns);
    void vram_used(u64 time_ns);
    void reaped(const events::event &e);
    void leave_vram(u64 bo);
    void print(u64 time_ns, u32 process, const std::string &text);
    const std::string &name_of(u32 process) const;
    u32 owner_of(u64 bo, u32 vm);

    gpuvis_options options_;
    trace::dat_writer writer_;
    trace::record_builder builder_;
    bo_tracker bos_;
    std::map<u32, std::string> names_;
    std::map<u32, u64> queued_;       // last sequence number, by VM
    std::map<u64, copies> copies_of_; // by BO
    std::deque<u64> running_copies_;
    std::map<u64, u64> placed_;     // bytes in VRAM, by BO
    std::map<u64, u32> ghosts_;     // in VRAM, by BO
    std::map<u32, u64> link_bytes_; // since the begin of the frame, by process
    std::vector<u64> next_vblank_;  // number, by crtc
    u64 copies_ = 0;
    u64 last_ns_ = 0;
    u64 vram_bytes_ = 0;
};

} // namespace vramlab::report
