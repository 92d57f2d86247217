// SPDX-License-Identifier: MIT
#include "calibration/draws.h"

#include "base/rng.h"
#include "workload/limits.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

namespace vramlab::calibration {

drawn draw_priors(const plan &p, u64 seed, u64 draw)
{
    drawn d;
    const rng of_draw = rng(seed).fork(draw);
    for (std::size_t i = 0; i < p.priors.size(); i++) {
        const prior &one = p.priors[i];
        if (!one.vary) {
            d.priors.push_back(one.value);
            continue;
        }
        rng r = of_draw.fork(i);
        const u32 spread = p.draws.spread_per_mille;
        const u64 factor = r.between(1000 - spread, 1000 + spread);
        const u64 wanted = static_cast<u64>((u128{one.value} * factor + 500) / 1000);
        const u64 least = std::max(one.first, one.unit == quantity::rate ? workload::bandwidth_min : u64{0});
        const u64 value = std::clamp(wanted, least, quantity_max(one.unit));
        d.clamped += value != wanted;
        d.priors.push_back(value);
    }
    d.link = p.draws.links[draw % p.draws.links.size()];
    return d;
}

std::vector<std::string> link_settings(const plan &p, u64 link)
{
    return {fmt::format("{}={}", p.draws.link_path, link)};
}

std::vector<std::size_t> ranking_of(const std::vector<double> &values)
{
    std::vector<std::size_t> order(values.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::stable_sort(order.begin(), order.end(),
                     [&](std::size_t a, std::size_t b) { return values[a] < values[b]; });
    return order;
}

ranking_verdict judge_ranking(const std::vector<double> &at_fit,
                              const std::vector<std::vector<double>> &draws, u32 tie_per_mille)
{
    const double apart = 1 + tie_per_mille / 1000.0;
    ranking_verdict v;
    v.ranking = ranking_of(at_fit);
    for (std::size_t i = 0; i < v.ranking.size(); i++)
        for (std::size_t j = i + 1; j < v.ranking.size(); j++)
            if (at_fit[v.ranking[j]] > at_fit[v.ranking[i]] * apart)
                v.pairs.push_back({v.ranking[i], v.ranking[j], 0});
    v.draws = draws.size();
    for (const std::vector<double> &values : draws) {
        bool holds = true;
        for (pair_verdict &p : v.pairs)
            if (values[p.better] > values[p.worse] * apart) {
                p.reversed++;
                holds = false;
            }
        v.holds += holds;
    }
    return v;
}

} // namespace vramlab::calibration
