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
        begun_[e.process] = events_;
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
    case event_type::job_start:
        if (!e.flag)
            job_started({e.vm, e.b});
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
    const bo b{r.size_bytes, r.allowed ? r.allowed : derived, submissions_.size()};
    bos_[r.bo] = b;
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
void bound_recorder::job_started(std::pair<u32, u64> job)
{
    if (const auto s = by_seqno_.find(job); s != by_seqno_.end())
        submissions_[s->second].started = true;
    else
        started_early_.insert(job);
}

void bound_recorder::submitted(const events::event &e, const request &r)
{
    static const std::vector<touch> nothing;
    const auto touches = touch_sets_.find({r.vm, r.touch_set});
    by_seqno_[{r.vm, e.b}] = submissions_.size();
    const bool started = started_early_.erase({r.vm, e.b});
    submission s{r.vm, e.b, touches == touch_sets_.end() ? &nothing : touches->second, {}, emptied_, started};
    // Only what was pinned all the while: what another process pinned meanwhile may have come after.
    for (const auto &[tag, pin] : pins_)
        if (pin.second < begun_[e.process])
            s.must.push_back(tag);
    add_vram_only(r, s.must);
    submissions_.push_back(std::move(s));
}

void bound_recorder::pinned(const events::event &e)
{
    if (e.type == event_type::pin) {
        pins_.try_emplace(e.bo, 0u, events_).first->second.first++;
    } else if (const auto p = pins_.find(e.bo); p != pins_.end() && !--p->second.first) {
        pins_.erase(p);
    }
}

namespace {

// Uses of one submission, by tag: touches of the same BO add up; what must be in VRAM need not be touched.
std::map<u64, u64> needs(const std::vector<touch> &touches, const std::vector<u64> &must)
{
    std::map<u64, u64> out;
    for (const touch &t : touches) {
        u64 &bytes = out[t.bo];
        if (__builtin_add_overflow(bytes, t.link_bytes, &bytes) || bytes == bounds::must_be_in_vram)
            bytes = bounds::must_be_in_vram - 1; // the run refuses such a job
    }
    for (u64 tag : must)
        out[tag] = bounds::must_be_in_vram;
    return out;
}

} // namespace

bounds::instance bound_recorder::finish() const
{
    bounds::instance in;
    in.vram_bytes = w_.system.device.vram_size_bytes;
    std::unordered_map<u64, std::size_t> index;
    const auto allowed_of = [&](u64 tag) { return bos_.at(tag).allowed; };
    std::vector<u32> step_of(submissions_.size() + 1);
    for (std::size_t i = 0; i < submissions_.size(); i++)
        step_of[i + 1] = step_of[i] + submissions_[i].started;
    u32 emptied = 0;
    for (std::size_t i = 0; i < submissions_.size(); i++) {
        const submission &s = submissions_[i];
        if (!s.started)
            continue;
        const u32 step = in.steps++;
        if (s.emptied_before != emptied && step)
            in.emptied.push_back(step);
        emptied = s.emptied_before;
        for (const auto &[tag, bytes] : needs(*s.touches, s.must)) {
            if (!(allowed_of(tag) & domain_vram)) {
                in.fixed_bytes += bytes;
                continue;
            }
            const bo &b = bos_.at(tag);
            const auto [at, fresh] = index.try_emplace(tag, in.objects.size());
            if (fresh)
                in.objects.push_back({b.size_bytes, step_of[b.born], {}});
            in.objects[at->second].uses.push_back({step, bytes});
        }
    }
    return in;
}

} // namespace vramlab::runner
