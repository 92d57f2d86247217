// SPDX-License-Identifier: MIT
// For each failed submission (and create, flip, pin): how its error came about, from the lock or allocator
// that failed first, through the functions that made another error of it. Equal chains are told once. From
// events only, as they come.
#pragma once

#include "report/bo_tracker.h"
#include "report/narrative.h"

#include <map>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace vramlab::report {

class failure_explainer final : public events::event_sink {
public:
    explicit failure_explainer(std::vector<process_config> processes) : names_(std::move(processes)) {}

    void record(const events::event &e) override;

    struct failure {
        u64 first_ns = 0;
        u64 last_ns = 0;
        u64 count = 0;
        u32 process = 0;
        std::string operation; // "submit"
        std::string chain; // "-EDEADLK → -ENOSPC in ttm_lru_walk_ticketlock → -ENOMEM in ttm_bo_validate"
        std::string example; // of the first: which BO wanted what, who stood in the way
    };
    // Grouped by process, operation and chain, in the order of the first of each.
    const std::vector<failure> &failures() const { return failures_; }
    std::string render(const painter &p) const;

private:
    struct conversion {
        int from = 0, to = 0; // positive
        const char *where = nullptr;
        u64 bo = 0;
    };
    // What an operation under way has met.
    struct attempt {
        std::vector<conversion> conversions; // the last few
        u64 deadlk_bo = 0;
        u32 deadlk_vm = 0;
        u32 deadlk_holder = 0;
        bool deadlk = false;
        u64 wanted_bo = 0; // last allocation that failed
        u64 wanted_bytes = 0;
        u64 wanted_domain = 0;
        bool charge = false; // it was the cgroup's charge
        u64 evicted = 0;     // for wanted_bo
        std::unordered_map<u64, std::string_view>
            skipped; // BO -> last reason; several passes look at the same ones
    };

    void operation_ends(const events::event &e);
    std::string chain_of(const attempt &a, int error) const;
    std::string example_of(const attempt &a);

    process_names names_;
    bo_tracker bos_;
    std::map<u32, attempt> attempts_; // by process
    std::vector<failure> failures_;
    std::map<std::string, std::size_t> index_; // key -> failures_
};

} // namespace vramlab::report
