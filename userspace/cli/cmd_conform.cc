// SPDX-License-Identifier: MIT
// vramlab conform: model against kernel. On the host it boots guests and adds up what they report; in a guest
// (--here) it compares. Exit status: 0 all equal, 1 something differs, 2 it could not be done.
#include "cli/cmd_conform.h"

#include "backend/kernel_backend.h"
#include "backend/sim_backend.h"
#include "cli/conform_export.h"
#include "cli/exchange_directory.h"
#include "cli/input.h"
#include "cli/mechanism_settings.h"
#include "driver/policy.h"
#include "runner/conform_batch.h"
#include "runner/guest.h"
#include "workload/scenario.h"
#include "workload/swarm.h"

#include <CLI/CLI.hpp>
#include <charconv>
#include <filesystem>
#include <fmt/format.h>
#include <fstream>
#include <nlohmann/json.hpp>
#include <stdexcept>

namespace vramlab::cli {

namespace fs = std::filesystem;

namespace {

struct conform_arguments {
    std::vector<std::string> files;
    std::vector<std::string> settings;
    std::string policy = "mainline";
    std::string swarm; // "1000" or "5..8"
    u64 start = 1;     // first seed, where swarm is a count
    u32 operations = 200;
    bool edge_cases = false;
    bool crowded = false;
    bool self = false;
    bool no_shrink = false;
    u32 max_failures = 5;
    u32 jobs = 1;
    std::string json;
    std::string output_dir = ".";
    // Between host and guest.
    bool here = false;
    bool free_running = false;
    std::string report;
    std::string export_to;
};

struct seed_range {
    u64 first = 1;
    u64 count = 0;
};

u64 parse_number(std::string_view text)
{
    u64 n = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), n);
    if (error != std::errc() || end != text.data() + text.size())
        throw std::runtime_error(fmt::format("--swarm: '{}' is no number", text));
    return n;
}

seed_range parse_seeds(const conform_arguments &a)
{
    if (a.swarm.empty())
        return {};
    const std::size_t dots = a.swarm.find("..");
    if (dots == std::string::npos)
        return {a.start, parse_number(a.swarm)};
    const u64 first = parse_number(std::string_view(a.swarm).substr(0, dots));
    const u64 last = parse_number(std::string_view(a.swarm).substr(dots + 2));
    if (last < first)
        throw std::runtime_error(fmt::format("--swarm: {} is before {}", last, first));
    return {first, last - first + 1};
}

workload::workload load(const conform_arguments &a, const std::string &file)
{
    workload::workload w = workload::load(file, scenario_settings(a.settings));
    if (w.name.empty())
        w.name = fs::path(file).stem().string();
    return w;
}

// Calls fn with each workload until it returns false.
template <typename Fn> void for_each_workload(const conform_arguments &a, Fn &&fn)
{
    for (const std::string &file : a.files)
        if (!fn(load(a, file)))
            return;
    const seed_range seeds = parse_seeds(a);
    workload::swarm_options o;
    o.operations = a.operations;
    o.edge_cases = a.edge_cases;
    o.crowded = a.crowded;
    for (u64 i = 0; i < seeds.count; i++)
        if (!fn(workload::make_swarm(seeds.first + i, o)))
            return;
}

// Tasks of a workload really in parallel, on the real clock. Nothing to compare: only how operations end is
// counted.
runner::batch_result run_free(const conform_arguments &a)
{
    backend::kernel_options options;
    options.free_running = true;
    options.mechanisms = kernel_mechanisms(find_policy(a.policy));
    options.times = times_of(a.settings);
    backend::kernel_backend kernel(options);
    runner::batch_result result;
    for_each_workload(a, [&](const workload::workload &w) {
        const runner::run_result r = runner::execute(w, kernel);
        result.workloads++;
        for (const runner::op_result &op : r.results)
            if (op.done) {
                result.operations++;
                result.errors[op.r.error]++;
            }
        return true;
    });
    return result;
}

