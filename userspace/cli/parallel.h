// SPDX-License-Identifier: MIT
// Independent pieces of work on several threads.
#pragma once

#include "base/types.h"

#include <cstddef>
#include <functional>

namespace vramlab::cli {

// Calls work(0) .. work(count - 1), each once, on up to `jobs` threads (0: one a processor), beginning them
// in order. After an exception no further piece is begun, and the one of the lowest index is thrown.
void run_parallel(std::size_t count, u32 jobs, const std::function<void(std::size_t)> &work);

} // namespace vramlab::cli
