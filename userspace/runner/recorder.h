// SPDX-License-Identifier: MIT
// A backend that passes everything on to another and writes down what was asked and what came of it, so that
// the same can be asked of something that knows nothing of workloads.
#pragma once

#include "backend/memory_backend.h"

#include <vector>

namespace vramlab::runner {

enum class call_kind : u8 {
    execute, // req; error
    begin,   // req; state
    step,    // process; state
    ended,   // process: the task's request is over; error
    advance, // at_ns
    evict_all,
    swapout,
    set_limits, // cgroup; error
};

struct recorded_call {
    call_kind kind{};
    u32 process = 0;
    request req;
    u64 at_ns = 0;
    cgroup_config cgroup;
    int error = 0;
    backend::task_state state{};
};

class recorder final : public backend::memory_backend {
public:
    // inner must outlive it.
    explicit recorder(backend::memory_backend &inner) : inner_(inner) {}

    const std::vector<recorded_call> &calls() const { return calls_; }

    void reset(const system_config &s) override;
    result execute(const request &r) override;
    backend::task_state begin(const request &r) override;
    backend::task_state step(u32 process) override;
    backend::task_state state_of(u32 process) override { return inner_.state_of(process); }
    result take_result(u32 process) override;
    u64 now_ns() override { return inner_.now_ns(); }
    u64 next_event_ns() override { return inner_.next_event_ns(); }
    void advance(u64 to_ns) override;
    bool signaled(u32 vm, u64 seqno) override { return inner_.signaled(vm, seqno); }
    int evict_all() override;
    int swapout() override;
    int set_limits(const cgroup_config &c) override;
    backend::usage query_usage() override { return inner_.query_usage(); }
    std::string state() override { return inner_.state(); }
    void set_event_sink(events::event_sink *sink) override { inner_.set_event_sink(sink); }

private:
    recorded_call &add(call_kind kind, u32 process);

    backend::memory_backend &inner_;
    std::vector<recorded_call> calls_;
};

} // namespace vramlab::runner
