// SPDX-License-Identifier: MIT
// vramlab run: one workload, one policy, one backend.
#include "cli/commands.h"
#include "cli/in_guest.h"
#include "cli/input.h"
#include "cli/output.h"
#include "report/event_json.h"
#include "report/gpuvis_events.h"
#include "report/metrics_print.h"
#include "runner/experiment.h"
#include "workload/writer.h"

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <filesystem>

namespace vramlab::cli {

namespace {

struct run_arguments {
    std::string file;
    input in;
    std::string policy = "mainline";
    backend_kind backend = backend_kind::model;
    std::string write_workload;
    std::string events;
    std::string trace;
    std::string states;
    bool trace_skipped = false;
    bool state = false;
    bool json = false;
};

int run_kernel(const run_arguments &a)
{
    std::vector<std::string> words{"run", std::filesystem::absolute(a.file).string(), "--policy", a.policy};
    for (const std::string &s : a.in.settings)
        words.push_back("--set=" + s);
    if (a.in.seed)
        words.push_back(fmt::format("--seed={}", *a.in.seed));
    if (a.state)
        words.push_back("--state");
    if (a.json)
        words.push_back("--json");
    if (a.trace_skipped)
        words.push_back("--trace-skipped");
    return run_in_guest(std::move(words), {{"--events", a.events},
                                           {"--trace", a.trace},
                                           {"--states", a.states},
                                           {"--write-workload", a.write_workload}});
}

nlohmann::ordered_json to_json(const run_arguments &a, const std::string &policy, const workload::workload &w,
                               const runner::experiment &x)
{
    nlohmann::ordered_json j;
    j["workload"] = w.name;
    j["file"] = a.file;
    j["policy"] = policy;
    j["backend"] = a.backend == backend_kind::model ? "model" : "kernel";
    if (a.in.seed)
        j["seed"] = *a.in.seed;
    j["good"] = x.good();
    j["metrics"] = report::metrics_json(x.metrics);
    j["expectations"] = nlohmann::ordered_json::array();
    for (const runner::verdict &v : x.verdicts)
        j["expectations"].push_back({{"metric", v.expected->metric},
                                     {"process", v.expected->process},
                                     {"relation", v.expected->relation},
                                     {"bound", v.expected->value},
                                     {"value", v.value},
                                     {"pass", v.pass},
                                     {"fails_on", v.expected->fails_on},
                                     {"source", v.expected->source}});
    j["failed_invariants"] = nlohmann::ordered_json::array();
    for (const runner::invariant_failure &f : x.run.failures)
        j["failed_invariants"].push_back(
            {{"invariant", f.invariant}, {"operation", f.index}, {"line", f.line}, {"message", f.message}});
    if (a.state)
        j["state"] = x.state;
    return j;
}

void print(const run_arguments &a, const std::string &policy, const workload::workload &w,
           const runner::experiment &x)
{
    if (a.json) {
        fmt::print("{}\n", to_json(a, policy, w, x).dump(2));
        return;
    }
    const report::painter p = report::painter::for_stream(stdout);
    fmt::print("{}, {}, on the {}\n\n", p.paint(w.name, report::color::bold), policy,
               a.backend == backend_kind::model ? "model" : "kernel");
    fmt::print("{}", report::print_metrics(x.metrics, p));
    const std::string verdicts =
        runner::print_failures(x.run, a.file, p) + runner::print_verdicts(x.verdicts, p);
    if (!verdicts.empty())
        fmt::print("\n{}", verdicts);
    if (a.state)
        fmt::print("\n{}", x.state);
}

// Displays: the periods of vblanks that programs wait for.
std::vector<u64> vblank_periods(const workload::workload &w)
{
    std::vector<u64> periods;
    for (const workload::operation &op : w.operations)
        if (op.kind == workload::op_kind::vblank &&
            std::find(periods.begin(), periods.end(), op.period_ns) == periods.end())
            periods.push_back(op.period_ns);
    return periods;
}

int run(const run_arguments &a)
{
    const std::string policy = find_policy(a.policy);
    const workload::workload w = load(a.file, a.in);
    runner::check_expectations(w);
    if (a.backend == backend_kind::kernel) {
        kernel_mechanisms(policy); // says why not
        return run_kernel(a);
    }
    const auto backend = make_backend(a.backend, policy, a.in);
    std::optional<atomic_file> events_file;
    std::optional<report::event_writer> events;
    runner::experiment_options o;
    o.keep_state = a.state;
    if (!a.events.empty()) {
        events_file.emplace(a.events);
        events.emplace(events_file->stream());
        o.sinks.push_back(&*events);
    }
    std::optional<atomic_file> trace_file;
    std::optional<report::gpuvis_events> trace;
    if (!a.trace.empty()) {
        trace_file.emplace(a.trace);
        trace.emplace(trace_file->stream(), report::gpuvis_options{w.system.processes, vblank_periods(w),
                                                                   "vramlab, " + policy, a.trace_skipped});
        o.sinks.push_back(&*trace);
    }
    std::optional<atomic_file> states_file;
    if (!a.states.empty()) {
        states_file.emplace(a.states);
        o.after_operation = [out = states_file->stream()](const runner::operation_report &r) {
            fmt::print(out, "operation {} {}\n", r.index, runner::op_name(r.op));
            for (const u32 i : r.completed)
                fmt::print(out, "result of {}: error {} seqno {}\n", i, r.results[i].r.error,
                           r.results[i].r.seqno);
            fmt::print(out, "{}\n", r.backend.state());
        };
    }
    std::optional<progress_line> progress(w.name);
    o.progress = [&](u64 operations, u64 now_ns) { progress->show(operations, now_ns); };
    const runner::experiment x = run_experiment(w, *backend, o);
    progress.reset();
    if (!a.write_workload.empty())
        workload::write_file(w, a.write_workload);
    if (events) {
        events->flush();
        events_file->commit(); // which knows of an error of the stream
    }
    if (trace) {
        trace->finish();
        trace_file->commit();
    }
    if (states_file)
        states_file->commit();
    print(a, policy, w, x);
    return x.good() ? 0 : 1;
}

} // namespace

void add_run_command(CLI::App &app, int &status)
{
    auto a = std::make_shared<run_arguments>();
    CLI::App *c = app.add_subcommand(
        "run", "Run a scenario or workload; print what it cost and which expectations hold");
    c->add_option("file", a->file, "Scenario (.toml) or workload (.jsonl, .jsonl.zst)")->required();
    c->add_option("--policy", a->policy, "See `vramlab list`")->capture_default_str();
    add_backend_option(*c, a->backend);
    add_input_options(*c, a->in);
    c->add_option("--write-workload", a->write_workload,
                  "Write the explicit workload to FILE (.jsonl or .jsonl.zst)")
        ->type_name("FILE");
    c->add_option("--events", a->events, "Write every event to FILE, as JSON Lines")->type_name("FILE");
    c->add_option("--trace", a->trace,
                  "Write a trace that gpuvis, KernelShark and trace-cmd read to FILE (trace.dat)")
        ->type_name("FILE");
    c->add_flag("--trace-skipped", a->trace_skipped,
                "Into the trace also what evictions looked at and left; under pressure most of all events");
    c->add_option("--states", a->states,
                  "Write results and state after every operation to FILE, as text; large")
        ->type_name("FILE");
    c->add_flag("--state", a->state,
                "Print the state after the last operation: where every BO is, LRU lists, free blocks");
    c->add_flag("--json", a->json, "Print JSON");
    c->callback([a, &status] { status = guarded(a->file, [&] { return run(*a); }); });
}

} // namespace vramlab::cli
