// SPDX-License-Identifier: MIT
#include "gputrace/import.h"

#include "base/request.h"
#include "workload/limits.h"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>

namespace vramlab::gputrace {

namespace {

using news = job_tracker::news;

u64 whole_pages(u64 bytes)
{
    const u64 page = workload::page_bytes;
    return std::clamp((std::min(bytes, workload::size_max_bytes) + page - 1) / page * page, page,
                      workload::size_max_bytes);
}

} // namespace

bool importer::add(item_kind kind, u64 time_ns, u32 p, u32 what, u64 duration_ns)
{
    if (items_.size() == items_max) {
        summary_.too_many++;
        return false;
    }
    items_.push_back({time_ns - first_ns_, duration_ns, what, p, static_cast<u32>(kind)});
    return true;
}

u32 importer::process_of(s32 pid, const trace::trace_info &info)
{
    const s32 tgid = info.tgid(pid);
    const auto it = by_pid_.find(tgid);
    if (it != by_pid_.end())
        return it->second;
    const u32 p = static_cast<u32>(processes_.size());
    by_pid_[tgid] = p;
    processes_.emplace_back();
    processes_.back().pid = tgid;
    return p;
}

void importer::account(const bo &b, bool more)
{
    if (!(b.preferred & domain_vram))
        return;
    process &p = processes_[b.process];
    p.known_bytes += more ? b.bytes : 0 - b.bytes;
    p.peak_bytes = std::max(p.peak_bytes, p.known_bytes);
}

// A BO whose address is used again has gone meanwhile.
void importer::set_domains(bo &b, const gpu_event &e)
{
    b.preferred = e.preferred ? e.preferred : domain_vram;
    b.allowed = e.allowed ? e.allowed | b.preferred : 0;
}

void importer::create(const gpu_event &e, u32 p, u64 time_ns)
{
    if (bos_.size() == workload::bo_max / 2) {
        summary_.too_many++;
        return;
    }
    const auto old = by_address_.find(e.bo);
    if (old != by_address_.end()) {
        bo &o = bos_[old->second];
        if (o.placed && o.process == p && o.bytes == whole_pages(e.bytes)) {
            set_domains(o, e);
            o.placed = false;
            return;
        }
        if (!o.replaced && add(item_kind::destroy, time_ns, o.process, old->second)) {
            o.replaced = true;
            account(o, false);
        }
    }
    bo b;
    b.bytes = whole_pages(e.bytes);
    b.process = p;
    set_domains(b, e);
    b.created = true;
    b.placed = e.kind == gpu_kind::bo_move;
    const u32 index = static_cast<u32>(bos_.size());
    if (!add(item_kind::create, time_ns, p, index))
        return;
    bos_.push_back(b);
    by_address_[e.bo] = index;
    account(b, true);
    processes_[p].tells = true;
    summary_.bos_created++;
}

// One that was there before the trace began, as far as anybody knows: of whoever is first seen with it.
u32 importer::seen_bo(const gpu_event &e, u32 p, u64 &count)
{
    const auto it = by_address_.find(e.bo);
    if (it != by_address_.end())
        return it->second;
    bo b;
    b.bytes = whole_pages(e.bytes);
    b.process = p;
    b.preferred = domain_vram;
    const u32 index = static_cast<u32>(bos_.size());
    bos_.push_back(b);
    by_address_[e.bo] = index;
    account(b, true);
    count++;
    return index;
}

void importer::moved(const gpu_event &e, u32 p, u64 time_ns)
{
    if (!e.from && by_address_.find(e.bo) == by_address_.end()) { // its first placement
        gpu_event c = e;
        c.preferred = e.to;
        create(c, p, time_ns);
        return;
    }
    if (bos_.size() < workload::bo_max / 2)
        seen_bo(e, p, summary_.bos_moved);
    const bool in = e.to == domain_vram, out = e.from == domain_vram;
    if (!e.from || in == out)
        return;
    summary_.moves++;
    (in ? summary_.in_bytes : summary_.out_bytes) += e.bytes;
}

void importer::list_entry(const gpu_event &e, u32 p)
{
    if (list_entries_ == list_entries_max || bos_.size() >= workload::bo_max / 2) {
        summary_.too_many++;
        return;
    }
    list_entries_++;
    const u32 index = seen_bo(e, p, summary_.bos_listed);
    bo &b = bos_[index];
    b.listed = true;
    process &me = processes_[p];
    me.tells = true;
    if (b.process != p) {
        b.shared = true;
        if (std::find(me.shared_in.begin(), me.shared_in.end(), index) == me.shared_in.end())
            me.shared_in.push_back(index);
    }
    if (std::find(me.listing.begin(), me.listing.end(), index) == me.listing.end())
        me.listing.push_back(index);
}

void importer::job_event(const gpu_event &e, const trace::record &r, u32 p, const frame_probe &probe)
{
    const job_tracker::step step = tracker_.take(e, r.time_ns, r.pid);
    if (step.what == news::done) {
        const auto it = job_items_.find(step.of->serial);
        if (it == job_items_.end()) {
            summary_.kernel_jobs += step.of->pid == pid_unknown;
            return;
        }
        items_[it->second].duration_ns = step.of->busy_ns();
        job_items_.erase(it);
        summary_.jobs++;
        summary_.jobs_by_engine[tracker_.engines()[step.of->engine].label]++;
        return;
    }
    if (step.what != news::queued)
        return;
    // Copies are made anew: those of the driver, and those that our own traces tell of.
    if (e.kernel || e.engine == "copy") {
        summary_.kernel_jobs++;
        return;
    }
    process &me = processes_[p];
    const u64 now = probe.has_vblanks ? vblanks_ : (r.time_ns - probe.first_ns) / assumed_period_ns + 1;
    if (!probe.marking.count(me.pid) && now && me.interval != now && add(item_kind::frame, r.time_ns, p, 0))
        summary_.frames++;
    me.interval = now;
    if (!me.listing.empty() && me.listing != me.last_list) {
        me.last_list = me.listing;
        lists_.push_back(me.listing);
        add(item_kind::list, r.time_ns, p, static_cast<u32>(lists_.size() - 1));
        summary_.lists++;
    }
    me.listing.clear();
    if (!add(item_kind::job, r.time_ns, p, 0, never_ns))
        return;
    job_items_[step.of->serial] = items_.size() - 1;
    me.jobs++;
}

void importer::read(trace::trace_reader &in, const frame_probe &probe)
{
    first_ns_ = probe.first_ns;
    summary_.frames_by = probe.has_vblanks ? fmt::format("vblanks of crtc {}", probe.crtc)
                                           : std::string("intervals of 16.7 ms, as there are no vblanks");
    if (!probe.marking.empty())
        summary_.frames_by = "marks; without, by " + summary_.frames_by;
    for (trace::record r; in.next(r);) {
        summary_.events++;
        const gpu_event e = decoder_.decode(r);
        if (e.kind == gpu_kind::queue)
            job_event(e, r, process_of(r.pid, in.info()), probe);
        else if (e.kind == gpu_kind::frame &&
                 add(item_kind::frame, r.time_ns, process_of(r.pid, in.info()), 0))
            summary_.frames++;
        else if (e.kind == gpu_kind::bo_create)
            create(e, process_of(r.pid, in.info()), r.time_ns);
        else if (e.kind == gpu_kind::bo_move)
            moved(e, process_of(r.pid, in.info()), r.time_ns);
        else if (e.kind == gpu_kind::bo_list)
            list_entry(e, process_of(r.pid, in.info()));
        else if (e.kind == gpu_kind::bo_total) {
            process &p = processes_[process_of(r.pid, in.info())];
            p.total_bytes = std::max(p.total_bytes, std::min(e.bytes, workload::size_max_bytes / 64));
        } else if (e.kind == gpu_kind::vblank)
            vblanks_ += e.crtc == probe.crtc;
        else
            job_event(e, r, 0, probe); // whoever takes the interrupt: nobody's
    }
    tracker_.finish();
    summary_.unfinished_jobs = job_items_.size();
    for (process &p : processes_)
        p.name = in.info().comm(p.pid);
    assume();
}

// What nothing says. A process of which only moves are known has more BOs than those that moved.
void importer::assume()
{
    for (process &p : processes_) {
        u64 wanted = p.total_bytes;
        if (!wanted && !p.tells && p.jobs)
            wanted = options_.working_set_bytes;
        if (wanted > p.peak_bytes) {
            p.assumed_bytes = whole_pages(wanted - p.peak_bytes);
            summary_.assumed_bytes += p.assumed_bytes;
            (p.total_bytes ? summary_.completed : summary_.without_bos)++;
        }
        summary_.needed_bytes += p.peak_bytes + p.assumed_bytes;
    }
    for (const bo &b : bos_)
        summary_.shared_bos += b.shared;
    summary_.processes = processes_.size();
    // The largest BO must fit, and a device has some memory.
    const u64 unit = 16 * MiB;
    summary_.vram_bytes = options_.vram_bytes
                              ? whole_pages(options_.vram_bytes)
                              : std::max((summary_.needed_bytes + unit - 1) / unit * unit, unit);
}

} // namespace vramlab::gputrace
