// SPDX-License-Identifier: MIT
// Draws of all priors within a spread, and whether a ranking of policies survives them.
#pragma once

#include "calibration/scene.h"

namespace vramlab::calibration {

inline constexpr u64 draw_seed = 1; // of whoever draws for people: the same draws everywhere

// The priors of draw number `draw`, in the plan's order: each that may vary is multiplied by a factor drawn
// evenly from 1 - spread to 1 + spread (in per mille, so that it is the same everywhere). Each prior has a
// stream of its own.
struct drawn {
    std::vector<u64> priors;
    u64 link = 0;
    u32 clamped = 0; // that would have left the range that a scenario takes, or gone below their least
};
drawn draw_priors(const plan &p, u64 seed, u64 draw);

// Settings of the link, to go after the priors'.
std::vector<std::string> link_settings(const plan &p, u64 link);

// Numbers of the policies, the smallest value first; equal ones as they are listed.
std::vector<std::size_t> ranking_of(const std::vector<double> &values);

// Of all draws, by pair of policies that lie further apart than the tie at the fit.
struct pair_verdict {
    std::size_t better = 0; // at the fit
    std::size_t worse = 0;
    std::size_t reversed = 0; // draws in which the worse one is better by more than the tie
};
struct ranking_verdict {
    std::vector<std::size_t> ranking; // at the fit
    std::vector<pair_verdict> pairs;
    std::size_t draws = 0;
    std::size_t holds = 0; // draws without a reversed pair
};
// at_fit and each of draws: the metric (smaller is better) by policy.
ranking_verdict judge_ranking(const std::vector<double> &at_fit,
                              const std::vector<std::vector<double>> &draws, u32 tie_per_mille);

} // namespace vramlab::calibration
