// SPDX-License-Identifier: MIT
// DRM_IOCTL_VTTM_LAB from the controller's side: the clock, lockstep, the event log, the state file. A call
// that does not return within the time limit, which only a bug makes happen, throws std::runtime_error
// instead of hanging.
#pragma once

#include "backend/kernel_backend_port.h"
#include "backend/kernel_backend_watchdog.h"
#include "backend/memory_backend.h"

#include "drm/vttm_drm.h"

#include <string>
#include <vector>

namespace vramlab::backend {

class vttm_lab {
public:
    // Borrows both.
    vttm_lab(vttm_port &port, watchdog &dog);
    ~vttm_lab();
    vttm_lab(const vttm_lab &) = delete;
    vttm_lab &operator=(const vttm_lab &) = delete;

    // 0 or a negative error number.
    int reset(const device_config &d, bool virtual_clock);
    int advance(u64 to_ns) { return call(DRM_VTTM_LAB_ADVANCE, to_ns); }
    int evict_all() { return call(DRM_VTTM_LAB_EVICT_ALL, 0); }
    int swapout() { return call(DRM_VTTM_LAB_SWAPOUT, 0); }
    int settle() { return call(DRM_VTTM_LAB_SETTLE, 0); }
    // Lockstep; throw on errors.
    void begin(u32 task);
    task_state step(u32 task) { return wait_for(DRM_VTTM_LAB_STEP, task); }
    task_state state(u32 task) { return wait_for(DRM_VTTM_LAB_STATE, task); }

    drm_vttm_get_info info();
    u64 next_ns(); // of the device; never_ns if nothing comes

    // The text of the state file, appended.
    void read_state(std::string &text);
    // Takes all records out of the log. Throws if the log overflowed since the reset.
    void read_events(std::vector<drm_vttm_event> &records);

private:
    int call(u32 op, u64 value, u64 ptr = 0);
    task_state wait_for(u32 op, u32 task);

    vttm_port &port_;
    watchdog &watchdog_;
    int file_ = -1;
    int state_fd_ = -1;
    drm_vttm_lab last_{};
    std::vector<char> buffer_;
};

// Event records of the kernel as events. The end of a job is reported when the clock has reached it.
class event_translator {
public:
    void reset() { running_.clear(); }
    void translate(const std::vector<drm_vttm_event> &records, u64 now_ns, events::event_sink &sink);

private:
    std::vector<events::event> running_; // ends to come, by time
};

} // namespace vramlab::backend
