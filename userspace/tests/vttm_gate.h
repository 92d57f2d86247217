// SPDX-License-Identifier: MIT
// A fence that is signaled when a test says so, and not when some time has passed: for jobs that must not be
// over yet, however slow the machine is. It is one of the kernel's sw_sync.
#pragma once

#include "tests/vttm_device.h"

#include <gtest/gtest.h>

namespace vramlab::tests {

class vttm_gate {
public:
    vttm_gate() : timeline_(::open("/sys/kernel/debug/sync/sw_sync", O_RDWR | O_CLOEXEC))
    {
        struct {
            u32 value;
            char name[32];
            s32 fence;
        } create{1, "gate", -1};
        EXPECT_EQ(ioctl(timeline_, _IOWR('W', 0, decltype(create)), &create), 0) << "no sw_sync";
        fence_ = create.fence;
    }
    // Closing the timeline would signal as well, but stock sw_sync deadlocks on a fence whose last user lets
    // go of it.
    ~vttm_gate()
    {
        open();
        close(fence_);
        close(timeline_);
    }
    vttm_gate(const vttm_gate &) = delete;
    vttm_gate &operator=(const vttm_gate &) = delete;

    void open()
    {
        u32 steps = 1;
        if (!is_open_) {
            EXPECT_EQ(ioctl(timeline_, _IOW('W', 1, u32), &steps), 0);
        }
        is_open_ = true;
    }
    // What a job of the file has to wait for to wait for the gate.
    drm_vttm_sync wait(const vttm_file &file) const
    {
        u32 sync = 0;
        EXPECT_EQ(drmSyncobjCreate(file.fd(), 0, &sync), 0);
        EXPECT_EQ(drmSyncobjImportSyncFile(file.fd(), sync, fence_), 0);
        return {sync, 0, 0};
    }

private:
    int timeline_;
    int fence_ = -1;
    bool is_open_ = false;
};

} // namespace vramlab::tests
