// SPDX-License-Identifier: MIT
// memory_backend on the model: driver/ on kmd/ and gpu/. Deterministic: equal requests give equal results,
// states and events.
//
// What a process does in user space (numbers of lists and touch sets, tags instead of handles) is done here,
// as the agent of kernel_backend does it; errors for names that do not exist are the same. A request that
// finds the model in a state that the kernel could not be in ends in std::logic_error; the backend is of no
// use after that but for reset().
#pragma once

#include "backend/memory_backend.h"
#include "driver/cs.h"
#include "driver/device.h"
#include "kmd/task.h"

#include <deque>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace vramlab::backend {

class sim_backend final : public memory_backend {
public:
    // p: nullptr is mainline.
    explicit sim_backend(std::unique_ptr<driver::policy> p = nullptr);
    ~sim_backend() override;

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
    void set_event_sink(events::event_sink *sink) override { sink_ = sink; }

    // For tests and measurements.
    const driver::vttm_device &device() const { return *device_; }

private:
    // Elements by tag, and resolved for the state of the handle table that `generation` names.
    struct bo_list {
        std::vector<u64> tags;
        std::vector<driver::vttm_bo *> bos;
        int error = 0; // of the first element that a submission may not list
        u64 generation = 0;
    };
    struct touch_list {
        std::vector<touch> touches;
        std::vector<driver::vttm_touch> resolved;
        int error = 0;
        u64 generation = 0;
        const bo_list *checked_with = nullptr;
    };
    struct user_vm {
        driver::vttm_vm *vm = nullptr;
        u64 defined = 1;                   // changes with every definition of a list
        std::deque<bo_list> lists;         // by id - 1; elements stay where they are
        std::deque<touch_list> touch_sets; // likewise
    };
    struct process {
        u32 number = 0;
        std::unique_ptr<kmd::task> task;
        bool ended = false; // ended_with was not taken yet
        result ended_with;
    };
    class caller; // sets up the thread for the model

    process &find(u32 number);
    void end_tasks();
    user_vm *find_vm(u32 label, u32 process_number);
    result run(const request &r);
    int vm_open(const request &r);
    int vm_close(const request &r);
    int bo_create(user_vm &v, const request &r);
    int bo_share(const request &r);
    int bo_set_priority(user_vm &v, const request &r);
    int pin(user_vm &v, u64 tag);
    int unpin(user_vm &v, u64 tag);
    static int list_define(user_vm &v, const request &r);
    static int touch_define(user_vm &v, const request &r);
    result submit(user_vm &v, const request &r);
    static void resolve(const user_vm &v, bo_list &l);
    static void resolve(const user_vm &v, touch_list &t, const bo_list *l);
    static void describe_lock(void *priv, const kmd::ww_mutex &lock, events::event &e);

    std::unique_ptr<driver::policy> policy_;
    std::unique_ptr<driver::vttm_device> device_;
    std::vector<process> processes_; // in the order of the workload
    std::map<u32, user_vm> vms_;     // by label
    events::event_sink *sink_ = nullptr;
};

} // namespace vramlab::backend
