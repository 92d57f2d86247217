// SPDX-License-Identifier: MIT
#include "runner/experiment.h"

#include "report/event_json.h"

#include <fmt/format.h>

#include <algorithm>

namespace vramlab::runner {

bool experiment::good() const
{
    return run.failures.empty() &&
           std::all_of(verdicts.begin(), verdicts.end(), [](const verdict &v) { return v.pass; });
}

experiment run_experiment(const workload::workload &w, backend::memory_backend &b,
                          const experiment_options &o)
{
    check_expectations(w);
    experiment x{report::metrics(w.system.processes), {}, {}, {}, {}};
    report::event_tee tee;
    tee.add(&x.metrics);
    for (events::event_sink *sink : o.sinks)
        tee.add(sink);
    std::optional<bound_recorder> recorder;
    if (o.bounds)
        tee.add(&recorder.emplace(w));
    executor_options options;
    options.sink = &tee;
    options.progress = o.progress;
    if (o.after_operation)
        options.after_operation = [&](const operation_report &r) {
            o.after_operation(r);
            return true;
        };
    try {
        x.run = execute(w, b, options);
        if (o.keep_state)
            x.state = b.state();
    } catch (const std::logic_error
                 &e) { // the model is in a state that the kernel could not be in: its bug, not the input's
        x.run.results.resize(w.operations.size());
        x.run.failures.push_back({"model", e.what(), 0, 0});
        x.run.end_ns = x.metrics.last_event_ns();
    }
    x.metrics.finish(x.run.end_ns);
    if (recorder && recorder->usable() && x.run.failures.empty()) {
        x.bounds = bounds_of(*recorder, x.metrics);
        if (auto failure = below_bound(*x.bounds))
            x.run.failures.push_back(std::move(*failure));
    }
    x.verdicts = evaluate(w, x.metrics);
    return x;
}

std::string print_failures(const run_result &r, const std::string &file, const report::painter &p)
{
    std::string out;
    for (const invariant_failure &f : r.failures)
        out +=
            fmt::format("{}  invariant {}: operation {}{}: {}\n", p.paint("FAIL", report::color::red),
                        f.invariant, f.index, f.line ? fmt::format(" ({}:{})", file, f.line) : "", f.message);
    return out;
}

} // namespace vramlab::runner
