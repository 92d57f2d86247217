// SPDX-License-Identifier: MIT
// The plan's scenario with a demand, scalars and priors: the settings to run it with. And what the caller has
// to do: run them.
#pragma once

#include "calibration/fit.h"
#include "calibration/plan.h"
#include "report/metrics.h"

#include <functional>

namespace vramlab::calibration {

struct run_request {
    std::string scenario; // without directory and ".toml"
    std::string policy;
    std::vector<std::string> settings; // PATH=VALUE, those of mechanisms (ttm.*) too; the last one wins
    u64 seed = 1;
};

struct observation {
    report::metrics metrics;
    u64 flip_evicted_max_bytes = 0; // see flip_evictions
    u64 link_bandwidth = 0;
};

// Runs a scenario on the model; throws if it cannot be run or an invariant fails. May be called from several
// threads at a time.
using run_fn = std::function<observation(const run_request &)>;

// What a run of the scene may have of its own.
struct variation {
    std::vector<u64> priors;       // in the plan's order; none: theirs
    std::vector<std::string> more; // settings, after priors and scalars
    std::string policy;            // empty: the plan's
    u64 seed = 1;
};

class scene {
public:
    // path: of the plan's scenario. overrides: PATH=VALUE, which win over all else but the demand.
    scene(const plan &p, std::string path, std::vector<std::string> overrides);

    // Throws parse_error, also if the demand is less than what the other groups hold.
    run_request request(u64 demand_bytes, const scalars &at, const variation &v = {}) const;

    // Of the plan's process; bytes as they would be without the scenario's scale.
    double value(const observation &o, const std::string &metric) const;
    u32 scale() const { return scale_; }
    const plan &of() const { return plan_; }

private:
    u64 rest_bytes(u64 demand_bytes, const std::vector<std::string> &settings) const;

    const plan &plan_;
    std::string path_;
    std::vector<std::string> overrides_;
    u32 scale_ = 1;
};

// What a plan says of its scenario but what it fits: settings, choices, priors. priors: in the plan's order.
std::vector<std::string> plan_settings(const plan &p, const std::vector<u64> &priors);
// "path=value" for each path of a prior or scalar.
void add_settings(std::vector<std::string> &to, const std::vector<std::string> &paths, quantity unit,
                  u64 value);
// What a metric counts; nullptr for none of that name.
const report::metric_descriptor *find_metric(const std::string &name);
// Of a process of a run of that scenario, bytes times scale. Throws std::runtime_error if there is none.
double metric_value(const observation &o, const std::string &metric, const std::string &process,
                    const std::string &scenario, u32 scale);

} // namespace vramlab::calibration
