// SPDX-License-Identifier: MIT
#include "runner/bound_recorder.h"

#include <algorithm>
#include <string_view>

namespace vramlab::runner {

using events::event_type;

void bound_recorder::record(const events::event &e)
{
    events_++;
    switch (e.type) {
    case event_type::op_begin:
        begun_[e.process] = {events_, e.time_ns};
        break;
    case event_type::op_end:
        if (!e.error)
            operation_ended(e);
        break;
    case event_type::pin:
    case event_type::unpin:
        if (!e.error)
            pinned(e);
        break;
    case event_type::move:
        moved(e);
        break;
    case event_type::job_start:
        if (!e.flag)
            job_started(e);
        break;
    case event_type::job_end:
        if (!e.flag)
            job_ended(e);
        break;
    default:
        break;
    }
}

void bound_recorder::operation_ended(const events::event &e)
{
    const workload::operation &op = w_.operations[e.a];
    if (op.kind == workload::op_kind::evict_all) {
        emptied_++;
        if (jobs_ended_ == submissions_.size())
            emptied_idle_.push_back(events_);
        return;
    }
    if (op.kind != workload::op_kind::request && op.kind != workload::op_kind::begin)
        return;
    const request &r = op.req;
    switch (r.kind) {
    case request_kind::touch_define:
        touch_sets_[{r.vm, r.id}] = &r.touches;
        break;
    case request_kind::list_define:
        lists_[{r.vm, r.id}] = &r.bos;
        break;
    case request_kind::bo_create:
        created(r);
        break;
    case request_kind::bo_destroy:
        private_vram_only_[r.vm].erase(r.bo);
        break;
    case request_kind::submit:
        submitted(e, r);
        break;
    default:
        break;
    }
}

void bound_recorder::created(const request &r)
{
    const u32 derived = r.preferred | (r.preferred == domain_vram ? domain_gtt : 0);
    const bo b{r.size_bytes, r.allowed ? r.allowed : derived, submissions_.size(), events_};
    tag_again_ |= !bos_.try_emplace(r.bo, b).second;
    if (r.flags & bo_vm_private && b.allowed == domain_vram)
        private_vram_only_[r.vm].insert(r.bo);
}

void bound_recorder::add_vram_only(const request &r, std::vector<u64> &must) const
{
    if (const auto list = lists_.find({r.vm, r.list}); list != lists_.end())
        for (u64 tag : *list->second)
            if (const auto b = bos_.find(tag); b != bos_.end() && b->second.allowed == domain_vram)
                must.push_back(tag);
    if (const auto own = private_vram_only_.find(r.vm); own != private_vram_only_.end())
        must.insert(must.end(), own->second.begin(), own->second.end());
}

// An engine that is idle begins the job before the submission that pushed it returns.
void bound_recorder::job_started(const events::event &e)
{
    other_engines_ |= e.a != 0;
    const job_times times{events_, e.time_ns};
    const auto s = by_seqno_.find({e.vm, e.b});
    if (s != by_seqno_.end() && !submissions_[s->second].job)
        submissions_[s->second].job = times;
    else
        early_[{e.vm, e.b}] = times; // or a VM's of the same label after it
}

void bound_recorder::job_ended(const events::event &e)
{
    if (const auto job = early_.find({e.vm, e.b}); job != early_.end()) {
        job->second.end_ns = e.time_ns;
    } else if (const auto s = by_seqno_.find({e.vm, e.b});
               s != by_seqno_.end() && submissions_[s->second].job) {
        submissions_[s->second].job->end_ns = e.time_ns;
        end_job(submissions_[s->second]);
    }
}

void bound_recorder::end_job(submission &s)
{
    jobs_ended_++;
    for (u64 tag : s.pinned)
        if (const auto pin = pins_.find(tag); pin != pins_.end() && pin->second.second < s.begun_event)
            s.held_pinned.push_back(tag);
}

void bound_recorder::submitted(const events::event &e, const request &r)
{
    static const std::vector<touch> nothing;
    const auto touches = touch_sets_.find({r.vm, r.touch_set});
    by_seqno_[{r.vm, e.b}] = submissions_.size();
    const auto [begun_event, begun_ns] = begun_[e.process];
    submission s{.vm = r.vm,
                 .seqno = e.b,
                 .touches = touches == touch_sets_.end() ? &nothing : touches->second,
                 .must = {},
                 .pinned = {},
                 .held_pinned = {},
                 .emptied_before = emptied_,
                 .compute_ns = r.compute_ns,
                 .begun_event = begun_event,
                 .begun_ns = begun_ns,
                 .job = std::nullopt};
    // Only what was pinned all the while: what another process pinned meanwhile may have come after.
    for (const auto &[tag, pin] : pins_)
        if (pin.second < begun_event)
            s.pinned.push_back(tag);
    add_vram_only(r, s.must);
    if (const auto job = early_.find({r.vm, e.b}); job != early_.end()) {
        s.job = job->second;
        early_.erase(job);
        if (s.job->end_ns != never_ns)
            end_job(s);
    }
    submissions_.push_back(std::move(s));
}

void bound_recorder::moved(const events::event &e)
{
    if (e.b != domain_vram) {
        in_vram_.erase(e.bo);
        return;
    }
    in_vram_.insert(e.bo);
    seen_in_it_.insert(e.bo);
}

bool bound_recorder::may_be_in_vram(u64 tag) const
{
    return (bos_.at(tag).allowed & domain_vram) || seen_in_it_.contains(tag);
}

void bound_recorder::pinned(const events::event &e)
{
    if (e.type == event_type::pin) {
        if (!in_vram_.contains(e.bo))
            return;
        pins_.try_emplace(e.bo, 0u, events_).first->second.first++;
    } else if (const auto p = pins_.find(e.bo); p != pins_.end() && !--p->second.first) {
        pins_.erase(p);
    }
}

std::map<u64, bound_recorder::need> bound_recorder::needs(const submission &s, const std::vector<u64> &pinned)
{
    std::map<u64, need> out;
    for (const touch &t : *s.touches) {
        need &n = out[t.bo];
        if (__builtin_add_overflow(n.vram_bytes, t.vram_bytes, &n.vram_bytes))
            n.vram_bytes = ~u64{0};
        if (__builtin_add_overflow(n.link_bytes, t.link_bytes, &n.link_bytes) ||
            n.link_bytes == bounds::must_be_in_vram)
            n.link_bytes = bounds::must_be_in_vram - 1; // the run refuses such a job
    }
    for (const std::vector<u64> *tags : {&s.must, &pinned})
        for (u64 tag : *tags)
            out[tag].link_bytes = bounds::must_be_in_vram;
    return out;
}

bounds::instance bound_recorder::finish() const
{
    bounds::instance in;
    in.vram_bytes = w_.system.device.vram_size_bytes;
    std::unordered_map<u64, std::size_t> index;
    std::vector<u32> step_of(submissions_.size() + 1);
    for (std::size_t i = 0; i < submissions_.size(); i++)
        step_of[i + 1] = step_of[i] + submissions_[i].job.has_value();
    u32 emptied = 0;
    for (std::size_t i = 0; i < submissions_.size(); i++) {
        const submission &s = submissions_[i];
        if (!s.job)
            continue;
        const u32 step = in.steps++;
        if (s.emptied_before != emptied && step)
            in.emptied.push_back(step);
        emptied = s.emptied_before;
        for (const auto &[tag, n] : needs(s, s.pinned)) {
            if (!may_be_in_vram(tag)) {
                in.fixed_bytes += n.link_bytes;
                continue;
            }
            const bo &b = bos_.at(tag);
            const auto [at, fresh] = index.try_emplace(tag, in.objects.size());
            if (fresh)
                in.objects.push_back({b.size_bytes, step_of[b.born], {}});
            in.objects[at->second].uses.push_back({step, n.link_bytes});
        }
    }
    return in;
}

} // namespace vramlab::runner
