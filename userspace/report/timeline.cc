// SPDX-License-Identifier: MIT
#include "report/timeline.h"

#include "report/engines.h"

#include <algorithm>

namespace vramlab::report {

using events::event;
using events::event_type;

namespace {

std::size_t rows_of(const std::vector<process_config> &processes)
{
    u32 highest = 0;
    for (const process_config &p : processes)
        highest = std::max(highest, p.process);
    return highest + 1;
}

} // namespace

timeline::timeline(std::vector<process_config> processes, const timeline_options &o)
    : options_(o), processes_(std::move(processes)), frames_(rows_of(processes_)),
      vram_(frames_.size() + 1, o.bins_max), link_(link_rows, o.bins_max), changes_(change_rows, o.bins_max),
      phases_(o.strong_ns, o.weak_ns)
{
}

void timeline::set_vram(u32 process, u64 at_ns, s64 bytes)
{
    const std::size_t row = row_of(process);
    vram_.set(row, at_ns, vram_.level(row) + static_cast<u64>(bytes));
}

void timeline::set_demand(u64 at_ns, s64 bytes)
{
    vram_.set(demand_row(), at_ns, vram_.level(demand_row()) + static_cast<u64>(bytes));
}

void timeline::keep_change(bo_life &life, const change &c)
{
    if (life.changes.size() >= options_.changes_max || changes_kept_ >= options_.changes_all_max) {
        life.left_out++;
        left_out_changes_++;
        return;
    }
    life.changes.push_back(c);
    changes_kept_++;
}

// The tracker knows it; whether its creation succeeds shows at the operation's end.
void timeline::created(const event &e)
{
    auto [it, fresh] = lives_.try_emplace(e.bo);
    if (!fresh) {
        changes_kept_ -= it->second.changes.size();
        it->second = {};
        it->second.name_again = true;
    }
    it->second.created_ns = e.time_ns;
    if (const bo_info *b = bos_.find(e.bo); b && b->preferred & domain_vram)
        set_demand(e.time_ns, static_cast<s64>(b->size_bytes));
}

void timeline::destroyed(u64 bo, u64 at_ns)
{
    const bo_info *b = bos_.find(bo);
    if (!b)
        return;
    if (b->domain == domain_vram)
        set_vram(b->process, at_ns, -static_cast<s64>(b->size_bytes));
    if (b->preferred & domain_vram)
        set_demand(at_ns, -static_cast<s64>(b->size_bytes));
    auto it = lives_.find(bo);
    if (it == lives_.end())
        return;
    it->second.info = *b;
    it->second.destroyed_ns = at_ns;
    keep_change(it->second, {.at_ns = at_ns, .from = b->domain});
}

void timeline::moved(const event &e)
{
    const bool out = e.a == domain_vram && e.b != domain_vram, in = e.a != domain_vram && e.b == domain_vram;
    const bo_info *b = bos_.find(e.bo);
    const u32 owner = b ? b->process : 0;
    const bool for_scanout = b && b->evicted_for_scanout;

    if (b && (in || out))
        set_vram(owner, e.time_ns, in ? static_cast<s64>(b->size_bytes) : -static_cast<s64>(b->size_bytes));
    if (e.a && e.b && (in || out)) // the first placement is no move
        asked_[e.bo].push_back(in ? moved_in : moved_out);
    if (out && e.flag)
        changes_.add(for_scanout          ? evicted_for_scanout
                     : e.process != owner ? evicted_for_others
                                          : evicted_for_own,
                     e.time_ns, 1);
    else if (in && e.a)
        changes_.add(came_back, e.time_ns, 1);
    auto it = lives_.find(e.bo);
    if (it == lives_.end())
        return;
    const auto reason = evicted_for_.find(e.bo);
    it->second.evictions += out && e.flag;
    keep_change(it->second, {.at_ns = e.time_ns,
                             .for_bo = e.flag && reason != evicted_for_.end() ? reason->second : 0,
                             .process = e.process,
                             .from = static_cast<u8>(e.a),
                             .to = static_cast<u8>(e.b),
                             .eviction = e.flag != 0,
                             .for_scanout = e.flag && for_scanout});
}

void timeline::frame_ends(const event &e)
{
    if (!e.a || e.process >= frames_.size())
        return; // a = 0: the first one begins
    frame_series &s = frames_[e.process];
    const frame f{e.time_ns, e.b};
    if (s.frames++ % s.stride) {
        if (f.duration_ns > s.kept.back().duration_ns)
            s.kept.back() = f;
        return;
    }
    s.kept.push_back(f);
    if (s.kept.size() <= options_.frames_max)
        return;
    // The last one begins a pair if their number is odd: the next frame belongs to it then.
    for (std::size_t i = 0; i < s.kept.size(); i += 2) {
        const std::size_t last = std::min(i + 1, s.kept.size() - 1);
        s.kept[i / 2] = s.kept[last].duration_ns > s.kept[i].duration_ns ? s.kept[last] : s.kept[i];
    }
    s.kept.resize((s.kept.size() + 1) / 2);
    s.stride *= 2;
}

// Jobs of an engine end in the order in which they began. The move of a copy is known by then.
void timeline::job_ends(const event &e)
{
    if (e.a >= running_.size() || running_[e.a].empty())
        return;
    const running_job job = running_[e.a].front();
    running_[e.a].pop_front();
    if (!job.link_bytes)
        return;
    if (!job.copy) {
        link_.spread(remote_reads, job.begin_ns, e.time_ns, job.link_bytes);
        return;
    }
    auto it = asked_.find(job.bo);
    if (it == asked_.end()) {
        unknown_copies_++;
        return;
    }
    link_.spread(it->second.front(), job.begin_ns, e.time_ns, job.link_bytes);
    it->second.pop_front();
    if (it->second.empty())
        asked_.erase(it);
}

void timeline::record(const event &e)
{
    bos_.record(e);
    switch (e.type) {
    case event_type::op_begin:
        if (bos_.operation(e.process).name == "bo_create")
            created(e);
        break;
    case event_type::op_end:
        for (const u64 bo : bos_.ended())
            destroyed(bo, e.time_ns);
        if (!e.error && bos_.operation(e.process).name == "evict_all")
            phases_.reset(e.time_ns);
        bos_.forget_ended();
        break;
    case event_type::evict_begin:
        evicted_for_[e.bo] = e.bo2;
        break;
    case event_type::move:
        moved(e);
        break;
    case event_type::frame:
        frame_ends(e);
        break;
    case event_type::job_start:
        if (e.a < running_.size())
            running_[e.a].push_back({e.time_ns, e.bo, e.c, e.flag == job_kind_copy});
        break;
    case event_type::job_end:
        job_ends(e);
        break;
    case event_type::throttled:
        phases_.throttled(e.vm2, e.time_ns);
        break;
    default:
        break;
    }
}

void timeline::finish(u64 end_ns)
{
    end_ns_ = end_ns;
    for (const auto &engine : running_)
        for (const running_job &job : engine) {
            cut_jobs_++;
            cut_bytes_ += job.link_bytes;
        }
    vram_.extend_to(end_ns);
    link_.extend_to(end_ns);
    changes_.extend_to(end_ns);
    phases_.finish(end_ns);
    for (auto &[bo, life] : lives_)
        if (const bo_info *b = bos_.find(bo); b && life.destroyed_ns == never_ns)
            life.info = *b;
}

} // namespace vramlab::report
