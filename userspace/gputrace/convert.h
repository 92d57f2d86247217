// SPDX-License-Identifier: MIT
// A trace of any kernel, as gpuvis draws it: all records as they are, and beside those of the scheduler
// of 6.17 and later (drm_sched_job_queue, _run, _done) amdgpu_cs_ioctl, amdgpu_sched_run_job and
// dma_fence_signaled, with the same task, CPU and time. Where a driver told the same itself, nothing is
// added. Engines that gpuvis would not draw get a name that it draws (gpuvis_timelines.h).
#pragma once

#include "gputrace/gpuvis_timelines.h"
#include "gputrace/job_tracker.h"
#include "gputrace/record_sink.h"
#include "trace/reader.h"

namespace vramlab::gputrace {

// What gpuvis draws of a trace as it is, by engine and step.
class dialect_probe {
public:
    // Reads the whole trace.
    explicit dialect_probe(trace::trace_reader &in);
    bool told(u32 engine, gpu_kind kind) const;
    const std::vector<engine> &engines() const { return engines_; }
    const gpuvis_timelines &timelines() const { return timelines_; }

private:
    void note(u32 engine, const gpu_event &e);
    std::vector<engine> engines_;
    gpuvis_timelines timelines_;
    std::vector<u8> told_;              // by engine: bit of its kind
    std::vector<std::string> drawn_;    // by engine: the timeline that its driver says
    std::vector<std::string> signaled_; // by engine: the timeline of its fences
};

struct conversion {
    u64 events = 0; // read
    u64 added = 0;
    u64 dropped = 0;   // that the form can't hold
    u64 lost_gaps = 0; // places where the tracer lost events
    u64 lost = 0;      // events that it says it lost there, where it knows
    u64 without_key = 0;
    u64 incomplete = 0;
    job_counts jobs;
};

// `in` anew, to `out`; probe: of the same trace, or nullptr to add nothing.
conversion convert(trace::trace_reader &in, const dialect_probe *probe, record_sink &out);

} // namespace vramlab::gputrace
