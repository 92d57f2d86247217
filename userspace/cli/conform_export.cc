// SPDX-License-Identifier: MIT
// vramlab conform --export: a workload, as a rule one that conform has shrunk, as the source of an IGT test.
#include "cli/conform_export.h"

#include "cli/input.h"
#include "cli/output.h"
#include "runner/experiment.h"
#include "runner/igt_export.h"

#include <fmt/format.h>

#include <stdexcept>

namespace vramlab::cli {

int export_igt_test(const workload::workload &w, backend::memory_backend &model, const std::string &policy,
                    const std::string &path)
{
    const mechanisms switches = kernel_mechanisms(policy);
    runner::recorder recorder(model);
    const runner::experiment x = run_experiment(w, recorder);
    if (!x.run.failures.empty())
        throw std::runtime_error(
            fmt::format("{}: {}: {}", w.name, x.run.failures[0].invariant, x.run.failures[0].message));
    const std::string state = model.state();
    std::vector<std::string> verdicts;
    for (const runner::verdict &v : x.verdicts)
        verdicts.push_back(fmt::format("{}: {} ({}).", runner::expectation_words(*v.expected),
                                       v.pass ? "holds" : "does not hold", runner::value_words(v)));
    const std::string source = runner::igt_source({w, recorder.calls(), state, policy, switches, verdicts});
    atomic_file out(path);
    std::fputs(source.c_str(), out.stream());
    out.commit();
    fmt::print("{}: subtest {}, {} calls, as {}\n", path, runner::igt_subtest_name(w),
               recorder.calls().size(), policy);
    for (const std::string &verdict : verdicts)
        fmt::print("{}\n", verdict);
    return 0;
}

} // namespace vramlab::cli