std::unique_ptr<backend::sim_backend> make_model(const conform_arguments &a)
{
    auto p = driver::make_policy(find_policy(a.policy));
    p->set_times(times_of(a.settings));
    return std::make_unique<backend::sim_backend>(std::move(p));
}

runner::batch_result compare_here(const conform_arguments &a)
{
    const std::string policy = find_policy(a.policy);
    const auto model = make_model(a);
    std::unique_ptr<backend::memory_backend> other;
    if (a.self) {
        other = make_model(a);
    } else {
        backend::kernel_options options;
        options.mechanisms = kernel_mechanisms(policy);
        options.times = times_of(a.settings);
        other = std::make_unique<backend::kernel_backend>(options);
    }
    runner::batch_options o;
    o.shrink = !a.no_shrink;
    o.failures_max = a.max_failures;
    o.output_dir = a.output_dir;
    runner::conform_batch batch(*model, *other, o);
    batch.expect(a.files.size() + parse_seeds(a).count);
    for_each_workload(a, [&](const workload::workload &w) { return batch.run(w); });
    return batch.result();
}

std::vector<std::string> guest_arguments(const conform_arguments &a, const seed_range &seeds,
                                         const std::string &exchange, u32 job)
{
    std::vector<std::string> words = {"conform",        "--here",
                                      "--report",       fmt::format("{}/job{}.json", exchange, job),
                                      "--output-dir",   exchange,
                                      "--operations",   std::to_string(a.operations),
                                      "--max-failures", std::to_string(a.max_failures)};
    if (a.edge_cases)
        words.push_back("--edge-cases");
    if (a.crowded)
        words.push_back("--crowded");
    if (a.no_shrink)
        words.push_back("--no-shrink");
    if (a.free_running)
        words.push_back("--free-running");
    for (const std::string &s : a.settings)
        words.push_back("--set=" + s);
    words.push_back("--policy=" + a.policy);
    if (seeds.count) {
        words.push_back("--swarm");
        words.push_back(fmt::format("{}..{}", seeds.first, seeds.first + seeds.count - 1));
    }
    if (job == 0) // files go to the first guest
        for (const std::string &file : a.files)
            words.push_back(fs::absolute(file).string());
    return words;
}

// Failing workloads out of the exchange directory.
void keep_files(runner::batch_result &r, const std::string &output_dir)
{
    for (runner::batch_failure &f : r.failures) {
        if (f.file.empty())
            continue;
        const fs::path to = fs::path(output_dir) / fs::path(f.file).filename();
        fs::copy_file(f.file, to, fs::copy_options::overwrite_existing);
        f.file = to.string();
    }
}

runner::batch_result compare_in_guests(const conform_arguments &a)
{
    for (const std::string &file : a.files)
        load(a, file); // its mistakes are told before anything boots
    const runner::guest guest;
    const exchange_directory exchange;
    const seed_range all = parse_seeds(a);
    const u32 jobs = static_cast<u32>(std::max<u64>(1, std::min<u64>(a.jobs, all.count)));
    const u64 timeout_s = 3600 + all.count * 10 + a.files.size() * 3600;
    std::vector<pid_t> pids;
    for (u32 job = 0; job < jobs; job++) {
        seed_range part;
        part.first = all.first + all.count * job / jobs;
        part.count = all.first + all.count * (job + 1) / jobs - part.first;
        pids.push_back(guest.start(guest_arguments(a, part, exchange.path(), job), exchange.path(), timeout_s,
                                   !a.json.empty(), a.free_running ? 0 : 1));
    }
    runner::batch_result result;
    std::string problem;
    for (u32 job = 0; job < jobs; job++) {
        const int status = runner::guest::wait(pids[job]);
        std::ifstream in(fmt::format("{}/job{}.json", exchange.path(), job));
        if (in)
            result.add(runner::batch_from_json(nlohmann::json::parse(in)));
        if (!in || (status != 0 && status != 1))
            problem = fmt::format(
                "the guest ended with status {} ({} run; 'make kernel' builds the kernel it boots)", status,
                guest.vm_script());
    }
    keep_files(result, a.output_dir);
    if (!problem.empty()) {
        if (result.workloads)
            fmt::print(stderr, "{}", result.summary());
        throw std::runtime_error(problem);
    }
    return result;
}

