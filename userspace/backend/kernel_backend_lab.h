// SPDX-License-Identifier: MIT
// DRM_IOCTL_VTTM_LAB from the controller's side: the clock, lockstep, the event log, the state file. A call
// that does not return within the time limit, which only a bug makes happen, throws std::runtime_error
// instead of hanging.
#pragma once

#include "backend/kernel_backend_port.h"
#include "backend/kernel_backend_watchdog.h"
#include "backend/memory_backend.h"

#include "drm/vttm_drm.h"

#include <functional>
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

// On whose behalf the kernel did something: the process whose request was under way, 0 for the system, and
// the only BO which that request can have needed room for, 0 if it is one of several.
struct event_cause {
    u32 process = 0;
    u64 bo = 0;
};

// Event records of the kernel as events, in the order and with the time in which they were recorded. A job
// belongs to who caused it, whoever's call it starts or ends in. by_system: what else is there was caused by
// no process. cause_of: of what a task (or pid) has under way or did last.
void translate_events(const std::vector<drm_vttm_event> &records, bool by_system,
                      const std::function<event_cause(u32)> &cause_of, events::event_sink &sink);

} // namespace vramlab::backend
