// SPDX-License-Identifier: MIT
#include "gputrace/device_clock.h"

namespace vramlab::gputrace {

namespace {

// A trace may lose signals, and never tell the end of these jobs.
constexpr std::size_t jobs_max = 1 << 16;

// dma_fence's events have 32 bits of both.
u64 fence_key(const trace::record &r)
{
    constexpr u64 half = 0xffffffff;
    return (r.number("context").value_or(0) & half) << 32 | (r.number("seqno").value_or(0) & half);
}

} // namespace

device_clock::kind device_clock::kind_of(const trace::event_format &f)
{
    if (f.name == "vttm_job_run")
        return kind::job_run;
    if (f.name == "dma_fence_signaled")
        return kind::signaled;
    return f.name.starts_with("vttm_") && f.find("time_ns") ? kind::timed : kind::other;
}

void device_clock::tell(u64 time_ns)
{
    told_++;
    if (time_ns < now_ns_)
        went_back_++;
    else
        now_ns_ = time_ns;
}

void device_clock::follow(const trace::record &r, kind k)
{
    if (k == kind::timed) {
        if (const std::optional<u64> t = r.number("time_ns"))
            tell(*t);
    } else if (k == kind::job_run) {
        if (end_of_jobs_.size() >= jobs_max)
            end_of_jobs_.clear();
        if (const std::optional<u64> end = r.number("end_ns"))
            end_of_jobs_[fence_key(r)] = *end;
    } else if (r.text("driver") == "vttm") {
        const auto job = end_of_jobs_.find(fence_key(r));
        if (job == end_of_jobs_.end())
            return;
        tell(job->second);
        end_of_jobs_.erase(job);
    }
}

bool device_clock::next(trace::record &r)
{
    if (!in_->next(r))
        return false;
    if (r.format->id >= kinds_.size())
        kinds_.resize(r.format->id + std::size_t{1});
    kind &k = kinds_[r.format->id];
    if (k == kind::unknown)
        k = kind_of(*r.format);
    if (k != kind::other)
        follow(r, k);
    r.time_ns = now_ns_;
    return true;
}

} // namespace vramlab::gputrace
