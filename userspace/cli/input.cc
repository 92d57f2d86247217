// SPDX-License-Identifier: MIT
#include "cli/input.h"

#include "backend/kernel_backend.h"
#include "backend/sim_backend.h"
#include "cli/mechanism_settings.h"
#include "driver/policy.h"
#include "runner/executor.h"
#include "workload/scenario.h"

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <stdexcept>

namespace vramlab::cli {

namespace fs = std::filesystem;

void add_input_options(CLI::App &c, input &in)
{
    c.add_option("--set", in.settings, "Override a key or parameter of the scenario: PATH=VALUE (repeatable)")
        ->type_name("PATH=VALUE")
        ->expected(1)
        ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll)
        ->allow_extra_args(false);
    c.add_option("--seed", in.seed, "Seed of the scenario and of policies that draw");
}

workload::workload load(const std::string &file, const input &in)
{
    std::vector<workload::setting> settings = scenario_settings(in.settings);
    if (in.seed && fs::path(file).extension() == ".toml")
        settings.push_back({"seed", fmt::format("{}", *in.seed)});
    workload::workload w = workload::load(file, settings);
    if (w.name.empty())
        w.name = fs::path(file).stem().string();
    return w;
}

void add_backend_option(CLI::App &c, backend_kind &kind)
{
    static const std::map<std::string, backend_kind> kinds{{"model", backend_kind::model},
                                                           {"kernel", backend_kind::kernel},
                                                           {"kernel-here", backend_kind::kernel_here}};
    c.add_option("--backend", kind,
                 "model, kernel (boots a guest with vttm), or kernel-here (this kernel has vttm)")
        ->transform(CLI::CheckedTransformer(kinds).description(""))
        ->type_name("BACKEND");
}

std::string mainline_policy()
{
    return std::string(driver::policy_names().front());
}

std::string find_policy(const std::string &name)
{
    const auto &names = driver::policy_names();
    if (std::find(names.begin(), names.end(), name) != names.end())
        return name;
    if (name == "mainline")
        return mainline_policy();
    throw std::runtime_error(
        fmt::format("no policy \"{}\", expected one of {}", name, fmt::join(names, ", ")));
}

mechanisms kernel_mechanisms(const std::string &policy)
{
    if (const auto m = driver::make_policy(policy)->kernel_mechanisms())
        return *m;
    std::vector<std::string_view> names;
    for (const std::string_view name : driver::policy_names())
        if (driver::make_policy(name)->kernel_mechanisms())
            names.push_back(name);
    throw std::runtime_error(
        fmt::format("policy {} exists only on the model, expected one of {} on the kernel", policy,
                    fmt::join(names, ", ")));
}

std::unique_ptr<backend::memory_backend> make_backend(backend_kind kind, const std::string &policy,
                                                      const input &in)
{
    if (kind == backend_kind::model) {
        auto p = driver::make_policy(policy, in.seed.value_or(1));
        p->set_times(times_of(in.settings));
        return std::make_unique<backend::sim_backend>(std::move(p));
    }
    backend::kernel_options options;
    options.mechanisms = kernel_mechanisms(policy);
    options.times = times_of(in.settings);
    return std::make_unique<backend::kernel_backend>(options);
}

int guarded(const std::string &file, const std::function<int()> &body)
{
    try {
        return body();
    } catch (const runner::workload_error &e) {
        fmt::print(stderr, "vramlab: {}{}: {}\n", file, e.line() ? fmt::format(":{}", e.line()) : "",
                   e.what());
    } catch (const std::exception &e) {
        fmt::print(stderr, "vramlab: {}\n", e.what());
    }
    return 2;
}

std::string scenario_directory()
{
    std::vector<fs::path> candidates;
    if (const char *dir = std::getenv("VRAMLAB_SCENARIOS"))
        return dir;
    std::error_code ignored;
    const fs::path executable = fs::read_symlink("/proc/self/exe", ignored);
    for (fs::path dir = executable.parent_path(); dir.has_relative_path(); dir = dir.parent_path())
        candidates.push_back(dir / "userspace" / "scenarios");
#ifdef VRAMLAB_SOURCE_ROOT
    candidates.push_back(fs::path(VRAMLAB_SOURCE_ROOT) / "userspace" / "scenarios");
#endif
    for (const fs::path &dir : candidates)
        if (fs::is_directory(dir, ignored))
            return fs::weakly_canonical(dir).string();
    throw std::runtime_error(
        "the scenarios were not found: set VRAMLAB_SCENARIOS to userspace/scenarios of the vramlab sources");
}

std::string calibration_directory()
{
    return (std::filesystem::path(scenario_directory()).parent_path() / "calibration").string();
}

std::vector<std::string> files_in(const std::string &directory)
{
    std::vector<std::string> out;
    for (const fs::directory_entry &e : fs::directory_iterator(directory)) {
        const std::string name = e.path().filename().string();
        if (e.is_regular_file() &&
            (name.ends_with(".toml") || name.ends_with(".jsonl") || name.ends_with(".jsonl.zst")))
            out.push_back(e.path().string());
    }
    std::sort(out.begin(), out.end());
    return out;
}

} // namespace vramlab::cli
