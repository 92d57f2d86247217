// SPDX-License-Identifier: MIT
// memory_backend on the real TTM: drives the vttm driver of the running kernel (Linux with vttm loaded, as
// root, cgroup v2 and debugfs mounted; scripts/vm makes such a guest). The calling process is the controller;
// each process of a workload is an agent, a process of its own in its cgroup, so that charges, tickets and
// sleeping are the kernel's.
//
// Throws std::runtime_error if the device, a cgroup or an agent is not to be had, dies, or does not answer in
// time.
#pragma once

#include "backend/kernel_backend_agents.h"
#include "backend/kernel_backend_cgroup.h"
#include "backend/kernel_backend_lab.h"
#include "backend/memory_backend.h"
#include "base/mechanism_times.h"
#include "base/mechanisms.h"

#include <map>
#include <string>
#include <vector>

namespace vramlab::backend {

struct kernel_options {
    // Tasks that begin() started run in parallel and unsynchronised on the real clock, from the first step()
    // on: for measuring contention, never for comparison. step() then runs the task to its end.
    bool free_running = false;
    u32 timeout_s = 60; // real time that one operation may take
    vramlab::mechanisms mechanisms;
    mechanism_times times;
};

class kernel_backend final : public memory_backend {
public:
    explicit kernel_backend(const kernel_options &options = {});
    ~kernel_backend() override;

    void reset(const system_config &s) override;
    result execute(const request &r) override;
    task_state begin(const request &r) override;
    task_state step(u32 process) override;
    task_state state_of(u32 process) override;
    result take_result(u32 process) override;
    u64 now_ns() override;
    u64 next_event_ns() override;
    void advance(u64 to_ns) override;
    bool signaled(u32 vm, u64 seqno) override;
    int evict_all() override;
    int swapout() override;
    int set_limits(const cgroup_config &c) override;
    usage query_usage() override;
    std::string state() override;
    void set_event_sink(events::event_sink *sink) override;

private:
    struct agent {
        agent_process process;
        std::string cgroup; // where it is
        bool used = false;
    };
    struct process {
        u32 number = 0;
        std::size_t agent = 0;
        task_state state = task_state::idle;
        bool queued = false; // free running: begun, not sent yet
        bool ended = false;  // `ended_with` was not taken yet
        request what;        // while queued
        event_cause cause;   // of what its last request did
        result ended_with;
    };

    process &find(u32 number);
    agent_process &agent_of(const process &p) { return agents_[p.agent].process; }
    std::size_t choose_agent(const std::string &cgroup);
    void end_tasks();
    void reset_device(const device_config &d);
    result share(const request &r);
    void collect(process &p);
    void release_queued();
    void after_call(bool clock_may_move, bool by_system = false);
    event_cause cause_of(u32 task) const;

    kernel_options options_;
    vttm_port port_;
    watchdog watchdog_;
    vttm_lab lab_;
    dmem_cgroups cgroups_;
    std::vector<agent> agents_;
    std::vector<process> processes_; // in the order of the workload
    std::map<u32, u32> owners_;      // VM label -> process
    std::vector<cgroup_config> groups_;
    bool now_valid_ = false;
    u64 now_ns_ = 0;
    events::event_sink *sink_ = nullptr;
    std::vector<drm_vttm_event> records_;
};

} // namespace vramlab::backend
