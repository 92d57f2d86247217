// SPDX-License-Identifier: MIT
// vramlab bound: how far policies are from the least link traffic that was possible.
#include "bounds/link_bound.h"
#include "cli/commands.h"
#include "cli/comparison.h"
#include "cli/output.h"
#include "cli/parallel.h"
#include "cli/policies.h"
#include "report/format.h"
#include "report/metrics_print.h"
#include "runner/bound_recorder.h"
#include "runner/experiment.h"

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace vramlab::cli {

namespace {

struct bound_arguments : comparison_arguments {
    bool json = false;
};

// A policy's run of a workload beside its bounds.
struct bounded {
    std::string file;
    std::string policy;
    std::size_t workload = 0;
    report::link_traffic link;
    bounds::link_bound bound;
    u64 submissions = 0;
    u64 failed = 0;
    std::string failures; // of invariants
};

std::string ratio(u64 bytes, u64 bound)
{
    if (!bound)
        return bytes ? "-" : "1.00";
    return fmt::format("{:.2f}", static_cast<double>(bytes) / static_cast<double>(bound));
}

void fill(bounded &b, const workload::workload &w, const input &in)
{
    const auto backend = make_backend(backend_kind::model, b.policy, in);
    runner::bound_recorder recorder(w);
    runner::experiment_options o;
    o.sinks.push_back(&recorder);
    const runner::experiment x = runner::run_experiment(w, *backend, o);
    const bounds::instance instance = recorder.finish();
    b.link = x.metrics.of(0).link;
    b.failed = x.metrics.of(0).failed_submissions_total();
    b.submissions = instance.steps;
    b.bound = bounds::least_link_bytes(instance);
    b.failures = runner::print_failures(x.run, b.file, report::painter(false));
}

constexpr const char *explanation =
    "link reads: moved into VRAM and read remotely, in the whole run; lower: no policy can read less for "
    "these\n"
    "submissions in this order; upper: a schedule that knows the future reads this, in bytes, without "
    "fragmentation\n"
    "or cgroups' limits; * the optimum itself; ? too far apart to say (over {} %);\n"
    "lower 0 B: all of it could have been avoided, as what was touched fits into VRAM\n";

void print(const std::vector<bounded> &runs, const std::vector<workload::workload> &workloads)
{
    const report::painter p = report::painter::for_stream(stdout);
    report::table t({"workload", "policy", "submissions", "failed", "moved in", "remote", "link reads",
                     "lower", "upper", "x lower", "x upper"});
    t.set_align(1, report::align::left);
    for (const bounded &b : runs) {
        const auto bytes = [](u64 n) { return report::format_bytes(static_cast<double>(n)); };
        const u64 reads = b.link.read_bytes();
        const bool known = b.bound.known();
        t.add_row({workloads[b.workload].name, b.policy, fmt::format("{}", b.submissions),
                   fmt::format("{}", b.failed), bytes(b.link.moved_in_bytes), bytes(b.link.remote_bytes),
                   bytes(reads), bytes(b.bound.lower_bytes),
                   b.bound.upper_bytes ? bytes(*b.bound.upper_bytes) + (b.bound.exact ? "*"
                                                                        : known       ? ""
                                                                                      : "?")
                                       : "none",
                   ratio(reads, b.bound.lower_bytes),
                   b.bound.upper_bytes ? ratio(reads, *b.bound.upper_bytes) : "-"});
    }
    fmt::print("{}{}", t.render(p),
               p.paint(fmt::format(explanation, bounds::link_bound::widest_gap_percent), report::color::dim));
    fmt::print("{}\n", p.paint(report::provenance_line, report::color::dim));
}

void print_json(const std::vector<bounded> &runs, const std::vector<workload::workload> &workloads)
{
    nlohmann::ordered_json j = nlohmann::ordered_json::array();
    for (const bounded &b : runs) {
        nlohmann::ordered_json row{{"workload", workloads[b.workload].name},
                                   {"file", b.file},
                                   {"policy", b.policy},
                                   {"submissions", b.submissions},
                                   {"failed_submissions", b.failed},
                                   {"moved_in_bytes", b.link.moved_in_bytes},
                                   {"remote_bytes", b.link.remote_bytes},
                                   {"link_read_bytes", b.link.read_bytes()},
                                   {"lower_bytes", b.bound.lower_bytes}};
        if (b.bound.upper_bytes)
            row["upper_bytes"] = *b.bound.upper_bytes;
        row["exact"] = b.bound.exact;
        row["known"] = b.bound.known();
        j.push_back(std::move(row));
    }
    fmt::print("{}\n", j.dump(2));
}

// A run below its lower bound means that one of both is wrong.
bool judge(const std::vector<bounded> &runs)
{
    bool good = true;
    for (const bounded &b : runs) {
        if (b.link.read_bytes() < b.bound.lower_bytes) {
            fmt::print(stderr, "{}, {}: {} bytes were read, which is below the lower bound of {}\n", b.file,
                       b.policy, b.link.read_bytes(), b.bound.lower_bytes);
            good = false;
        }
        good &= b.failures.empty();
        fmt::print(stderr, "{}", b.failures);
    }
    return good;
}

int bound(const bound_arguments &a)
{
    std::vector<workload::workload> workloads;
    std::vector<bounded> runs;
    for (const std::string &file : a.files) {
        workloads.push_back(load(file, a.in));
        for (const std::string &policy : policies_of(a.policies))
            runs.push_back({file, policy, workloads.size() - 1, {}, {}, 0, 0, {}});
    }
    {
        progress_count progress("runs", runs.size());
        run_parallel(runs.size(), a.jobs, [&](std::size_t i) {
            fill(runs[i], workloads[runs[i].workload], a.in);
            progress.one_done();
        });
    }
    if (a.json)
        print_json(runs, workloads);
    else
        print(runs, workloads);
    return judge(runs) ? 0 : 1;
}

} // namespace

void add_bound_command(CLI::App &app, int &status)
{
    auto a = std::make_shared<bound_arguments>();
    CLI::App *c = app.add_subcommand(
        "bound",
        "Link traffic of policies beside the least that any policy could have reached, knowing the future");
    add_comparison_options(*c, *a);
    c->add_flag("--json", a->json, "Print JSON");
    c->callback([a, &status] {
        status = guarded(a->files.size() == 1 ? a->files[0] : "a workload", [&] { return bound(*a); });
    });
}

} // namespace vramlab::cli
