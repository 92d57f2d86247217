// SPDX-License-Identifier: MIT
#include "report/metrics.h"

#include "report/engines.h"

#include <algorithm>

namespace vramlab::report {

using events::event;
using events::event_type;

link_traffic &link_traffic::operator+=(const link_traffic &o)
{
    moved_in_bytes += o.moved_in_bytes;
    moved_out_bytes += o.moved_out_bytes;
    remote_bytes += o.remote_bytes;
    return *this;
}

link_traffic operator-(const link_traffic &a, const link_traffic &b)
{
    return {a.moved_in_bytes - b.moved_in_bytes, a.moved_out_bytes - b.moved_out_bytes,
            a.remote_bytes - b.remote_bytes};
}

namespace {

u64 sum(const std::map<int, u64> &m)
{
    u64 n = 0;
    for (const auto &[key, count] : m)
        n += count;
    return n;
}

} // namespace

u64 counters::failed_submissions_total() const
{
    return sum(failed_submissions);
}

u64 counters::failed_operations_total() const
{
    return sum(failed_operations);
}

void counters::add(const counters &o)
{
    frame_ns.insert(frame_ns.end(), o.frame_ns.begin(), o.frame_ns.end());
    submit_ns.insert(submit_ns.end(), o.submit_ns.begin(), o.submit_ns.end());
    for (const auto &[error, n] : o.failed_submissions)
        failed_submissions[error] += n;
    for (const auto &[error, n] : o.failed_operations)
        failed_operations[error] += n;
    failed_flips += o.failed_flips;
    failed_creates += o.failed_creates;
    link += o.link;
    frames_link += o.frames_link;
    frame_link_max_bytes = std::max(frame_link_max_bytes, o.frame_link_max_bytes);
    evictions += o.evictions;
    evicted_bytes += o.evicted_bytes;
    evictions_caused += o.evictions_caused;
    evictions_for_scanout += o.evictions_for_scanout;
    for (std::size_t i = 0; i < reversals.size(); i++)
        reversals[i] += o.reversals[i];
    deadlks += o.deadlks;
    retries += o.retries;
    fence_wait_ns += o.fence_wait_ns;
    gfx_busy_ns += o.gfx_busy_ns;
    copy_busy_ns += o.copy_busy_ns;
    vram_bytes += o.vram_bytes;
    outside_bytes += o.outside_bytes;
    preferred_bytes += o.preferred_bytes;
    preferred_in_bytes += o.preferred_in_bytes;
    high_bytes += o.high_bytes;
    high_in_bytes += o.high_in_bytes;
}

metrics::metrics(std::vector<process_config> processes) : processes_(std::move(processes))
{
    u32 highest = 0;
    for (const process_config &p : processes_)
        highest = std::max(highest, p.process);
    by_process_.resize(highest + 1);
    frame_begin_.resize(highest + 1);
}

counters &metrics::counters_of(u32 process)
{
    return by_process_[process < by_process_.size() ? process : 0];
}

// Moves count for whoever created the BO: it pays, whoever caused it.
u32 metrics::owner_of(const event &e)
{
    if (const bo_info *b = bos_.find(e.bo))
        return b->process;
    return e.vm ? bos_.process_of_vm(e.vm) : 0;
}

void metrics::move(const event &e)
{
    counters &c = counters_of(owner_of(e));
    const bo_info *b = bos_.find(e.bo);
    if (e.a == domain_vram && e.b != domain_vram) {
        c.link.moved_out_bytes += e.c;
        if (e.flag) {
            c.evictions++;
            c.evicted_bytes += e.c;
            c.evictions_for_scanout += b && b->evicted_for_scanout;
            counters_of(e.process).evictions_caused++;
        }
    } else if (e.a && e.a != domain_vram && e.b == domain_vram) {
        c.link.moved_in_bytes += e.c;
        if (!b || b->left_vram_ns == never_ns)
            return;
        const u64 away_ns = e.time_ns - b->left_vram_ns;
        for (std::size_t i = 0; i < reversal_limits_ns.size(); i++)
            c.reversals[i] += away_ns <= reversal_limits_ns[i];
        if (away_ns <= ping_pong::limit_ns && b->evictor != b->process)
            ping_pong_.round_trip(e.bo, e.c, b->process, b->evictor, b->evicted_for_scanout);
    }
}

void metrics::end_operation(const event &e)
{
    const operation_info &op = bos_.operation(e.process);
    counters &c = counters_of(e.process);
    if (op.name == "submit") {
        c.submit_ns.push_back(e.time_ns - op.begin_ns);
        if (e.error)
            c.failed_submissions[-e.error]++;
        return;
    }
    if (!e.error)
        return;
    c.failed_operations[-e.error]++;
    c.failed_flips += op.name == "flip";
    c.failed_creates += op.name == "bo_create";
}

void metrics::frame(const event &e)
{
    if (e.process >= by_process_.size())
        return;
    counters &c = by_process_[e.process];
    if (e.a) {
        c.frame_ns.push_back(e.b);
        const link_traffic traffic = c.link - frame_begin_[e.process];
        c.frames_link += traffic;
        c.frame_link_max_bytes = std::max(c.frame_link_max_bytes, traffic.read_bytes());
    }
    frame_begin_[e.process] = c.link;
}

void metrics::job_start(const event &e)
{
    const u32 process = bos_.process_of_vm(e.vm);
    if (e.a < running_.size())
        running_[e.a].push_back({e.time_ns, process});
    if (e.flag == job_kind_job) // copies are counted by their moves
        counters_of(process).link.remote_bytes += e.c;
}

void metrics::job_end(u64 engine, u64 end_ns)
{
    if (engine >= running_.size() || running_[engine].empty())
        return;
    const running_job job = running_[engine].front();
    running_[engine].pop_front();
    const u64 busy_ns = end_ns > job.start_ns ? end_ns - job.start_ns : 0;
    if (engine == engine_gfx)
        counters_of(job.process).gfx_busy_ns += busy_ns;
    else
        counters_of(0).copy_busy_ns += busy_ns;
}

void metrics::record(const event &e)
{
    last_event_ns_ = e.time_ns;
    if (e.type == event_type::move)
        move(e); // before the tracker forgets when the BO left
    bos_.record(e);
    switch (e.type) {
    case event_type::op_end:
        end_operation(e);
        bos_.forget_ended();
        break;
    case event_type::lock_deadlk:
        counters_of(e.process).deadlks++;
        break;
    case event_type::backoff:
        counters_of(e.process).retries++;
        break;
    case event_type::fence_wait:
        counters_of(e.process).fence_wait_ns += e.a;
        break;
    case event_type::job_start:
        job_start(e);
        break;
    case event_type::job_end:
        job_end(e.a, e.time_ns);
        break;
    case event_type::frame:
        frame(e);
        break;
    default:
        break;
    }
}

void metrics::finish(u64 end_ns)
{
    end_ns_ = end_ns;
    for (u64 engine = 0; engine < running_.size(); engine++)
        while (!running_[engine].empty()) // what the end of the run cuts off was busy until then
            job_end(engine, end_ns);
    for (const auto &[tag, b] : bos_.bos()) {
        if (!b.handles || !b.domain)
            continue;
        counters &c = counters_of(b.process);
        const bool in = b.domain == domain_vram;
        (in ? c.vram_bytes : c.outside_bytes) += b.size_bytes;
        if (!(b.preferred & domain_vram))
            continue;
        c.preferred_bytes += b.size_bytes;
        c.preferred_in_bytes += in ? b.size_bytes : 0;
        if (b.priority > priority_default) {
            c.high_bytes += b.size_bytes;
            c.high_in_bytes += in ? b.size_bytes : 0;
        }
    }
    for (const counters &c : by_process_)
        total_.add(c);
}

u64 percentile(std::vector<u64> values, u32 percent)
{
    if (values.empty())
        return 0;
    const std::size_t rank = (values.size() * percent + 99) / 100;
    auto nth = values.begin() + static_cast<std::ptrdiff_t>(rank ? rank - 1 : 0);
    std::nth_element(values.begin(), nth, values.end());
    return *nth;
}

} // namespace vramlab::report
