// SPDX-License-Identifier: MIT
#include "bounds/stall_schedule.h"

#include "bounds/schedule.h"

#include <algorithm>

namespace vramlab::bounds {

namespace {

// The question about traffic that the prices make of it.
instance traffic_question(const stall_instance &in, const std::vector<window_prices> &prices)
{
    instance out{in.vram_bytes, static_cast<u32>(in.steps.size()), {}, in.emptied, 0};
    for (const stall_object &o : in.objects) {
        object &to = out.objects.emplace_back(object{o.size_bytes, o.born, {}});
        for (const stall_use &u : o.uses) {
            const window_prices &p = prices[u.step];
            const wide absent =
                vram_units_up(u.vram_bytes, in.vram_bandwidth, in.link_bandwidth) * p.absent >> fraction_bits;
            const wide cost = std::max((wide{u.link_bytes} * p.remote - absent) >> fraction_bits, wide{0});
            to.uses.push_back(
                {u.step, u.link_bytes == must_be_in_vram ? must_be_in_vram : static_cast<u64>(cost)});
        }
    }
    return out;
}

// Of a byte that is moved, in 1/move_weight_one: the mean over all windows.
u32 mean_move_weight(const std::vector<window_prices> &prices)
{
    u64 sum = 0;
    for (const window_prices &p : prices)
        sum += p.now;
    return prices.empty() ? 0 : static_cast<u32>((sum / prices.size()) >> (fraction_bits - 8));
}

class timing {
public:
    timing(const stall_instance &in, const schedule_log &log)
        : in_(in), windows_(in.steps.size()), taken_(log.vram_bytes)
    {
        for (std::size_t s = 0; s < windows_.size(); s++) {
            windows_[s].vram_bytes = in.steps[s].vram_bytes;
            windows_[s].link_bytes = in.steps[s].fixed_link_bytes;
        }
        for (const schedule_log::entry &e : log.entries) {
            const stall_object &o = in.objects[e.object];
            if (e.move)
                windows_[e.step].now_bytes += o.size_bytes;
            else
                read_remotely(e.step, o);
        }
    }

    // Copies that a job would wait for, into windows before it.
    void copy_early(const schedule_log &log)
    {
        for (auto e = log.entries.rbegin(); e != log.entries.rend(); ++e)
            if (e->move && ns_of(windows_[e->step].now_bytes) > in_.steps[e->step].gap_ns)
                copy_early(*e);
    }

    u64 lost_ns() const
    {
        s64 lost = 0;
        for (std::size_t s = 0; s < windows_.size(); s++)
            lost += static_cast<s64>(length_ns(s)) - static_cast<s64>(ideal_ns(s));
        return lost > 0 ? static_cast<u64>(lost) : 0;
    }

private:
    struct window {
        u64 vram_bytes = 0; // read by its job
        u64 link_bytes = 0;
        u64 now_bytes = 0; // copied before its job
        u64 early_bytes = 0;
    };
    // How far before its use a copy is tried.
    static constexpr u32 windows_back = 256;

    void read_remotely(u32 step, const stall_object &o)
    {
        const auto u = std::lower_bound(o.uses.begin(), o.uses.end(), step,
                                        [](const stall_use &a, u32 s) { return a.step < s; });
        windows_[step].vram_bytes -= u->vram_bytes;
        windows_[step].link_bytes += u->link_bytes;
    }

    void copy_early(const schedule_log::entry &e)
    {
        const u64 size = in_.objects[e.object].size_bytes;
        u32 first = std::max(e.outside_from, e.step > windows_back ? e.step - windows_back : 0);
        for (u32 emptied : in_.emptied)
            if (emptied <= e.step)
                first = std::max(first, emptied);
        for (u32 p = e.step; p-- > first;) {
            if (taken_[p] + size > in_.vram_bytes)
                return;
            window &w = windows_[p];
            if (ns_of(w.link_bytes + w.now_bytes + w.early_bytes + size) > length_ns(p))
                continue;
            w.early_bytes += size;
            windows_[e.step].now_bytes -= size;
            for (u32 held = p; held < e.step; held++)
                taken_[held] += size;
            return;
        }
    }

    u64 quotient_up(u64 bytes, u64 bandwidth) const
    {
        return static_cast<u64>((u128{bytes} * ns_per_s + bandwidth - 1) / bandwidth);
    }
    u64 ns_of(u64 link_bytes) const { return quotient_up(link_bytes, in_.link_bandwidth); }

    u64 job_ns(std::size_t s, u64 vram_bytes, u64 link_bytes) const
    {
        const u64 c = in_.steps[s].compute_ns, v = quotient_up(vram_bytes, in_.vram_bandwidth);
        return in_.overlap ? std::max({c, v, ns_of(link_bytes)}) : c + v + ns_of(link_bytes);
    }
    u64 ideal_ns(std::size_t s) const
    {
        const stall_step &step = in_.steps[s];
        return step.gap_ns + job_ns(s, step.vram_bytes, step.fixed_link_bytes);
    }
    u64 length_ns(std::size_t s) const
    {
        const window &w = windows_[s];
        return std::max(std::max(in_.steps[s].gap_ns, ns_of(w.now_bytes)) +
                            job_ns(s, w.vram_bytes, w.link_bytes),
                        ns_of(w.link_bytes + w.now_bytes + w.early_bytes));
    }

    const stall_instance &in_;
    std::vector<window> windows_;
    std::vector<u64> taken_; // of VRAM, by window
};

} // namespace

std::optional<u64> schedule_stall(const stall_instance &in, const std::vector<window_shape> &shapes,
                                  const stall_prices &p)
{
    std::vector<window_prices> prices;
    for (std::size_t s = 0; s < shapes.size(); s++)
        prices.push_back(prices_of(shapes[s], p.weights[s]));
    schedule_log log;
    if (!schedule(traffic_question(in, prices), p.vram, mean_move_weight(prices), &log))
        return std::nullopt;
    timing t(in, log);
    t.copy_early(log);
    return t.lost_ns();
}

} // namespace vramlab::bounds
