// SPDX-License-Identifier: MIT
#include "bounds/stall_bound.h"

#include "bounds/stall_schedule.h"

#include <algorithm>
#include <utility>

namespace vramlab::bounds {

namespace {

void improve(std::optional<u64> &best, std::optional<u64> found)
{
    if (found && (!best || *found < *best))
        best = found;
}

u64 lower_of(wide bound, const stall_instance &in)
{
    return bound > 0 ? whole_ns_up(bound, in.link_bandwidth) : 0;
}

} // namespace

stall_bound least_stall(const stall_instance &in, const stall_options &o)
{
    const std::vector<window_shape> shapes = shapes_of(in);
    stall_bound out;
    // Greedy ones: first ideas of what can be reached.
    for (const auto &[link, now] :
         {std::pair{0u, weight_one}, {weight_one, 0u}, {0u, weight_one / 2}, {0u, 0u}})
        improve(out.upper_ns, schedule_stall(in, shapes, even_prices(in, shapes, link, now)));
    if (!out.upper_ns || !*out.upper_ns)
        return out;
    const auto search = [&] {
        const best_stall_prices best =
            find_stall_prices(in, shapes, link_units(*out.upper_ns, in.link_bandwidth), o.iterations);
        out.lower_ns = std::max(out.lower_ns, lower_of(best.bound, in));
        improve(out.upper_ns, schedule_stall(in, shapes, best.prices));
        // Its prices of VRAM with other shares of moves.
        for (const auto &[link, now] : {std::pair{0u, weight_one}, {weight_one / 2, 0u}}) {
            stall_prices p = even_prices(in, shapes, link, now);
            p.vram = best.prices.vram;
            improve(out.upper_ns, schedule_stall(in, shapes, p));
        }
    };
    const u64 first = *out.upper_ns;
    search();
    // Closer to the truth, the same steps lead further.
    if (*out.upper_ns < first - first / 8 && !out.known())
        search();
    return out;
}

} // namespace vramlab::bounds
