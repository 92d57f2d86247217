// SPDX-License-Identifier: MIT
// vramlab explain: why is a BO where it is, or why did operations fail.
#include "cli/commands.h"
#include "cli/in_guest.h"
#include "cli/input.h"
#include "cli/output.h"
#include "report/explain.h"
#include "report/explain_failed.h"
#include "report/format.h"
#include "runner/experiment.h"

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <stdexcept>
#include <tuple>

namespace vramlab::cli {

namespace {

struct explain_arguments {
    std::string file;
    u64 bo = 0;
    bool failed = false;
    std::string policy = "mainline";
    backend_kind backend = backend_kind::model;
    input in;
};

// Without a BO: which ones have a story.
class eviction_counter final : public events::event_sink {
public:
    void record(const events::event &e) override
    {
        bos_.record(e);
        if (e.type == events::event_type::move && e.flag && e.a == domain_vram)
            evictions_[e.bo]++;
        if (e.type == events::event_type::op_end)
            bos_.forget_ended();
    }

    std::string render(const report::process_names &names, const report::painter &p)
    {
        std::vector<std::pair<u64, u64>> most; // evictions, bo
        for (const auto &[bo, n] : evictions_)
            if (bos_.find(bo))
                most.emplace_back(n, bo);
        std::stable_sort(most.begin(), most.end(),
                         [](const auto &a, const auto &b) { return a.first > b.first; });
        if (most.size() > 20)
            most.resize(20);
        report::table t({"BO", "of", "size", "evicted", "is in"});
        t.set_align(1, report::align::left);
        for (const auto &[n, bo] : most) {
            const report::bo_info &b = *bos_.find(bo);
            t.add_row({fmt::format("{}", bo), names(b.process),
                       report::format_bytes(static_cast<double>(b.size_bytes)), fmt::format("{} times", n),
                       report::domain_names(b.domain)});
        }
        return t.empty() ? "no BO was evicted from VRAM, or none of those exists any more\n" : t.render(p);
    }

private:
    report::bo_tracker bos_;
    std::map<u64, u64> evictions_;
};

int explain_kernel(const explain_arguments &a)
{
    std::vector<std::string> words{"explain", std::filesystem::absolute(a.file).string(), "--policy",
                                   a.policy};
    if (a.bo)
        words.push_back(std::to_string(a.bo));
    if (a.failed)
        words.push_back("--failed");
    for (const std::string &s : a.in.settings)
        words.push_back("--set=" + s);
    if (a.in.seed)
        words.push_back(fmt::format("--seed={}", *a.in.seed));
    return run_in_guest(std::move(words));
}

int explain(const explain_arguments &a)
{
    const std::string policy = find_policy(a.policy);
    const workload::workload w = load(a.file, a.in);
    runner::check_expectations(w);
    if (a.backend == backend_kind::kernel) {
        kernel_mechanisms(policy); // says why not
        return explain_kernel(a);
    }
    const auto backend = make_backend(a.backend, policy, a.in);
    report::explainer bo(a.bo, w.system.processes, policy != "random-victim");
    report::failure_explainer failed(w.system.processes);
    eviction_counter evicted;
    runner::experiment_options o;
    if (a.bo)
        o.sinks.push_back(&bo);
    if (a.failed)
        o.sinks.push_back(&failed);
    if (!a.bo && !a.failed)
        o.sinks.push_back(&evicted);
    std::optional<progress_line> progress(w.name);
    o.progress = [&](u64 operations, u64 now_ns) { progress->show(operations, now_ns); };
    const runner::experiment x = run_experiment(w, *backend, o);
    progress.reset();
    bo.finish(x.run.end_ns);
    if (a.bo && !bo.known())
        throw std::runtime_error(
            fmt::format("{}: no BO {}, expected a BO of the workload (`vramlab explain {}` lists some)",
                        a.file, a.bo, a.file));
    const report::painter p = report::painter::for_stream(stdout);
    if (a.bo)
        fmt::print("BO {}\n{}", a.bo, bo.render(p));
    if (a.failed)
        fmt::print("{}{}", a.bo ? "\n" : "", failed.render(p));
    if (!a.bo && !a.failed)
        fmt::print("{}", evicted.render(report::process_names(w.system.processes), p));
    const std::string failures = runner::print_failures(x.run, a.file, p);
    fmt::print("{}", failures);
    return failures.empty() ? 0 : 1;
}

} // namespace

void add_explain_command(CLI::App &app, int &status)
{
    auto a = std::make_shared<explain_arguments>();
    CLI::App *c =
        app.add_subcommand("explain", "Tell every decision about a BO, or how failed operations failed");
    c->add_option("file", a->file, "Scenario (.toml) or workload (.jsonl, .jsonl.zst)")->required();
    c->add_option("bo", a->bo, "Tag of the BO; without it, lists the BOs that were evicted most")
        ->type_name("BO");
    c->add_flag("--failed", a->failed,
                "For each failed operation: which error became which, in which function");
    c->add_option("--policy", a->policy, "See `vramlab list`")->capture_default_str();
    add_backend_option(*c, a->backend);
    add_input_options(*c, a->in);
    c->callback([a, &status] { status = guarded(a->file, [&] { return explain(*a); }); });
}

} // namespace vramlab::cli
