// SPDX-License-Identifier: MIT
// Two scalars, fitted to two data without derivatives: the first by bracketing, so that the first datum is
// reached, inside a search over the second for the other datum. Where that has no solution, the least misfit
// that steps in all four directions find. Nothing is drawn: the same model gives the same fit.
#pragma once

#include "base/types.h"

#include <array>
#include <functional>

namespace vramlab::calibration {

using scalars = std::array<u64, 2>;
using two_data = std::array<double, 2>;

// What the model says of a datum (0 or 1) with these scalars. May be called from several threads at a time.
using model_fn = std::function<double(std::size_t datum, const scalars &at)>;
// Calls work(0) .. work(count - 1), in any order, on as many threads as it likes.
using for_all_fn = std::function<void(std::size_t count, const std::function<void(std::size_t)> &work)>;
void one_by_one(std::size_t count, const std::function<void(std::size_t)> &work);

struct fit_problem {
    scalars first{}; // both ranges include their ends
    scalars last{};
    two_data wanted{};
    double close_enough = 0; // of both data: reached
};

struct fit_trial {
    scalars at{};
    two_data got{};
    double misfit = 0; // sum of squared differences
};

struct fit_result {
    fit_trial best;
    bool reached = false; // both data within close_enough
    std::size_t runs = 0; // of the model for one datum
};

// The model should rise with the first scalar. If it does not, or jumps, the result is still the best of what
// was tried.
fit_result fit(const fit_problem &problem, const model_fn &model, const for_all_fn &for_all = one_by_one);

} // namespace vramlab::calibration
