// SPDX-License-Identifier: MIT
// Everything that `vramlab calibrate` finds out, as a text for people and as JSON.
#pragma once

#include "calibration/draws.h"
#include "calibration/predict.h"
#include "report/table.h"

#include <string>
#include <vector>

namespace vramlab::cli {

struct calibration_report {
    const calibration::plan *plan = nullptr;
    std::vector<calibration::prediction> predictions;
    std::string predictions_file;
    std::string overrides; // --set and --seed as typed, empty if none
    u32 scale = 1;

    double close_enough = 0;
    calibration::fit_result fit;
    struct other_seed {
        u64 seed = 0;
        calibration::two_data got{};
    };
    std::vector<other_seed> other_seeds;
    std::vector<calibration::outcome> outcomes; // by prediction
    struct ranking {
        u64 demand_bytes = 0;
        std::vector<double> at_fit; // by policy
        calibration::ranking_verdict verdict;
    };
    std::vector<ranking> rankings;
    u64 draws = 0;
    u64 clamped = 0; // values of priors in all draws
};

std::string calibration_text(const calibration_report &r, const report::painter &p);
std::string calibration_json(const calibration_report &r);

} // namespace vramlab::cli
