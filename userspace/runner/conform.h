// SPDX-License-Identifier: MIT
// Conformance: the same workload on two backends, the model and the kernel, takes the same decisions. After
// every operation both sides' results and the whole state as text (Documentation/semantics.rst, "State") must
// be equal.
#pragma once

#include "backend/memory_backend.h"
#include "runner/executor.h"
#include "workload/workload.h"

#include <map>
#include <optional>
#include <string>

namespace vramlab::runner {

struct conform_options {
    // The state is compared after each so many operations, results after each one; 0: after each one up to
    // 40,000 BOs, then more rarely. A difference that shows up late is then looked for operation by
    // operation.
    u32 state_every = 0;
    u64 max_steps = 1'000'000; // of one operation
    // Called now and then: operations compared so far.
    std::function<void(u64 operations)> progress;
};

enum class difference_kind : u8 {
    result,  // what came of an operation
    state,   // where things are
    failure, // an invariant (deadlock, livelock) on one side or on both
    broken,  // a side threw: a bug of the model, a hang or an oops of the kernel
};

struct difference {
    difference_kind kind{};
    u32 index = 0;    // of the operation in the workload
    std::string text; // in words, several lines
};

struct comparison {
    u64 operations = 0;        // compared
    u64 deadlk = 0;            // -EDEADLK taken by the model's tasks
    std::map<int, u64> errors; // results of the model by error number
    std::optional<difference> diff;
};

// Both are reset. What either throws is a difference, except workload_error, which leaves.
comparison compare(const workload::workload &w, backend::memory_backend &model,
                   backend::memory_backend &kernel, const conform_options &options = {});

} // namespace vramlab::runner
