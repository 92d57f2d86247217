// SPDX-License-Identifier: MIT
#include "bounds/stall_prices.h"

#include "bounds/stall_ways.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace vramlab::bounds {

priced_stall evaluate(const stall_instance &in, const std::vector<window_shape> &shapes,
                      const stall_prices &p)
{
    priced_stall out;
    out.loads.resize(in.steps.size());
    stall_ways ways(in, shapes, p);
    for (const stall_object &o : in.objects)
        ways.add(o, out);
    ways.finish(out);
    return out;
}

stall_prices even_prices(const stall_instance &in, const std::vector<window_shape> &shapes, u32 link, u32 now)
{
    stall_prices p{{std::vector<u64>(in.steps.size())}, std::vector<facet_weights>(in.steps.size())};
    for (std::size_t s = 0; s < shapes.size(); s++) {
        const std::size_t last = shapes[s].count - 1;
        facet_weights &w = p.weights[s];
        w.fill(0);
        w[last] = link;
        // The plain facet's twin, with copies before the job, is half of those before the last further on.
        w[shapes[s].plain + last / 2] += now;
        w[shapes[s].plain] += weight_one - link - now;
    }
    return p;
}

namespace {

// Where to look first: the same price of VRAM for all windows, such that about as much is wanted as there is.
void find_flat_price(const stall_instance &in, const std::vector<window_shape> &shapes, stall_prices &p)
{
    u64 low = 0, high = u64{1} << fraction_bits;
    for (int i = 0; i < 12 && low < high; i++) {
        const u64 middle = low + (high - low) / 2;
        std::fill(p.vram.price.begin(), p.vram.price.end(), middle);
        wide sum = 0;
        for (u64 wanted : evaluate(in, shapes, p).wanted_bytes)
            sum += wanted;
        if (sum > wide{in.vram_bytes} * in.steps.size())
            low = middle + 1;
        else
            high = middle;
    }
    std::fill(p.vram.price.begin(), p.vram.price.end(), low);
}

// One step of the prices of VRAM along what is wanted beyond it; false: nothing to gain.
bool step_vram(const stall_instance &in, const priced_stall &at, double gap, price_list &prices)
{
    double norm = 0;
    const auto over = [&](std::size_t s) {
        return static_cast<double>(at.wanted_bytes[s]) - static_cast<double>(in.vram_bytes);
    };
    for (std::size_t s = 0; s < in.steps.size(); s++)
        if (over(s) > 0 || prices.price[s])
            norm += over(s) * over(s);
    if (norm == 0)
        return false;
    for (std::size_t s = 0; s < in.steps.size(); s++) {
        const double next = static_cast<double>(prices.price[s]) + gap / norm * over(s);
        prices.price[s] = next > 0 ? static_cast<u64>(std::llround(std::min(next, 1e15))) : 0;
    }
    return true;
}

// The nearest weights that are not negative and add up to 1 (Held, Wolfe, Crowder 1974).
void project(std::array<double, facets_max> &w, std::size_t count)
{
    std::array<double, facets_max> sorted = w;
    std::sort(sorted.begin(), sorted.begin() + static_cast<std::ptrdiff_t>(count), std::greater<>());
    double sum = 0, shift = 0;
    for (std::size_t i = 0; i < count; i++) {
        sum += sorted[i];
        const double candidate = (sum - 1) / static_cast<double>(i + 1);
        if (sorted[i] > candidate)
            shift = candidate;
    }
    for (std::size_t i = 0; i < count; i++)
        w[i] = std::max(w[i] - shift, 0.0);
}

facet_weights whole_weights(const std::array<double, facets_max> &w, std::size_t count)
{
    facet_weights out{};
    u32 left = weight_one;
    for (std::size_t i = 1; i < count; i++) {
        out[i] = std::min(static_cast<u32>(std::max(w[i], 0.0) * weight_one), left);
        left -= out[i];
    }
    out[0] = left;
    return out;
}

// One step of each window's weights towards its longest facets.
bool step_weights(const std::vector<window_shape> &shapes, const priced_stall &at, double gap,
                  std::vector<facet_weights> &weights)
{
    double norm = 0;
    std::vector<std::array<double, facets_max>> off(shapes.size());
    for (std::size_t s = 0; s < shapes.size(); s++) {
        double mean = 0;
        for (std::size_t i = 0; i < shapes[s].count; i++) {
            off[s][i] = static_cast<double>(shapes[s].facets[i].value(at.loads[s])) / weight_one;
            mean += off[s][i] * weights[s][i] / weight_one;
        }
        for (std::size_t i = 0; i < shapes[s].count; i++) {
            off[s][i] -= mean;
            if (off[s][i] > 0 || weights[s][i])
                norm += off[s][i] * off[s][i];
        }
    }
    if (norm == 0)
        return false;
    for (std::size_t s = 0; s < shapes.size(); s++) {
        std::array<double, facets_max> w{};
        for (std::size_t i = 0; i < shapes[s].count; i++)
            w[i] = static_cast<double>(weights[s][i]) / weight_one + gap / weight_one / norm * off[s][i];
        project(w, shapes[s].count);
        weights[s] = whole_weights(w, shapes[s].count);
    }
    return true;
}

} // namespace

best_stall_prices find_stall_prices(const stall_instance &in, const std::vector<window_shape> &shapes,
                                    wide upper, u32 iterations)
{
    best_stall_prices best{even_prices(in, shapes, 0, 0), 0};
    best.bound = evaluate(in, shapes, best.prices).bound;
    for (const auto &[link, now] : {std::pair{0u, 0u},
                                    {weight_one, 0u},
                                    {0u, weight_one},
                                    {weight_one / 2, 0u},
                                    {weight_one / 2, weight_one / 2},
                                    {0u, weight_one / 2}}) {
        if (best.bound >= upper)
            return best;
        stall_prices p = even_prices(in, shapes, link, now);
        find_flat_price(in, shapes, p);
        if (const wide bound = evaluate(in, shapes, p).bound; bound > best.bound)
            best = {std::move(p), bound};
    }
    stall_prices at = best.prices;
    double scale = 1;
    for (u32 i = 0, since_better = 0; i < iterations && best.bound < upper; i++) {
        const priced_stall p = evaluate(in, shapes, at);
        if (p.bound > best.bound) {
            best = {at, p.bound};
            since_better = 0;
        } else if (++since_better == 12) {
            scale /= 2;
            since_better = 0;
            at = best.prices;
            continue;
        }
        const double gap = scale * static_cast<double>(upper - p.bound);
        const bool moved = i % 2 ? step_vram(in, p, gap, at.vram) : step_weights(shapes, p, gap, at.weights);
        if (!moved && !(i % 2 ? step_weights(shapes, p, gap, at.weights) : step_vram(in, p, gap, at.vram)))
            break;
    }
    return best;
}

} // namespace vramlab::bounds
