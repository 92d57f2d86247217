// SPDX-License-Identifier: MIT
#include "gputrace/stats.h"

#include "base/request.h"

#include <fmt/format.h>

#include <algorithm>

namespace vramlab::gputrace {

namespace {

using news = job_tracker::news;

// Who had an engine lately.
class engine_history {
public:
    void ran(s32 process, u64 start_ns, u64 done_ns)
    {
        last_[next_++ % last_.size()] = {process, start_ns, done_ns};
    }

    // Who had it longest between these times, and how long.
    std::pair<s32, u64> longest(u64 begin_ns, u64 end_ns) const
    {
        std::map<s32, u64> held;
        // Newest first: what ended before is of no interest, nor what was before that.
        for (std::size_t n = next_; n && next_ - n < last_.size(); n--) {
            const use &u = last_[(n - 1) % last_.size()];
            if (u.done_ns <= begin_ns)
                break;
            const u64 b = std::max(u.start_ns, begin_ns), e = std::min(u.done_ns, end_ns);
            if (b < e)
                held[u.process] += e - b;
        }
        std::pair<s32, u64> best{0, 0};
        for (const auto &h : held)
            if (h.second > best.second)
                best = h;
        return best;
    }

private:
    struct use {
        s32 process = 0;
        u64 start_ns = 0;
        u64 done_ns = 0;
    };
    std::array<use, 1024> last_;
    std::size_t next_ = 0;
};

class collector {
public:
    collector(trace::trace_reader &in, const frame_probe &probe) : in_(in), probe_(probe), frames_(probe) {}

    trace_stats run()
    {
        for (trace::record r; in_.next(r);)
            take(r);
        tracker_.finish();
        frames_.finish();
        for (const auto &[process, totals] : frames_.by_process())
            s_.processes[process].frames = totals;
        for (auto &[process, row] : s_.processes)
            row.name = process == pid_unknown ? "(kernel)" : std::string(in_.info().comm(process));
        s_.worst = frames_.worst();
        s_.engines = tracker_.engines();
        s_.jobs = tracker_.counts();
        s_.without_key = decoder_.without_key();
        s_.incomplete = decoder_.incomplete();
        for (const auto &[format, n] : names_)
            s_.names[format->name] += n;
        s_.frames_by = probe_.has_vblanks
                           ? fmt::format("vblanks of crtc {}", probe_.crtc)
                           : std::string("intervals of 16.7 ms (assumed: no vblanks in the trace)");
        if (!probe_.marking.empty())
            s_.frames_by = "marks; without, by " + s_.frames_by;
        return std::move(s_);
    }

private:
    void take(const trace::record &r)
    {
        if (!s_.events++)
            s_.first_ns = r.time_ns;
        s_.last_ns = r.time_ns;
        names_[r.format]++;
        s_.lost_gaps += r.lost != 0;
        s_.lost += r.lost == never_ns ? 0 : r.lost;
        const gpu_event e = decoder_.decode(r);
        const s32 process = in_.info().tgid(r.pid);
        switch (e.kind) {
        case gpu_kind::none:
            return;
        case gpu_kind::vblank:
            if (e.crtc == probe_.crtc)
                frames_.vblank(r.time_ns);
            return;
        case gpu_kind::frame:
            frames_.mark(process, e, r.time_ns);
            return;
        case gpu_kind::bo_move:
            moved(e, process, r.time_ns);
            return;
        default:
            break;
        }
        const job_tracker::step step = tracker_.take(e, r.time_ns, r.pid);
        if (step.what == news::queued)
            frames_.queued(process, r.time_ns);
        else if (step.what == news::done)
            done(*step.of);
    }

    void done(const job &j)
    {
        const s32 process = j.pid == pid_unknown ? pid_unknown : in_.info().tgid(j.pid);
        if (j.engine >= history_.size())
            history_.resize(j.engine + std::size_t{1});
        const auto [behind, behind_ns] =
            j.wait_ns() ? history_[j.engine].longest(j.queue_ns, j.start_ns) : std::pair<s32, u64>(0, 0);
        history_[j.engine].ran(process, j.start_ns, j.done_ns);
        s_.processes[process];
        engine_row &row = s_.by_engine[{process, j.engine}];
        row.jobs++;
        row.busy_ns += j.busy_ns();
        row.wait_ns += j.wait_ns();
        row.longest_wait_ns = std::max(row.longest_wait_ns, j.wait_ns());
        frames_.done(process, j, behind, behind_ns);
        stall({process, j, behind, behind_ns});
    }

    void stall(stall_row n)
    {
        const auto longer = [](const stall_row &a, const stall_row &b) {
            return a.of.wait_ns() > b.of.wait_ns();
        };
        if (!n.of.wait_ns() || (s_.stalls.size() == trace_stats::stalls_max && !longer(n, s_.stalls.back())))
            return;
        s_.stalls.insert(std::upper_bound(s_.stalls.begin(), s_.stalls.end(), n, longer), n);
        if (s_.stalls.size() > trace_stats::stalls_max)
            s_.stalls.pop_back();
    }

    void moved(const gpu_event &e, s32 process, u64 time_ns)
    {
        process_row &row = s_.processes[process];
        const bool in = e.to == domain_vram, out = e.from == domain_vram;
        if (!e.from || in == out) // first placement, or not of VRAM
            return;
        row.moves++;
        (in ? row.in_bytes : row.out_bytes) += e.bytes;
        frames_.moved(process, e, time_ns);
        if (out) {
            left_[e.bo] = time_ns;
            return;
        }
        const auto it = left_.find(e.bo);
        if (it == left_.end())
            return;
        row.reversals += time_ns - it->second <= reversal_ns;
        left_.erase(it);
    }

    trace::trace_reader &in_;
    const frame_probe &probe_;
    frame_list frames_;
    gpu_decoder decoder_;
    job_tracker tracker_;
    trace_stats s_;
    std::vector<engine_history> history_;
    std::unordered_map<const trace::event_format *, u64> names_;
    std::unordered_map<u64, u64> left_; // when, by BO
};

} // namespace

trace_stats collect_stats(trace::trace_reader &in, const frame_probe &probe)
{
    return collector(in, probe).run();
}

} // namespace vramlab::gputrace
