// SPDX-License-Identifier: MIT
#include "bounds/link_bound.h"

#include "bounds/exact.h"

#include <algorithm>

namespace vramlab::bounds {

namespace {

u64 whole_bytes_up(wide weighed)
{
    return static_cast<u64>((weighed + move_weight_one - 1) / move_weight_one);
}

// The cheaper of two schedules, weighed.
void improve(std::optional<wide> &best, const std::optional<traffic> &t, u32 move_weight)
{
    if (t && (!best || weighed(*t, move_weight) < *best))
        best = weighed(*t, move_weight);
}

} // namespace

link_bound least_link_bytes(const instance &in, const bound_options &o)
{
    // Prices of 0 make the schedule a greedy one: a first idea of what can be reached.
    const price_list free{std::vector<u64>(in.steps)};
    std::optional<wide> upper;
    improve(upper, schedule(in, free, o.move_weight), o.move_weight);
    const u64 target = upper ? whole_bytes_up(*upper) : u64{1} << 62;
    best_prices best = find_prices(in, o.move_weight, target, o.iterations);
    improve(upper, schedule(in, best.prices, o.move_weight), o.move_weight);
    if (upper && whole_bytes_up(*upper) < target) {
        // Closer to the truth, the same steps lead further.
        best_prices again = find_prices(in, o.move_weight, whole_bytes_up(*upper), o.iterations);
        again.iterations += best.iterations;
        improve(upper, schedule(in, again.prices, o.move_weight), o.move_weight);
        if (again.bound > best.bound)
            best = std::move(again);
    }
    link_bound out;
    out.iterations = best.iterations;
    // Traffic is a whole number of bytes if moves count in full.
    const wide unit = wide{1} << fraction_bits;
    out.lower_bytes = static_cast<u64>(std::max(best.bound, wide{0}) / unit +
                                       (o.move_weight == move_weight_one && best.bound % unit > 0));
    if (!upper)
        return out;
    if (const auto least = least_weighed(in, best.prices, o.move_weight, *upper)) {
        out.exact = true;
        upper = least;
        out.lower_bytes = static_cast<u64>(*least / move_weight_one);
    }
    out.upper_bytes = whole_bytes_up(*upper);
    return out;
}

} // namespace vramlab::bounds
