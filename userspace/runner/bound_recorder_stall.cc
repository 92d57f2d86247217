// SPDX-License-Identifier: MIT
// The question of how much time a run had to lose, and how much it lost.
#include "runner/bound_recorder.h"

#include <algorithm>

namespace vramlab::runner {

std::vector<const bound_recorder::submission *> bound_recorder::by_start() const
{
    std::vector<const submission *> jobs;
    for (const submission &s : submissions_)
        if (s.job && s.job->end_ns != never_ns)
            jobs.push_back(&s);
    std::sort(jobs.begin(), jobs.end(), [](const submission *a, const submission *b) {
        return a->job->started_event < b->job->started_event;
    });
    return jobs;
}

void bound_recorder::add_job(const submission &s, u32 step, std::map<u64, std::size_t> &index,
                             bounds::stall_instance &in) const
{
    bounds::stall_step &to = in.steps[step];
    to.compute_ns = s.compute_ns;
    for (const auto &[tag, n] : needs(s, s.held_pinned)) {
        const bo &b = bos_.at(tag);
        if (!may_be_in_vram(tag)) {
            to.fixed_link_bytes += n.link_bytes;
            continue;
        }
        if (__builtin_add_overflow(to.vram_bytes, n.vram_bytes, &to.vram_bytes))
            to.vram_bytes = ~u64{0};
        const auto [at, fresh] = index.try_emplace(tag, in.objects.size());
        if (fresh)
            in.objects.push_back({b.size_bytes, 0, {}});
        in.objects[at->second].uses.push_back({step, n.vram_bytes, n.link_bytes});
    }
}

// What is created may be where BOs still are that jobs under way use: until those have run it takes up
// nothing.
void bound_recorder::set_births(const std::vector<const submission *> &jobs,
                                const std::map<u64, std::size_t> &index, bounds::stall_instance &in) const
{
    std::vector<std::pair<u64, u32>> begun; // event, and the last job to start of those begun up to then
    for (u32 step = 0; step < jobs.size(); step++)
        begun.emplace_back(jobs[step]->begun_event, step);
    std::sort(begun.begin(), begun.end());
    for (std::size_t i = 1; i < begun.size(); i++)
        begun[i].second = std::max(begun[i].second, begun[i - 1].second);
    for (const auto &[tag, i] : index) {
        bounds::stall_object &o = in.objects[i];
        const auto after =
            std::lower_bound(begun.begin(), begun.end(), std::pair{bos_.at(tag).created_event, u32{0}});
        o.born = after == begun.begin() ? 0 : std::prev(after)->second + 1;
        o.born = std::min(o.born, o.uses.front().step);
    }
}

namespace {

// More than this no job takes (gpu::duration_max_ns), though it may with all in VRAM.
constexpr u128 ideal_max_ns = u128{1} << 60;

u128 ideal_ns(const bounds::stall_instance &in, const bounds::stall_step &s)
{
    const auto up = [](u64 bytes, u64 bandwidth) {
        return (u128{bytes} * ns_per_s + bandwidth - 1) / bandwidth;
    };
    const u128 c = s.compute_ns, v = up(s.vram_bytes, in.vram_bandwidth),
               l = up(s.fixed_link_bytes, in.link_bandwidth);
    return in.overlap ? std::max({c, v, l}) : c + v + l;
}

} // namespace

std::optional<bound_recorder::lost_time> bound_recorder::finish_stall() const
{
    if (other_engines_)
        return std::nullopt;
    const device_config &d = w_.system.device;
    lost_time out{{d.vram_size_bytes, d.vram_bandwidth, d.link_bandwidth, d.overlap, {}, {}, {}}, 0};
    bounds::stall_instance &in = out.question;
    const std::vector<const submission *> jobs = by_start();
    in.steps.resize(jobs.size());
    std::map<u64, std::size_t> index;
    for (u32 step = 0; step < jobs.size(); step++)
        add_job(*jobs[step], step, index, in);
    set_births(jobs, index, in);
    for (u64 event : emptied_idle_) {
        const auto next = std::find_if(jobs.begin(), jobs.end(),
                                       [&](const submission *s) { return s->job->started_event > event; });
        if (next != jobs.begin() && next != jobs.end())
            in.emptied.push_back(static_cast<u32>(next - jobs.begin()));
    }
    u128 ideal = 0;
    for (const bounds::stall_step &s : in.steps)
        ideal += ideal_ns(in, s);
    if (ideal >= ideal_max_ns)
        return std::nullopt;
    // Before each job: the engine was idle for want of a submission until the first of those to come began.
    u64 first_begun = never_ns;
    for (std::size_t i = jobs.size(); i-- > 0;) {
        const job_times &job = *jobs[i]->job;
        const u64 before = i ? jobs[i - 1]->job->end_ns : 0;
        first_begun = std::min(first_begun, jobs[i]->begun_ns);
        in.steps[i].gap_ns = std::max(first_begun, before) - before;
        out.stall_ns += static_cast<s64>(job.end_ns - before - in.steps[i].gap_ns);
        out.stall_ns -= static_cast<s64>(ideal_ns(in, in.steps[i]));
    }
    return out;
}

} // namespace vramlab::runner
