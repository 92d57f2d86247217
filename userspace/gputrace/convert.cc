// SPDX-License-Identifier: MIT
#include "gputrace/convert.h"

#include "report/gpuvis_formats.h"
#include "trace/record_builder.h"

#include <algorithm>
#include <array>
#include <stdexcept>
#include <utility>

namespace vramlab::gputrace {

namespace {

using news = job_tracker::news;

gpu_kind kind_of(news n)
{
    return n == news::queued ? gpu_kind::queue : n == news::ran ? gpu_kind::run : gpu_kind::done;
}

// gpuvis draws it as it is.
bool is_drawn(const gpu_event &e, const trace::event_format &f)
{
    const bool known =
        e.by == dialect::fence || (e.by == dialect::amdgpu && f.find("context") && f.find("seqno"));
    return known && gpuvis_timelines::has_row(e.engine);
}

// Text traces: IDs of what is read grow from 1 on, and nobody has so many.
constexpr u16 id_max = 0xffff;

class translator {
public:
    explicit translator(const trace::trace_info &info)
    {
        const report::gpuvis_formats &g = report::gpuvis_formats::get();
        formats_ = {g.cs_ioctl, g.run_job, g.fence_signaled};
        u16 id = id_max;
        for (trace::event_format &f : formats_) {
            while (std::any_of(info.formats.begin(), info.formats.end(),
                               [&](const auto &x) { return x->id == id; }))
                id--;
            f.id = id--;
        }
    }

    // r: the record that told it, which becomes the one to be added.
    void translate(trace::record &r, news what, const job &j, const engine &n, const std::string &timeline)
    {
        const bool done = what == news::done;
        const trace::event_format &f = formats_[what == news::queued ? 0 : done ? 2 : 1];
        builder_.start(f, r.pid);
        if (done)
            builder_.text(0, "drm_sched");
        builder_.text(done, timeline);
        builder_.number(done + 1u, j.context);
        builder_.number(done + 2u, j.seqno);
        if (!done) {
            builder_.text(3, n.label);
            builder_.number(4, 1);
        }
        r.format = &f;
        r.data = builder_.data();
        r.order = trace::byte_order::little;
        r.lost = 0;
    }

private:
    std::array<trace::event_format, 3> formats_;
    trace::record_builder builder_;
};

} // namespace

dialect_probe::dialect_probe(trace::trace_reader &in)
{
    gpu_decoder decoder;
    job_tracker tracker;
    for (trace::record r; in.next(r);) {
        const gpu_event e = decoder.decode(r);
        const job_tracker::step s = tracker.take(e, r.time_ns, r.pid);
        if (s.of && is_drawn(e, *r.format))
            note(s.of->engine, e);
    }
    engines_ = tracker.engines();
    timelines_ = gpuvis_timelines(engines_, drawn_);
}

void dialect_probe::note(u32 engine, const gpu_event &e)
{
    if (engine >= told_.size()) {
        told_.resize(engine + std::size_t{1});
        drawn_.resize(engine + std::size_t{1});
        signaled_.resize(engine + std::size_t{1});
    }
    std::string &timeline = e.by == dialect::fence ? signaled_[engine] : drawn_[engine];
    if (timeline.empty())
        timeline = e.engine;
    if (e.by != dialect::fence)
        told_[engine] = static_cast<u8>(told_[engine] | 1u << static_cast<u32>(e.kind));
}

bool dialect_probe::told(u32 engine, gpu_kind kind) const
{
    if (engine >= told_.size())
        return false;
    // Fences of two devices have the same names of timelines.
    if (kind == gpu_kind::done)
        return signaled_[engine] == timelines_.of(engine);
    return told_[engine] >> static_cast<u32>(kind) & 1;
}

conversion convert(trace::trace_reader &in, const dialect_probe *probe, record_sink &out)
{
    gpu_decoder decoder;
    job_tracker tracker;
    translator t(in.info());
    conversion c;
    for (trace::record r; in.next(r);) {
        c.events++;
        c.lost_gaps += r.lost != 0;
        c.lost += r.lost == never_ns ? 0 : r.lost;
        const gpu_event e = decoder.decode(r);
        out.write(r, in.info());
        const job_tracker::step s = tracker.take(e, r.time_ns, r.pid);
        // The old scheduler's jobs have no number that all three steps say; gpuvis draws them by itself.
        if (s.what == news::none || !probe || e.by == dialect::drm_sched_old ||
            probe->told(s.of->engine, kind_of(s.what)))
            continue;
        t.translate(r, s.what, *s.of, tracker.engines()[s.of->engine], probe->timelines().of(s.of->engine));
        out.write(r, in.info());
        c.added++;
    }
    tracker.finish();
    out.finish(in.info(), in.kallsyms());
    c.dropped = out.dropped();
    c.without_key = decoder.without_key();
    c.incomplete = decoder.incomplete();
    c.jobs = tracker.counts();
    return c;
}

} // namespace vramlab::gputrace
