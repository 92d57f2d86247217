// SPDX-License-Identifier: MIT
#include "bounds/stall_ways.h"

#include <algorithm>
#include <bit>

namespace vramlab::bounds {

namespace {

instance only_emptied(const stall_instance &in)
{
    return {in.vram_bytes, static_cast<u32>(in.steps.size()), {}, in.emptied, 0};
}

} // namespace

stall_ways::stall_ways(const stall_instance &in, const std::vector<window_shape> &shapes,
                       const stall_prices &p)
    : in_(in), sum_(in.steps.size() + 1), emptied_before_(in.steps.size()), empties_(only_emptied(in)),
      difference_(in.steps.size() + 1)
{
    u32 last = 0;
    auto next = in.emptied.begin();
    for (u32 s = 0; s < in.steps.size(); s++) {
        prices_.push_back(prices_of(shapes[s], p.weights[s]));
        sum_[s + 1] = sum_[s] + p.vram.price[s];
        for (; next != in.emptied.end() && *next <= s; ++next)
            last = *next;
        emptied_before_[s] = last;
    }
    make_table();
}

// To be copied in window p costs, for each byte, what a copy costs there and VRAM from p on: less its sum up
// to p.
void stall_ways::make_table()
{
    const u32 n = static_cast<u32>(in_.steps.size());
    const auto cost = [&](u32 p) { return wide{prices_[p].early} - sum_[p]; };
    std::vector<u32> level(n);
    for (u32 p = 0; p < n; p++)
        level[p] = p;
    least_.push_back(level);
    for (u32 width = 1; 2 * width <= n; width *= 2) {
        const std::vector<u32> &half = least_.back();
        std::vector<u32> whole(n - 2 * width + 1);
        for (u32 p = 0; p < whole.size(); p++)
            whole[p] = cost(half[p + width]) < cost(half[p]) ? half[p + width] : half[p];
        least_.push_back(std::move(whole));
    }
}

u32 stall_ways::cheapest(u32 first, u32 end) const
{
    const auto cost = [&](u32 p) { return wide{prices_[p].early} - sum_[p]; };
    const u32 level = static_cast<u32>(std::bit_width(end - first)) - 1;
    const u32 a = least_[level][first], b = least_[level][end - (1u << level)];
    return cost(b) < cost(a) ? b : a;
}

wide stall_ways::absent_units(const stall_use &u) const
{
    return vram_units_up(u.vram_bytes, in_.vram_bandwidth, in_.link_bandwidth);
}

void stall_ways::choose_outside(const stall_object &o, std::size_t j, wide leave)
{
    const stall_use &u = o.uses[j];
    const window_prices &p = prices_[u.step];
    choice &c = choices_[j];
    c.outside = wide{p.now} * o.size_bytes + c.in;
    c.how = step_kind::now;
    const u32 free_from = std::max(j ? o.uses[j - 1].step + 1 : o.born, emptied_before_[u.step]);
    if (free_from < u.step) {
        const u32 at = cheapest(free_from, u.step);
        const wide early = wide{prices_[at].early} * o.size_bytes + held(at, u.step, o.size_bytes) + c.in;
        if (early < c.outside) {
            c.outside = early;
            c.how = step_kind::early;
            c.early_at = at;
        }
    }
    if (u.link_bytes == must_be_in_vram)
        return;
    const wide absent = (absent_units(u) * p.absent + weight_one - 1) >> fraction_bits;
    const wide remote = wide{u.link_bytes} * p.remote - absent + leave;
    if (remote < c.outside) {
        c.outside = remote;
        c.how = step_kind::remote;
    }
}

void stall_ways::choose(const stall_object &o)
{
    choices_.assign(o.uses.size(), {});
    for (std::size_t j = o.uses.size(); j-- > 0;) {
        const stall_use &u = o.uses[j];
        choice &c = choices_[j];
        const bool last = j + 1 == o.uses.size();
        const wide leave = last ? wide{0} : choices_[j + 1].outside;
        wide onward = leave;
        if (!last && !empties_.between(u.step + (u.link_bytes == must_be_in_vram), o.uses[j + 1].step)) {
            const wide kept = held(u.step + 1, o.uses[j + 1].step, o.size_bytes) + choices_[j + 1].in;
            c.keep = kept < leave;
            onward = std::min(leave, kept);
        }
        c.in = held(u.step, u.step + 1, o.size_bytes) + onward;
        choose_outside(o, j, leave);
    }
}

void stall_ways::walk(const stall_object &o, bool born_in, priced_stall &to)
{
    const auto occupy = [&](u32 from, u32 end) {
        difference_[from] += static_cast<s64>(o.size_bytes);
        difference_[end] -= static_cast<s64>(o.size_bytes);
    };
    bool in = born_in;
    if (in)
        occupy(o.born, o.uses[0].step);
    for (std::size_t j = 0; j < o.uses.size(); j++) {
        const choice &c = choices_[j];
        const stall_use &u = o.uses[j];
        window_load &load = to.loads[u.step];
        if (!in && c.how == step_kind::remote) {
            load.remote += wide{u.link_bytes} << fraction_bits;
            load.absent += absent_units(u);
            continue;
        }
        if (!in && c.how == step_kind::now) {
            load.now += wide{o.size_bytes} << fraction_bits;
        } else if (!in) {
            to.loads[c.early_at].early += wide{o.size_bytes} << fraction_bits;
            occupy(c.early_at, u.step);
        }
        in = c.keep;
        occupy(u.step, in ? o.uses[j + 1].step : u.step + 1);
    }
}

void stall_ways::add(const stall_object &o, priced_stall &to)
{
    if (o.uses.empty())
        return;
    choose(o);
    const u32 first = o.uses[0].step;
    wide best = choices_[0].outside;
    bool born_in = false;
    if (!empties_.between(o.born, first)) {
        const wide there = held(o.born, first, o.size_bytes) + choices_[0].in;
        born_in = there < best;
        best = std::min(best, there);
    }
    to.bound += best;
    walk(o, born_in, to);
}

void stall_ways::finish(priced_stall &to) const
{
    to.wanted_bytes.resize(in_.steps.size());
    s64 wanted = 0;
    for (u32 s = 0; s < in_.steps.size(); s++) {
        wanted += difference_[s];
        to.wanted_bytes[s] = static_cast<u64>(wanted);
        to.bound += prices_[s].constant - (sum_[s + 1] - sum_[s]) * in_.vram_bytes;
    }
}

} // namespace vramlab::bounds
