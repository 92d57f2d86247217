// SPDX-License-Identifier: MIT
// Expectations of a workload against the metrics of a run.
#pragma once

#include "report/metrics.h"
#include "report/table.h"
#include "workload/workload.h"

#include <string>
#include <string_view>
#include <vector>

namespace vramlab::runner {

struct verdict {
    const workload::expectation *expected = nullptr; // of the workload, which must outlive this
    double value = 0;
    bool pass = false;
};

// Before a run: every metric has a name of Documentation/metrics.rst. Throws workload_error with the
// expectation's line.
void check_expectations(const workload::workload &w);

// In the order of the workload.
std::vector<verdict> evaluate(const workload::workload &w, const report::metrics &m);

// Whether the expectation's fails_on, a list with commas, has this policy or mutant.
bool fails_on(const workload::expectation &e, std::string_view name);

// "failed_submissions of compositor == 0".
std::string expectation_words(const workload::expectation &e);
// The measured value with its unit.
std::string value_words(const verdict &v);

// One line each: PASS or FAIL, what was expected, what was found, why it is right.
std::string print_verdicts(const std::vector<verdict> &verdicts, const report::painter &p);

} // namespace vramlab::runner
