// SPDX-License-Identifier: MIT
#include "backend/sim_backend.h"

#include "driver/state.h"
#include "kmd/dmem_cgroup.h"
#include "kmd/trace.h"

#include <fmt/format.h>
#include <iterator>
#include <stdexcept>
#include <utility>

namespace vramlab::backend {

using namespace driver;

// The thread belongs to the model while one of these lives: whose process runs, where events go, what time it
// is.
class sim_backend::caller {
public:
    caller(sim_backend &b, u32 process_number)
        : saved_trace_(std::exchange(kmd::trace, {.sink = b.sink_,
                                                  .now_ns = b.device_->queue.now(),
                                                  .process = process_number,
                                                  .skipped = b.sink_ && b.sink_->wants_skipped(),
                                                  .describe_lock = describe_lock,
                                                  .describe_lock_priv = &b})),
          saved_cgroup_(std::exchange(kmd::dmem_cgroup_current, b.device_->cgroup_of(process_number)))
    {
    }
    ~caller()
    {
        kmd::trace = saved_trace_;
        kmd::dmem_cgroup_current = saved_cgroup_;
    }
    caller(const caller &) = delete;
    caller &operator=(const caller &) = delete;

private:
    kmd::trace_state saved_trace_;
    kmd::dmemcg_state *saved_cgroup_;
};

sim_backend::sim_backend(std::unique_ptr<policy> p) : policy_(std::move(p)) {}

sim_backend::~sim_backend()
{
    sink_ = nullptr;
    if (!device_)
        return;
    try {
        end_tasks();
    } catch (const std::exception &) {
        // A task that cannot end holds locks of the device: let go of both rather than take them apart.
        for (process &p : processes_)
            (void)p.task.release();
        (void)device_.release();
        return;
    }
    const caller c(*this, 0);
    device_.reset();
}

void sim_backend::reset(const system_config &s)
{
    events::event_sink *const sink = std::exchange(sink_, nullptr);
    if (device_) {
        end_tasks();
        const caller c(*this, 0);
        device_.reset();
    }
    processes_.clear();
    vms_.clear();
    device_ = std::make_unique<vttm_device>(s, policy_.get());
    for (const process_config &p : s.processes) {
        processes_.emplace_back();
        processes_.back().number = p.process;
        processes_.back().task = std::make_unique<kmd::task>(p.process);
    }
    sink_ = sink;
}

sim_backend::process &sim_backend::find(u32 number)
{
    for (process &p : processes_)
        if (p.number == number)
            return p;
    throw std::runtime_error(fmt::format("process {} is not in the workload", number));
}

// ---- tasks

task_state sim_backend::state_of(u32 number)
{
    switch (find(number).task->current_state()) {
    case kmd::task::state::parked:
        return task_state::parked;
    case kmd::task::state::blocked:
        return task_state::blocked;
    default:
        return task_state::idle;
    }
}

// A run that was given up leaves tasks in the middle of an operation. Lowest process first.
void sim_backend::end_tasks()
{
    for (;;) {
        bool under_way = false;
        process *parked = nullptr;
        for (process &p : processes_) {
            const task_state s = state_of(p.number);
            under_way |= s != task_state::idle;
            if (s == task_state::parked && !parked)
                parked = &p;
        }
        if (!under_way)
            return;
        if (!parked)
            throw std::runtime_error("a task is blocked and no other can go on");
        step(parked->number);
    }
}

task_state sim_backend::begin(const request &r)
{
    process &p = find(r.process);
    if (p.task->current_state() != kmd::task::state::idle)
        throw std::runtime_error(fmt::format("process {} has an operation under way", r.process));
    const caller c(*this, r.process);
    p.ended = false;
    p.task->begin([this, &p, r] {
        p.ended_with = run(r);
        p.ended = true;
    });
    device_->settle();
    return state_of(r.process);
}

task_state sim_backend::step(u32 number)
{
    process &p = find(number);
    if (p.task->current_state() != kmd::task::state::parked)
        throw std::runtime_error(fmt::format("process {} is not parked", number));
    const caller c(*this, 0);
    p.task->step();
    device_->settle();
    return state_of(number);
}

result sim_backend::take_result(u32 number)
{
    process &p = find(number);
    if (!std::exchange(p.ended, false))
        throw std::runtime_error(fmt::format("process {} has no result to take", number));
    return p.ended_with;
}

result sim_backend::execute(const request &r)
{
    find(r.process);
    const caller c(*this, r.process);
    const result res = run(r);
    device_->settle();
    return res;
}

// ---- the system

u64 sim_backend::now_ns()
{
    return device_->now_ns();
}

u64 sim_backend::next_event_ns()
{
    return device_->next_event_ns();
}

void sim_backend::advance(u64 to_ns)
{
    if (to_ns < device_->now_ns())
        throw std::runtime_error(fmt::format("cannot advance the clock back to {} ns", to_ns));
    const caller c(*this, 0);
    device_->advance(to_ns);
}

int sim_backend::evict_all()
{
    const caller c(*this, 0);
    const int r = device_->evict_all();
    device_->settle();
    return r;
}

int sim_backend::swapout()
{
    const caller c(*this, 0);
    const int r = device_->swapout();
    device_->settle();
    return r;
}

int sim_backend::set_limits(const cgroup_config &config)
{
    const caller c(*this, 0);
    const int r = device_->set_limits(config);
    device_->settle();
    return r;
}

bool sim_backend::signaled(u32 label, u64 seqno)
{
    const auto it = vms_.find(label);
    if (!seqno || it == vms_.end())
        return true; // a closed VM has waited for its submissions
    const vttm_vm &vm = *it->second.vm;
    if (seqno > vm.entity.fence_seq)
        throw std::runtime_error(fmt::format("submission {} of VM {} was not made yet", seqno, label));
    return seqno <= vm.finished_seqno;
}

usage sim_backend::query_usage()
{
    return {device_->vram.usage, device_->vram_pinned_bytes, device_->gtt.usage, device_->num_bytes_moved,
            device_->num_evictions};
}

std::string sim_backend::state()
{
    constexpr const char *names[] = {"idle", "parked", "blocked"};
    std::string text;
    print_state(*device_, text);
    for (std::size_t i = 0; i < device_->cgroup_configs.size(); i++)
        fmt::format_to(std::back_inserter(text), "charge {} {}\n", device_->cgroup_configs[i].path,
                       kmd::dmem_cgroup_usage(*device_->cgroups[i + 1]));
    for (const process &p : processes_)
        fmt::format_to(std::back_inserter(text), "task {} {}\n", p.number,
                       names[static_cast<u8>(state_of(p.number))]);
    return text;
}

// A resv is a VM's or a BO's own; zombies and ghosts are nobody's.
void sim_backend::describe_lock(void *priv, const kmd::ww_mutex &lock, events::event &e)
{
    const vttm_device &dev = *static_cast<sim_backend *>(priv)->device_;
    for (const auto &[label, vm] : dev.vms) {
        if (&vm->own_resv.lock == &lock) {
            e.vm2 = label;
            return;
        }
    }
    for (const auto &[tag, bo] : dev.bos)
        if (&bo->_resv.lock == &lock)
            e.bo = tag;
}

} // namespace vramlab::backend
