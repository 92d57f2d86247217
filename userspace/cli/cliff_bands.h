// SPDX-License-Identifier: MIT
// The cliff with what is not known of it: every prior of a calibration plan drawn many times, and where most
// of the results lie.
#pragma once

#include "calibration/plan.h"
#include "cli/sweep.h"

#include <string>
#include <vector>

namespace vramlab::cli {

struct cliff_steps {
    std::string file;
    std::string parameter; // that makes the demand
    std::vector<u32> percent;
};

// Items of all draws: by draw, then by step. What `a` sets itself is not drawn. Throws what demand_solver
// throws. clamped: how many drawn values would have left what a scenario takes.
struct drawn_items {
    std::vector<sweep_item> items;
    u64 clamped = 0;
};
drawn_items draw_items(const sweep_arguments &a, const calibration::plan &plan, const cliff_steps &steps,
                       u64 draws);

// Of one step, policy and column: percentiles by nearest rank over the draws that have a value.
struct band {
    double low = 0; // 10th
    double median = 0;
    double high = 0; // 90th
    std::size_t draws = 0;
};
band band_of(std::vector<double> values);
band band_at(const sweep_table &t, std::size_t steps, std::size_t step, std::size_t policy,
             std::size_t column);

// One line a step, policy and column.
std::string bands_csv(const sweep_arguments &a, const cliff_steps &steps, const sweep_table &t);
std::string bands_json(const sweep_arguments &a, const cliff_steps &steps, const sweep_table &t);

} // namespace vramlab::cli
