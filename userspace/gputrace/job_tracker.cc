// SPDX-License-Identifier: MIT
#include "gputrace/job_tracker.h"

#include <algorithm>

namespace vramlab::gputrace {

void job_tracker::name_device(engine &n, std::string_view device)
{
    if (device.empty())
        return;
    n.device = device;
    if (first_device_.empty())
        first_device_ = device;
    if (first_device_ != device)
        n.label = n.name + "@" + n.device;
}

u32 job_tracker::engine_of(const gpu_event &e)
{
    // amdgpu does not say its device: the first that has such a ring, until the scheduler tells.
    for (std::size_t i = 0; i < engines_.size(); i++) {
        engine &n = engines_[i];
        if (n.name != e.engine || (n.device != e.device && !n.device.empty() && !e.device.empty()))
            continue;
        if (n.device.empty())
            name_device(n, e.device);
        return static_cast<u32>(i);
    }
    engine n{{}, std::string(e.engine), std::string(e.engine)};
    name_device(n, e.device);
    engines_.push_back(std::move(n));
    return static_cast<u32>(engines_.size() - 1);
}

job &job_tracker::add(const key &k, const gpu_event &e)
{
    if (order_.size() >= jobs_max) {
        const auto [old, serial] = order_.front();
        order_.pop_front();
        const auto it = jobs_.find(old);
        if (it != jobs_.end() && it->second.serial == serial) {
            counts_.never_done += it->second.done_ns == never_ns;
            jobs_.erase(it);
        }
    }
    job &j = jobs_[k];
    j = {};
    j.context = k.context;
    j.seqno = k.seqno;
    j.engine = engine_of(e);
    j.by = e.by;
    j.serial = ++serial_;
    order_.emplace_back(k, serial_);
    return j;
}

// As gpuvis has it: an engine does one thing after the other.
void job_tracker::end(job &j, u64 time_ns)
{
    engine &n = engines_[j.engine];
    if (j.run_ns == never_ns) {
        counts_.without_run++;
        j.run_ns = j.queue_ns;
    }
    counts_.without_queue += j.queue_ns == never_ns;
    counts_.out_of_order += j.run_ns < n.last_start_run;
    j.start_ns = std::min(std::max(j.run_ns, n.last_done_ns), time_ns);
    j.done_ns = time_ns;
    n.last_done_ns = time_ns;
    n.last_start_run = std::max(n.last_start_run, j.run_ns);
    counts_.done++;
}

job_tracker::step job_tracker::take(const gpu_event &e, u64 time_ns, s32 pid)
{
    if (e.kind != gpu_kind::queue && e.kind != gpu_kind::run && e.kind != gpu_kind::done)
        return {};
    amdgpu_ |= e.by == dialect::amdgpu;
    const bool old = e.by == dialect::drm_sched_old;
    if (old && amdgpu_) {
        counts_.seen_by_two++;
        return {};
    }
    const key k{e.context, e.seqno};
    auto it = jobs_.find(k);
    if (e.kind == gpu_kind::done) {
        if (it == jobs_.end()) {
            counts_.signals_alone += e.by != dialect::fence; // other fences are no jobs
            return {};
        }
        if (it->second.done_ns != never_ns) {
            counts_.seen_by_two++;
            return {news::none, &it->second};
        }
        end(it->second, time_ns);
        return {news::done, &it->second};
    }
    // The old scheduler's keys are addresses, which are used again.
    if (it != jobs_.end() && old && e.kind == gpu_kind::queue) {
        counts_.never_done += it->second.done_ns == never_ns;
        jobs_.erase(it);
        it = jobs_.end();
    }
    job &j = it == jobs_.end() ? add(k, e) : it->second;
    if (!e.device.empty() && engines_[j.engine].device != e.device)
        j.engine = engine_of(e);
    u64 &when = e.kind == gpu_kind::queue ? j.queue_ns : j.run_ns;
    if (when != never_ns || j.done_ns != never_ns) {
        counts_.seen_by_two++;
        return {news::none, &j};
    }
    when = time_ns;
    if (e.kind == gpu_kind::queue)
        j.pid = pid;
    return {e.kind == gpu_kind::queue ? news::queued : news::ran, &j};
}

void job_tracker::finish()
{
    for (const auto &[k, j] : jobs_)
        counts_.never_done += j.done_ns == never_ns;
    jobs_.clear();
    order_.clear();
}

} // namespace vramlab::gputrace
