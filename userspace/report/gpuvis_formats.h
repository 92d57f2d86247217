// SPDX-License-Identifier: MIT
// The formats of what gpuvis draws, with the fields and print formats of amdgpu, dma_fence, drm and ftrace of
// Linux as far as tools read them, and three of our own.
#pragma once

#include "trace/record.h"

#include <vector>

namespace vramlab::report {

struct gpuvis_formats {
    trace::event_format print;          // ip, buf
    trace::event_format cs_ioctl;       // timeline, context, seqno, ring, num_ibs
    trace::event_format run_job;        // likewise
    trace::event_format fence_signaled; // driver, timeline, context, seqno
    trace::event_format vblank;         // crtc, seq, time, high_prec
    trace::event_format bo_move;        // bo, bytes, evict, from, to, owner, reason
    trace::event_format vram;           // mib, bos
    trace::event_format frame_done;     // process, number, time_us, link_kib, name

    static const gpuvis_formats &get();
    std::vector<const trace::event_format *> all() const
    {
        return {&print, &cs_ioctl, &run_job, &fence_signaled, &vblank, &bo_move, &vram, &frame_done};
    }
};

} // namespace vramlab::report
