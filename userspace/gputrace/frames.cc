// SPDX-License-Identifier: MIT
#include "gputrace/frames.h"

#include "base/request.h"

#include <algorithm>
#include <utility>

namespace vramlab::gputrace {

namespace {

bool worse(const frame_row &a, const frame_row &b)
{
    return a.time_ns != b.time_ns ? a.time_ns > b.time_ns : a.begin_ns < b.begin_ns;
}

} // namespace

frame_probe::frame_probe(trace::trace_reader &in)
{
    gpu_decoder decoder;
    bool first = true;
    for (trace::record r; in.next(r);) {
        if (std::exchange(first, false))
            first_ns = r.time_ns;
        const gpu_event e = decoder.decode(r);
        if (e.kind == gpu_kind::frame)
            marking.insert(in.info().tgid(r.pid));
        else if (e.kind == gpu_kind::vblank)
            vblanks[e.crtc]++;
    }
    has_vblanks = !vblanks.empty();
    for (const auto &[c, count] : vblanks)
        if (count > vblanks[crtc])
            crtc = c;
}

u64 frame_list::interval_at(u64 time_ns) const
{
    return probe_.has_vblanks ? vblank_ : (time_ns - probe_.first_ns) / assumed_period_ns + 1;
}

void frame_list::vblank(u64)
{
    vblank_++;
}

void frame_list::close(frame_row &f)
{
    if (f.end_ns == never_ns) // not marked: its jobs say when it was over
        f.end_ns = f.begin_ns + f.time_ns;
    totals &t = totals_[f.process];
    t.frames++;
    t.time_ns += f.time_ns;
    t.worst_ns = std::max(t.worst_ns, f.time_ns);
    if (worst_.size() == worst_max && !worse(f, worst_.back()))
        return;
    worst_.insert(std::upper_bound(worst_.begin(), worst_.end(), f, worse), std::move(f));
    if (worst_.size() > worst_max)
        worst_.pop_back();
}

void frame_list::begin(s32 process, u64 time_ns)
{
    process_frames &p = processes_[process];
    if (p.open.size() == open_max) {
        close(p.open.front());
        p.open.erase(p.open.begin());
    }
    frame_row f;
    f.process = process;
    f.number = ++p.count;
    f.begin_ns = time_ns;
    p.open.push_back(std::move(f));
}

// The frame that was under way then, if it is still remembered.
frame_row *frame_list::at(s32 process, u64 time_ns)
{
    const auto it = processes_.find(process);
    if (it == processes_.end())
        return nullptr;
    std::vector<frame_row> &open = it->second.open;
    for (auto f = open.rbegin(); f != open.rend(); ++f)
        if (f->begin_ns <= time_ns)
            return &*f;
    return nullptr;
}

// The frame that ends here began frame_ns ago; what was submitted before is that of the one before.
void frame_list::mark(s32 process, const gpu_event &e, u64 time_ns)
{
    process_frames &p = processes_[process];
    if (p.open.empty() || p.open.back().end_ns != never_ns)
        begin(process, time_ns - std::min(e.frame_ns, time_ns));
    frame_row &f = p.open.back();
    f.number = e.number;
    f.begin_ns = time_ns - std::min(e.frame_ns, time_ns);
    f.end_ns = time_ns;
    f.time_ns = e.frame_ns;
    begin(process, time_ns);
}

void frame_list::queued(s32 process, u64 time_ns)
{
    process_frames &p = processes_[process];
    if (probe_.marking.count(process)) {
        if (p.open.empty())
            begin(process, time_ns);
        return;
    }
    const u64 now = interval_at(time_ns);
    if (now && p.interval != now) // 0: before the first vblank that the trace has, nobody knows
        begin(process, time_ns);
    p.interval = now;
}

void frame_list::done(s32 process, const job &j, s32 behind, u64 behind_ns)
{
    frame_row *f = at(process, j.queue_ns == never_ns ? j.start_ns : j.queue_ns);
    if (!f)
        return;
    f->jobs++;
    f->busy_ns += j.busy_ns();
    f->wait_ns += j.wait_ns();
    if (!probe_.marking.count(process))
        f->time_ns = std::max(f->time_ns, j.done_ns - f->begin_ns);
    if (f->longest.done_ns == never_ns || j.busy_ns() > f->longest.busy_ns())
        f->longest = j;
    if (f->slowest.done_ns == never_ns || j.wait_ns() > f->slowest.wait_ns()) {
        f->slowest = j;
        f->behind = behind;
        f->behind_ns = behind_ns;
    }
}

void frame_list::moved(s32 process, const gpu_event &e, u64 time_ns)
{
    frame_row *f = at(process, time_ns);
    if (!f)
        return;
    f->in_bytes += e.to == domain_vram ? e.bytes : 0;
    f->out_bytes += e.from == domain_vram && e.to != domain_vram ? e.bytes : 0;
    const auto larger = [](const frame_move &a, const frame_move &b) { return a.bytes > b.bytes; };
    const frame_move m{time_ns, e.bo, e.bytes, e.from, e.to};
    f->moves.insert(std::upper_bound(f->moves.begin(), f->moves.end(), m, larger), m);
    if (f->moves.size() > 3)
        f->moves.pop_back();
}

// A marked frame that the trace cuts off is none.
void frame_list::finish()
{
    for (auto &[process, p] : processes_)
        for (frame_row &f : p.open)
            if (f.end_ns != never_ns || !probe_.marking.count(process))
                close(f);
    processes_.clear();
}

} // namespace vramlab::gputrace
