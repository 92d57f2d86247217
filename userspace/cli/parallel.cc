// SPDX-License-Identifier: MIT
#include "cli/parallel.h"

#include <algorithm>
#include <atomic>
#include <exception>
#include <thread>
#include <vector>

namespace vramlab::cli {

void run_parallel(std::size_t count, u32 jobs, const std::function<void(std::size_t)> &work)
{
    const std::size_t wanted = jobs ? jobs : std::max(1u, std::thread::hardware_concurrency());
    std::atomic<std::size_t> next = 0;
    std::atomic<bool> failed = false;
    std::vector<std::exception_ptr> errors(count);
    const auto worker = [&] {
        for (std::size_t i = next++; i < count && !failed; i = next++) {
            try {
                work(i);
            } catch (...) {
                errors[i] = std::current_exception();
                failed = true;
            }
        }
    };
    {
        std::vector<std::jthread> threads;
        for (std::size_t i = 1; i < std::min(wanted, count); i++)
            threads.emplace_back(worker);
        worker();
    }
    for (const std::exception_ptr &e : errors)
        if (e)
            std::rethrow_exception(e);
}

} // namespace vramlab::cli
