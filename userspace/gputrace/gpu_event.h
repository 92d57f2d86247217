// SPDX-License-Identifier: MIT
// What a record of a GPU driver's trace means, whichever kernel and driver wrote it: amdgpu of any age,
// drm_sched before and since 6.17, TTM and vttm of the patched kernel, and our own traces; binary or text.
#pragma once

#include "trace/record.h"

#include <string>
#include <string_view>
#include <vector>

namespace vramlab::gputrace {

enum class gpu_kind : u8 {
    none,      // says nothing about jobs, memory or frames
    queue,     // a job was submitted
    run,       // it was given to its engine
    done,      // a fence signaled, perhaps that of a job
    bo_create, // bo, bytes, preferred, allowed
    bo_move,   // bo, bytes, from, to, evict
    bo_list,   // list, bo, bytes: the BO is in that list
    bo_total,  // number, bytes: BOs of the next submission
    frame,     // number, frame_ns, process_name: a frame ends here
    vblank,    // number, crtc
};

// Who wrote the record. Of one job several may tell.
enum class dialect : u8 {
    other,
    amdgpu,        // amdgpu_cs_ioctl, amdgpu_sched_run_job
    drm_sched,     // drm_sched_job_queue, _run, _done: 6.17 and later
    drm_sched_old, // drm_sched_job, drm_run_job, drm_sched_process_job
    fence,         // dma_fence_signaled, fence_signaled
};

// Strings are the record's.
struct gpu_event {
    gpu_kind kind = gpu_kind::none;
    dialect by = dialect::other;
    bool evict = false;
    bool kernel = false;     // a job of the driver's own, whoever was running
    std::string_view device; // empty: not said
    std::string_view engine; // ring or timeline, likewise
    u64 context = 0;         // of the job's fence; 32 bits, as dma_fence_signaled has them
    u64 seqno = 0;           // drm_sched_old: context is the fence's address, seqno is 0
    u64 bo = 0;              // address or tag
    u64 list = 0;
    u64 bytes = 0;
    u32 from = 0; // domains as in base/request.h; 0: none, or one that is not known
    u32 to = 0;
    u32 preferred = 0;
    u32 allowed = 0;
    u64 number = 0;
    u64 frame_ns = 0;
    u32 crtc = 0;
};

class gpu_decoder {
public:
    gpu_event decode(const trace::record &r);
    // Jobs that say neither context nor fence (amdgpu before 4.11), which nothing can match.
    u64 without_key() const { return without_key_; }
    // Records of a known name without the fields that are needed.
    u64 incomplete() const { return incomplete_; }

private:
    using handler = bool (*)(const trace::record &, gpu_event &);
    struct known {
        const trace::event_format *format = nullptr;
        handler handle = nullptr;
    };

    std::vector<known> by_id_;
    u64 without_key_ = 0;
    u64 incomplete_ = 0;
    u8 move_rank_ = 0; // who tells of moves: TTM, its driver, vramlab; who is lower says the same again
};

} // namespace vramlab::gputrace
