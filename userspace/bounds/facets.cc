// SPDX-License-Identifier: MIT
#include "bounds/facets.h"

#include <algorithm>

namespace vramlab::bounds {

namespace {

// Quotients are rounded so that a window's facet never says more than is true: what the job itself needs down
// (left of a minus: up).
wide exact_vram(u64 vram_bytes, u64 vram_bandwidth, u64 link_bandwidth)
{
    return (wide{vram_bytes} << fraction_bits) * link_bandwidth / vram_bandwidth;
}

void add(window_shape &s, const facet &f)
{
    s.facets[s.count++] = f;
}

// Compute, then VRAM, then the link.
void add_facets_in_turn(window_shape &s, wide gap, wide ideal_up, wide fixed, wide link)
{
    const wide job = fixed + link - ideal_up; // 0, or what rounding takes
    add(s, {.constant = job, .remote = true, .absent = true});
    add(s, {.constant = job - gap, .remote = true, .absent = true, .now = true});
    add(s, {.constant = link - gap - ideal_up, .remote = true, .now = true, .early = true});
}

// All at once: the longest of the three counts.
void add_facets_overlapping(window_shape &s, wide gap, wide ideal_up, wide compute, wide vram, wide link)
{
    for (const bool now : {false, true}) {
        const wide before = ideal_up + (now ? gap : wide{0});
        add(s, {.constant = compute - before, .now = now});
        add(s, {.constant = vram - before, .absent = true, .now = now});
        add(s, {.constant = link - before, .remote = true, .now = now});
    }
    add(s, {.constant = link - gap - ideal_up, .remote = true, .now = true, .early = true});
}

} // namespace

wide window_shape::longest(const window_load &l) const
{
    wide most = facets[0].value(l);
    for (std::size_t i = 1; i < count; i++)
        most = std::max(most, facets[i].value(l));
    return most;
}

wide link_units(u64 ns, u64 link_bandwidth)
{
    return (wide{ns} * link_bandwidth << fraction_bits) / ns_per_s;
}

wide vram_units_up(u64 vram_bytes, u64 vram_bandwidth, u64 link_bandwidth)
{
    return ((wide{vram_bytes} << fraction_bits) * link_bandwidth + vram_bandwidth - 1) / vram_bandwidth;
}

u64 whole_ns_up(wide units, u64 link_bandwidth)
{
    const wide unit = wide{link_bandwidth} << fraction_bits;
    return static_cast<u64>((units * ns_per_s + unit - 1) / unit);
}

std::vector<window_shape> shapes_of(const stall_instance &in)
{
    std::vector<window_shape> out(in.steps.size());
    const u64 rate = in.link_bandwidth;
    const auto whole_up = [](u64 bytes, u64 bandwidth) {
        return static_cast<u64>((u128{bytes} * ns_per_s + bandwidth - 1) / bandwidth);
    };
    for (std::size_t i = 0; i < out.size(); i++) {
        const stall_step &s = in.steps[i];
        const u64 v = whole_up(s.vram_bytes, in.vram_bandwidth), l = whole_up(s.fixed_link_bytes, rate);
        const u64 ideal_ns = in.overlap ? std::max({s.compute_ns, v, l}) : s.compute_ns + v + l;
        const wide ideal_up = link_units(ideal_ns, rate) + 1, gap = link_units(s.gap_ns, rate) + 1;
        const wide compute = link_units(s.compute_ns, rate);
        const wide vram = exact_vram(s.vram_bytes, in.vram_bandwidth, rate);
        const wide link = wide{s.fixed_link_bytes} << fraction_bits;
        if (in.overlap) {
            add_facets_overlapping(out[i], gap, ideal_up, compute, vram, link);
            out[i].plain = ideal_ns == s.compute_ns ? 0 : ideal_ns == v ? 1 : 2;
        } else {
            add_facets_in_turn(out[i], gap, ideal_up, compute + vram, link);
        }
    }
    return out;
}

window_prices prices_of(const window_shape &s, const facet_weights &w)
{
    window_prices p;
    for (std::size_t i = 0; i < s.count; i++) {
        const facet &f = s.facets[i];
        p.remote += f.remote ? w[i] : 0;
        p.absent += f.absent ? w[i] : 0;
        p.now += f.now ? w[i] : 0;
        p.early += f.early ? w[i] : 0;
        p.constant += f.constant * w[i] / weight_one - 1; // never too much, whatever its sign
    }
    return p;
}

} // namespace vramlab::bounds
