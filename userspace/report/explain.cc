// SPDX-License-Identifier: MIT
#include "report/explain.h"

#include "base/request.h"
#include "report/format.h"

#include <fmt/format.h>

namespace vramlab::report {

using events::event;
using events::event_type;

explainer::explainer(u64 bo, std::vector<process_config> processes, bool lru_order)
    : bo_(bo), lru_order_(lru_order), names_(std::move(processes))
{
}

void explainer::note_walk(const event &e)
{
    if (e.type == event_type::charge_failed && !e.bo)
        return; // the cgroup's; TTM's follows, with the BO
    walk &w = walks_[e.process];
    switch (e.type) {
    case event_type::alloc_failed:
    case event_type::charge_failed:
        if (w.evictor != e.bo)
            w = {};
        w.evictor = e.bo;
        w.no_space_bytes = e.type == event_type::alloc_failed ? e.b : e.c;
        break;
    case event_type::evict_skipped:
        if (w.evictor != e.bo2)
            w = {};
        w.evictor = e.bo2;
        w.skipped[e.bo] = e.where ? e.where : "?";
        break;
    case event_type::evict_begin:
        if (w.evictor != e.bo2)
            w = {};
        w.evictor = e.bo2;
        break;
    case event_type::move:
        if (e.flag && e.a == domain_vram) {
            w.evicted++;
            w.evicted_bytes += e.c;
        }
        break;
    default:
        break;
    }
}

// ---- creation and destruction

void explainer::creation_ends(const event &e)
{
    const std::string what = fmt::format(
        "created by {} (VM {}): {}, prefers {}{}{}{}{}, priority {}", names_(last_.process), last_.vm,
        format_bytes(last_.size_bytes), domain_names(last_.preferred),
        last_.allowed ? ", allows " + domain_names(last_.allowed) : "",
        is_private() ? ", private to the VM" : "", last_.flags & bo_contiguous ? ", contiguous" : "",
        last_.flags & bo_explicit_sync ? ", explicit sync" : "", last_.priority);
    const walk &w = walks_[e.process];
    const std::string how = w.evictor == bo_ ? walk_words(w) : "";
    if (e.error) {
        story_.add(e.time_ns, "create failed",
                   fmt::format("creation failed with {}: {}{}", error_name(e.error), what,
                               how.empty() ? "" : "; " + how),
                   color::red);
        destroyed_ = true;
        return;
    }
    std::string where = fmt::format("; placed in {}", domain_names(last_.domain));
    if (!(last_.preferred & last_.domain)) {
        gtt_preferred_ = last_.preferred == domain_vram;
        where += fmt::format(" because VRAM had no room that could be made{}",
                             how.empty() ? "" : " (" + how + ")");
        if (gtt_preferred_)
            where += "; from now on GTT is a preferred domain too, so nobody will be evicted for it";
        outside_why_ = "creation found no room in VRAM";
    } else if (!how.empty()) {
        where += ", " + how;
    }
    if (is_private() && last_.domain && !(last_.preferred & last_.domain) && !gtt_preferred_) {
        on_evicted_list_ = true;
        where += "; on its VM's evicted list: the next submission validates it";
    }
    arrived_ns_ = e.time_ns;
    story_.add(e.time_ns, "create", what + where);
}

void explainer::operation_ends(const event &e)
{
    const operation_info &op = bos_.operation(e.process);
    pending_move_from_ = 0;
    if (op.name == "submit")
        return submission_ends(e);
    walks_.erase(e.process);
    if (e.bo != bo_ || e.error)
        return;
    if (op.name == "bo_destroy" && (!bos_.find(bo_) || !bos_.find(bo_)->handles)) {
        destroyed_ = true;
        story_.add(e.time_ns, "destroy", fmt::format("destroyed by {}", names_(e.process)));
    } else if (op.name == "bo_destroy") {
        story_.add(e.time_ns, "handle", fmt::format("{} closed its handle", names_(e.process)));
    } else if (op.name == "bo_share") {
        story_.add(
            e.time_ns, "share",
            fmt::format("shared with {} (VM {})", names_(bos_.process_of_vm(op.target_vm)), op.target_vm));
    } else if (op.name == "bo_set_priority") {
        story_.add(e.time_ns, "priority", fmt::format("priority {}", last_.priority));
    }
}

// ---- submissions

void explainer::submission_ends(const event &e)
{
    const submission s = submissions_[e.process];
    submissions_.erase(e.process);
    walks_.erase(e.process);
    if (destroyed_ || !known_)
        return;
    const bool mine = is_private() && e.vm == last_.vm;
    if (!e.error && (s.looked_at || mine))
        last_use_ns_ = e.time_ns;
    if (!mine || s.looked_at || last_.domain == domain_vram || !(last_.preferred & domain_vram))
        return;
    if (e.error) {
        story_.add(
            e.time_ns, "not reached",
            fmt::format("its VM's submission failed with {} before it was looked at", error_name(e.error)));
        return;
    }
    outside_count_ = outside_key_ == "not on the list" ? outside_count_ + 1 : 1;
    outside_key_ = "not on the list";
    story_.add(e.time_ns, "not on the list",
               "its VM submitted without looking at it: a private BO is validated only while it is on the "
               "VM's evicted "
               "list, and it left the list when it was validated in an allowed domain",
               color::yellow);
}

void explainer::validated(const event &e)
{
    submission &s = submissions_[e.process];
    const operation_info &op = bos_.operation(e.process);
    const u64 from = pending_move_from_ ? pending_move_from_ : e.b;
    pending_move_from_ = 0;
    if (op.name == "bo_create")
        return; // told when creation ends
    s.looked_at = true;
    on_evicted_list_ = false;
    const walk &w = walks_[e.process];
    const std::string by = fmt::format("{}'s {}", names_(e.process), op.under_way ? op.name : "operation");
    if (e.error == -EDEADLK) {
        story_.add(e.time_ns, "deadlk", fmt::format("{}: validation backed off with -EDEADLK", by));
    } else if (e.c == domain_vram && from == domain_vram && !e.error) {
        return; // where it is wanted: nothing was decided
    } else if (e.c == domain_vram && !e.error) {
        const std::string how = w.evictor == bo_ ? walk_words(w) : "";
        story_.add(e.time_ns, "in",
                   fmt::format("{}: moved from {} into VRAM{}", by, domain_names(from),
                               how.empty() ? "" : ", " + how),
                   color::green);
        outside_why_.clear();
        outside_key_.clear();
        outside_count_ = 0;
    } else if (last_.preferred & domain_vram) {
        std::string key;
        const std::string why = why_outside(e, s, w, &key);
        s.failed_once |= e.error != 0;
        outside_count_ = outside_key_ == key ? outside_count_ + 1 : 1;
        outside_key_ = key;
        outside_why_ = why;
        story_.add(
            e.time_ns, "outside " + key + std::to_string(e.c),
            fmt::format("{}: {} {}: {}", by,
                        e.error ? "validation failed with " + error_name(e.error) + ", in" : "stays in",
                        domain_names(e.c ? e.c : last_.domain), why),
            e.error ? color::red : color::yellow);
    } else if (e.error) {
        story_.add(e.time_ns, "failed", fmt::format("{}: validation failed with {}", by, error_name(e.error)),
                   color::red);
    } else if (from != e.c) {
        story_.add(e.time_ns, "moved",
                   fmt::format("{}: moved from {} to {}", by, domain_names(from), domain_names(e.c)));
    }
}

// ---- evictions, moves, locks

void explainer::evicted(const event &e)
{
    const walk &w = walks_[e.process];
    std::string why = fmt::format("evicted from {} to make room for {}", domain_names(last_.domain),
                                  of_process(e.process, e.bo2));
    if (!e.bo2)
        why = fmt::format("evicted from {} by {}", domain_names(last_.domain), of_process(e.process, 0));
    why += lru_order_ ? ": next in LRU order, " : ": ";
    why += last_use_ns_ == never_ns
               ? "never used by a submission"
               : fmt::format("last used by the submission at {}", format_time(last_use_ns_));
    if (const std::string before = victim_words(w); w.evictor == e.bo2 && !before.empty())
        why += fmt::format(" ({})", before);
    evicted_why_ = why;
    const std::string key = fmt::format("evicted {} {}", e.process, bos_.is_scanout(e.bo2, e.process));
    story_.add(e.time_ns, key, why, color::red);
}

void explainer::moved(const event &e)
{
    arrived_ns_ = e.time_ns;
    if (e.flag) {
        outside_why_.clear();
        outside_key_.clear();
        outside_count_ = 0;
        story_.add(e.time_ns, "moved out",
                   fmt::format("moved from {} to {}{}", domain_names(e.a), domain_names(e.b),
                               is_private() ? "; on its VM's evicted list now" : ""));
        on_evicted_list_ = is_private();
        return;
    }
    // A validation tells the rest; a bounce through GTT has two moves.
    if (e.a && !pending_move_from_)
        pending_move_from_ = e.a;
}

void explainer::skipped(const event &e)
{
    const std::string reason = e.where ? e.where : "?";
    story_.add(e.time_ns, fmt::format("skipped {} {}", reason, e.process),
               fmt::format("looked at for eviction to make room for {}, and left: {}",
                           of_process(e.process, e.bo2), reason),
               color::dim);
}

void explainer::lock(const event &e)
{
    const bool vm_lock = !e.bo && is_private() && e.vm2 == last_.vm;
    if (e.bo != bo_ && !vm_lock)
        return;
    const char *whose = vm_lock ? "its VM's lock" : "its lock";
    if (e.type == event_type::lock_deadlk)
        story_.add(e.time_ns, fmt::format("deadlk {}", e.process),
                   fmt::format("{} asked for {} and had to die: -EDEADLK (held by {}, who is older)",
                               names_(e.process), whose, names_(static_cast<u32>(e.a))));
    else
        story_.add(e.time_ns, fmt::format("contended {}", e.process),
                   fmt::format("{} waited for {}, held by {}", names_(e.process), whose,
                               names_(static_cast<u32>(e.a))));
}

void explainer::record(const event &e)
{
    bos_.record(e);
    if (const bo_info *b = bos_.find(bo_)) {
        last_ = *b;
        known_ = true;
    }
    if (e.bo == bo_ && e.type == event_type::evict_begin)
        evicted(e); // before the walk forgets whom it looked at
    else if (e.bo == bo_ && e.type == event_type::evict_skipped)
        skipped(e);
    note_walk(e);
    switch (e.type) {
    case event_type::op_end:
        if (e.bo == bo_ && bos_.operation(e.process).name == "bo_create")
            creation_ends(e);
        operation_ends(e);
        bos_.forget_ended();
        break;
    case event_type::op_begin:
        submissions_.erase(e.process);
        break;
    case event_type::budget:
        submissions_[e.process].threshold_bytes = e.a;
        break;
    case event_type::lock_contended:
    case event_type::lock_deadlk:
        lock(e);
        break;
    case event_type::move: {
        if (e.bo == bo_)
            moved(e);
        // Evictions count too, as amdgpu counts them: what ctx->bytes_moved says.
        submissions_[e.process].moved_bytes += e.c;
        break;
    }
    case event_type::validate:
        if (e.bo == bo_)
            validated(e);
        break;
    case event_type::pin:
    case event_type::unpin:
        if (e.bo == bo_)
            story_.add(
                e.time_ns, e.type == event_type::pin ? "pin" : "unpin",
                e.error
                    ? fmt::format("pinning it for {} failed with {}", names_(e.process), error_name(e.error))
                    : fmt::format("{} by {}", e.type == event_type::pin ? "pinned in VRAM" : "unpinned",
                                  names_(e.process)));
        break;
    case event_type::flip:
        if (e.bo == bo_)
            story_.add(e.time_ns, "flip", fmt::format("shown by {}", names_(e.process)));
        break;
    case event_type::charge_failed:
        if (e.bo == bo_)
            story_.add(e.time_ns, "charge",
                       fmt::format("charging {} to {}'s cgroup failed with {}", format_bytes(e.c),
                                   names_(e.process), error_name(e.error)));
        break;
    default:
        break;
    }
}

void explainer::finish(u64)
{
    conclusion_ = conclude();
}

std::string explainer::render(const painter &p) const
{
    return story_.render(p) + p.paint(conclusion_, color::bold) + "\n";
}

} // namespace vramlab::report
