// SPDX-License-Identifier: MIT
// Interrupts a system call of the thread that made it when it does not return within a time limit (real
// time). Costs the watched thread two stores a call: arming a timer around each ioctl would cost as much as
// the ioctl.
#pragma once

#include "base/types.h"

#include <atomic>
#include <thread>

namespace vramlab::backend {

class watchdog {
public:
    explicit watchdog(u32 timeout_s); // watches the calling thread
    watchdog(const watchdog &) = delete;
    watchdog &operator=(const watchdog &) = delete;

    // Around a call that may hang; it then fails with EINTR.
    class scope {
    public:
        explicit scope(watchdog &w) : w_(w) { w_.calls_.fetch_add(1, std::memory_order_relaxed); }
        ~scope() { w_.calls_.fetch_add(1, std::memory_order_relaxed); }
        scope(const scope &) = delete;
        scope &operator=(const scope &) = delete;

    private:
        watchdog &w_;
    };

    u32 timeout_s() const { return timeout_s_; }

private:
    void watch(std::stop_token stop);

    u32 timeout_s_;
    pthread_t watched_;
    std::atomic<u64> calls_{0}; // odd: in a call
    std::jthread thread_;       // last: ends before the rest goes
};

} // namespace vramlab::backend
