// SPDX-License-Identifier: MIT
// What both orders share: single operations, the tasks under way, and the bookkeeping that operations need
// (what each process shows, last sequence numbers, frames). Internal to runner/.
#pragma once

#include "runner/executor.h"

#include <map>
#include <utility>

namespace vramlab::runner {

class operation_runner {
public:
    operation_runner(const workload::workload &w, backend::memory_backend &b, const executor_options &o,
                     run_result &out);

    // Runs operation i, which must be atomic (a request, flip, frame, a system operation), to its end.
    void run_atomic(u32 i);

    // Tasks (order file). Tasks under way are ordered by process.
    void begin(u32 i);
    void step(u32 process);
    void finish(u32 process);
    void run_all(u64 seed);
    void finish_all(); // lowest process first
    bool any_under_way() const { return !tasks_.empty(); }

    // Waits (both orders). last_seqno() of a VM is that of its last successful submission, 0 for none.
    u64 last_seqno(u32 vm) const;
    // Brackets of an operation, for the runner of an order that lets others go on meanwhile.
    void operation_begins(u32 i);
    void operation_ends(u32 i, const result &r);

    // Calls the hook; false if the run is to stop.
    bool report(u32 i);

    // A failed invariant ends the run.
    void fail(const char *invariant, u32 i, const std::string &message);
    bool failed() const { return !out_.failures.empty(); }

    backend::memory_backend &backend() { return b_; }
    u32 line_of(u32 i) const { return w_.operations[i].line; }

private:
    result run_request(u32 i, const request &r);
    result run_beside_tasks(u32 i, const request &r);
    result flip(u32 i, const workload::operation &op);
    result wait_back(u32 i, const workload::operation &op);
    void frame(const workload::operation &op);
    void after_request(const request &r, const result &res);
    void require_no_tasks(u32 i) const;
    void check_process(u32 i, u32 process) const;
    void collect_ended();
    bool spend_step(u32 i);
    void emit(const events::event &e);

    const workload::workload &w_;
    backend::memory_backend &b_;
    const executor_options &o_;
    run_result &out_;

    std::map<u32, u32> tasks_; // process -> index of its begin operation
    std::vector<u32> completed_;
    u64 steps_ = 0; // of the operation under way
    u64 operations_done_ = 0;

    struct frame_state {
        u64 number = 0; // of the frame under way, from 1
        u64 begin_ns = 0;
        u64 submit_ns = 0;
    };
    std::map<u32, frame_state> frames_;        // by process
    std::map<std::pair<u32, u32>, u64> shown_; // (process, vm) -> bo
    std::map<u32, u64> last_seqno_;            // by vm
};

// The two orders. Both return when the workload is over, an invariant failed, or the hook stopped the run.
void run_file_order(const workload::workload &w, operation_runner &r, run_result &out);
void run_time_order(const workload::workload &w, operation_runner &r, const executor_options &o);

} // namespace vramlab::runner