void write_json(const runner::batch_result &r, const std::string &file)
{
    const std::string text = runner::to_json(r).dump(2) + "\n";
    if (file == "-") {
        fmt::print("{}", text);
        return;
    }
    std::ofstream out(file);
    out << text;
    if (!out.flush())
        throw std::runtime_error(fmt::format("cannot write {}", file));
}

int conform(const conform_arguments &a)
{
    if (a.files.empty() && a.swarm.empty())
        throw std::runtime_error("nothing to compare: name workloads or scenarios, or --swarm SEEDS");
    times_of(a.settings);
    if (!a.export_to.empty()) {
        if (a.files.size() != 1 || !a.swarm.empty())
            throw std::runtime_error("--export: expected one workload or scenario");
        return export_igt_test(load(a, a.files[0]), *make_model(a), find_policy(a.policy), a.export_to);
    }
    if (!a.self)
        kernel_mechanisms(find_policy(a.policy)); // a mistake is told before anything boots
    const bool here = a.here || a.self || runner::in_guest();
    runner::batch_result r;
    if (!here)
        r = compare_in_guests(a);
    else
        r = a.free_running ? run_free(a) : compare_here(a);
    if (!a.report.empty())
        write_json(r, a.report);
    else if (!a.json.empty())
        write_json(r, a.json);
    if (a.report.empty() && a.json != "-")
        fmt::print("{}", r.summary());
    return r.failures.empty() ? 0 : 1;
}

} // namespace

void add_conform_command(CLI::App &app, int &status)
{
    auto a = std::make_shared<conform_arguments>();
    CLI::App *c =
        app.add_subcommand("conform", "Compare the model with the kernel's TTM, operation by operation");
    c->add_option("workload", a->files, "Scenarios (.toml) and workloads (.jsonl, .jsonl.zst)")
        ->check(CLI::ExistingFile);
    c->add_option("--set", a->settings, "Override a scenario's parameter, PATH=VALUE (repeatable)")
        ->allow_extra_args(false);
    c->add_option("--policy", a->policy, "Of both sides: one that the kernel can do (`vramlab list`)")
        ->capture_default_str();
    c->add_option("--swarm", a->swarm, "Random workloads: how many, or a range of seeds A..B");
    c->add_option("--start", a->start, "First seed")->capture_default_str();
    c->add_option("--operations", a->operations, "Operations of a random workload")->capture_default_str();
    c->add_flag("--edge-cases", a->edge_cases, "Random workloads with arguments that must be refused");
    c->add_flag("--crowded", a->crowded, "Random workloads in which several want nearly all of VRAM at once");
    c->add_flag("--self", a->self, "Compare the model with itself; needs no kernel");
    c->add_flag("--no-shrink", a->no_shrink, "Do not look for the smallest workload that differs");
    c->add_option("--max-failures", a->max_failures, "Stop after so many workloads that differ")
        ->capture_default_str();
    c->add_option("--jobs", a->jobs, "Guests at a time")->capture_default_str()->check(CLI::Range(1, 64));
    c->add_option("--json", a->json, "Write the counts and differences to FILE (- is standard output)");
    c->add_option("--output-dir", a->output_dir, "Where workloads that differ are written")
        ->capture_default_str()
        ->check(CLI::ExistingDirectory);
    c->add_flag("--free-running", a->free_running,
                "Compare nothing: run on the kernel alone, in parallel on the real clock, and count errors");
    c->add_flag("--here", a->here, "The kernel of this machine has vttm: boot no guest");
    c->add_option("--export", a->export_to,
                  "Compare nothing: write the model's run of the workload as the source of an IGT test")
        ->type_name("FILE.c");
    c->add_option("--report", a->report)->group("");
    c->callback([a, &status] {
        try {
            status = conform(*a);
        } catch (const std::exception &e) {
            fmt::print(stderr, "vramlab: {}\n", e.what());
            status = 2;
        }
    });
}

} // namespace vramlab::cli
