// SPDX-License-Identifier: MIT
#include "backend/kernel_backend_watchdog.h"

#include <chrono>
#include <condition_variable>
#include <csignal>
#include <mutex>
#include <pthread.h>

namespace vramlab::backend {

namespace {

void on_signal(int) {}

} // namespace

watchdog::watchdog(u32 timeout_s) : timeout_s_(timeout_s), watched_(::pthread_self())
{
    struct sigaction action {}; // without SA_RESTART: the call is to fail
    action.sa_handler = on_signal;
    ::sigaction(SIGRTMIN, &action, nullptr);
    thread_ = std::jthread([this](std::stop_token stop) { watch(std::move(stop)); });
}

void watchdog::watch(std::stop_token stop)
{
    std::mutex mutex;
    std::condition_variable_any wake;
    std::unique_lock lock(mutex);
    u64 seen = 0;
    u32 seconds = 0;
    while (!stop.stop_requested()) {
        wake.wait_for(lock, stop, std::chrono::seconds(1), [] { return false; });
        const u64 calls = calls_.load(std::memory_order_relaxed);
        seconds = calls == seen ? seconds + 1 : 0;
        seen = calls;
        if ((calls & 1) && seconds >= timeout_s_ && !stop.stop_requested())
            ::pthread_kill(watched_,
                           SIGRTMIN); // again each second: one that comes just before the call is lost
    }
}

} // namespace vramlab::backend
