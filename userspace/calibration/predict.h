// SPDX-License-Identifier: MIT
// What the fitted model says of the predictions.
#pragma once

#include "calibration/scene.h"

namespace vramlab::calibration {

struct outcome {
    double value = 0;
    bool right = false;
    std::vector<std::pair<u64, double>> curve; // demand in bytes and the metric, for a curve
};

// Names of scalars in `fitted` are those of the plan. Throws parse_error (file: of the predictions) for an
// unknown one, before anything runs.
void check_predictions(const plan &p, const std::vector<prediction> &all, const std::string &file);
// Throws std::runtime_error if a run has no such process or metric, or draws no frame of which a share is
// asked for: nothing that is missing makes a prediction right.
outcome predict(const scene &s, const prediction &p, const scalars &at, const run_fn &run);

} // namespace vramlab::calibration
