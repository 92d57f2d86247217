// SPDX-License-Identifier: MIT
#include "gputrace/merged_reader.h"

#include <algorithm>
#include <cstring>
#include <utility>

namespace vramlab::gputrace {

namespace {

constexpr u16 run_id_max = 0xffff;
constexpr std::size_t pid_offset = 4; // in records with trace::common_fields(), as all of vramlab's have

bool tells_jobs(const trace::event_format &f)
{
    return f.name == "amdgpu_cs_ioctl" || f.name == "amdgpu_sched_run_job" || f.name == "dma_fence_signaled";
}

} // namespace

merged_reader::merged_reader(std::unique_ptr<trace::trace_reader> kernel,
                             std::unique_ptr<trace::trace_reader> run)
    : kernel_(std::move(kernel)), run_(std::move(run))
{
    take_info();
    kernel_next_.full = kernel_->next(kernel_next_.r);
    run_next_.full = next_of_run();
}

void merged_reader::take_info()
{
    const trace::trace_info &k = kernel_->info();
    info_.version = k.version;
    info_.kernel = k.kernel;
    info_.clock = k.clock;
    info_.comms = k.comms;
    info_.tgids = k.tgids;
    info_.cpu_stats = k.cpu_stats;
    info_.printk = k.printk;
    info_.cpus = k.cpus;
    info_.unknown_options = k.unknown_options;
    for (const auto &f : k.formats)
        info_.formats.push_back(std::make_unique<trace::event_format>(*f));
    for (const auto &[pid, comm] : k.comms)
        pid_of_.try_emplace(comm, pid);
    for (const auto &[pid, comm] : run_->info().comms)
        add_task(pid, comm);
}

void merged_reader::add_task(s32 pid, const std::string &comm)
{
    // The kernel cuts names off.
    constexpr std::size_t comm_max = 15;
    const auto same = pid_of_.find(comm.substr(0, comm_max));
    if (same != pid_of_.end()) {
        pids_[pid] = same->second;
        return;
    }
    s32 free = pid;
    while (info_.comms.contains(free))
        free++;
    pids_[pid] = free;
    info_.comms[free] = comm;
}

// Formats of the other trace that have the same ID would be taken for one.
const trace::event_format &merged_reader::own_format(const trace::event_format &f)
{
    const trace::event_format *&own = formats_[&f];
    if (own)
        return *own;
    for (const auto &x : info_.formats)
        if (x->system == f.system && x->name == f.name && x->fields == f.fields) {
            own = x.get();
            return *own;
        }
    auto copy = std::make_unique<trace::event_format>(f);
    const auto is_taken = [&](u16 id) {
        return std::any_of(info_.formats.begin(), info_.formats.end(),
                           [id](const auto &x) { return x->id == id; });
    };
    for (u16 id = run_id_max; is_taken(copy->id) && id; id--)
        copy->id = id;
    info_.formats.push_back(std::move(copy));
    own = info_.formats.back().get();
    return *own;
}

void merged_reader::adopt(trace::record &r)
{
    const trace::event_format &own = own_format(*r.format);
    const auto pid = pids_.find(r.pid);
    data_.assign(r.data.begin(), r.data.end());
    if (pid != pids_.end())
        r.pid = pid->second;
    if (data_.size() >= pid_offset + sizeof(r.pid)) {
        std::memcpy(data_.data(), &own.id, sizeof(own.id));
        std::memcpy(data_.data() + pid_offset, &r.pid, sizeof(r.pid));
    }
    r.format = &own;
    r.data = data_;
}

bool merged_reader::next_of_run()
{
    while (run_->next(run_next_.r)) {
        if (tells_jobs(*run_next_.r.format))
            continue;
        adopt(run_next_.r);
        return true;
    }
    return false;
}

bool merged_reader::next(trace::record &r)
{
    // A reader's record is valid until the next one is asked for, so that is done late.
    if (spent_) {
        ahead &a = *std::exchange(spent_, nullptr);
        a.full = &a == &run_next_ ? next_of_run() : kernel_->next(a.r);
    }
    const bool of_run =
        run_next_.full && (!kernel_next_.full || run_next_.r.time_ns <= kernel_next_.r.time_ns);
    ahead &a = of_run ? run_next_ : kernel_next_;
    if (!a.full) {
        // Text traces tell their tasks as they go.
        info_.comms.insert(kernel_->info().comms.begin(), kernel_->info().comms.end());
        info_.tgids.insert(kernel_->info().tgids.begin(), kernel_->info().tgids.end());
        return false;
    }
    r = a.r;
    spent_ = &a;
    return true;
}

} // namespace vramlab::gputrace
