// SPDX-License-Identifier: MIT
// vramlab bound: how far policies are from the least link traffic that was possible.
#include "cli/bound_words.h"
#include "cli/commands.h"
#include "cli/comparison.h"
#include "cli/output.h"
#include "cli/parallel.h"
#include "cli/policies.h"
#include "report/format.h"
#include "report/metrics_print.h"
#include "runner/experiment.h"

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace vramlab::cli {

namespace {

struct bound_arguments : comparison_arguments {
    bool json = false;
    std::string output;
};

// A policy's run of a workload beside its bounds.
struct bounded {
    std::string file;
    std::string policy;
    std::size_t workload = 0;
    report::link_traffic link;
    std::optional<runner::run_bounds> bounds; // none if an invariant failed
    u64 failed = 0;
    std::string failures; // of invariants
};

void fill(bounded &b, const workload::workload &w, const input &in)
{
    const auto backend = make_backend(backend_kind::model, b.policy, in);
    runner::experiment_options o;
    o.bounds = true;
    runner::experiment x = runner::run_experiment(w, *backend, o);
    b.link = x.metrics.of(0).link;
    b.failed = x.metrics.of(0).failed_submissions_total();
    b.bounds = std::move(x.bounds);
    b.failures = runner::print_failures(x.run, b.file, report::painter(false));
}

constexpr const char *explanation =
    "link reads: moved into VRAM and read remotely, in the whole run; lost: time that jobs took or were kept "
    "waiting "
    "beyond what they\n"
    "would take with all in VRAM; lower: no policy can do with less for these submissions in this order; "
    "upper: a "
    "schedule that knows the\n"
    "future does, in bytes, without fragmentation or cgroups' limits; * the optimum itself; ? too far apart "
    "to say "
    "(over {} %);\n"
    "lower 0: all of it could have been avoided, as what was touched fits into VRAM\n";

// What patched should stay below of a schedule that knows the future.
constexpr double wanted_ratio = 1.5;

std::string bytes_text(u64 n)
{
    return report::format_bytes(static_cast<double>(n));
}

std::string ms_text(u64 ns)
{
    return report::format_metric(report::unit::ms, static_cast<double>(ns) / ns_per_ms);
}

// Of one run that has bounds.
std::vector<report::table::cell> bound_cells(const runner::run_bounds &b)
{
    const bool known = b.link.known();
    std::vector<report::table::cell> cells{
        bytes_text(b.link_read_bytes), bytes_text(b.link.lower_bytes),
        b.link.upper_bytes ? bytes_text(*b.link.upper_bytes) + (b.link.exact ? "*"
                                                                : known      ? ""
                                                                             : "?")
                           : "none",
        runner::times_lower(b.link_read_bytes, b.link.lower_bytes, known),
        b.link.upper_bytes ? runner::times_lower(b.link_read_bytes, *b.link.upper_bytes, known) : "-"};
    if (!b.stall)
        return cells;
    const u64 lost_ns = b.stall_ns > 0 ? static_cast<u64>(b.stall_ns) : 0;
    cells.emplace_back(ms_text(lost_ns));
    cells.emplace_back(ms_text(b.stall->lower_ns));
    cells.emplace_back(b.stall->upper_ns ? ms_text(*b.stall->upper_ns) + (b.stall->known() ? "" : "?")
                                         : "none");
    cells.emplace_back(runner::times_lower(lost_ns, b.stall->lower_ns, b.stall->known()));
    return cells;
}

std::string table_text(const std::vector<bounded> &runs, const std::vector<workload::workload> &workloads,
                       const report::painter &p)
{
    report::table t({"workload", "policy", "submissions", "failed", "moved in", "remote", "link reads",
                     "lower", "upper", "x lower", "x upper", "lost", "lower", "upper", "x lower"});
    t.set_align(1, report::align::left);
    for (const bounded &b : runs) {
        std::vector<report::table::cell> row{workloads[b.workload].name,
                                             b.policy,
                                             b.bounds ? fmt::format("{}", b.bounds->submissions) : "-",
                                             fmt::format("{}", b.failed),
                                             bytes_text(b.link.moved_in_bytes),
                                             bytes_text(b.link.remote_bytes)};
        if (b.bounds)
            for (report::table::cell &cell : bound_cells(*b.bounds))
                row.push_back(std::move(cell));
        t.add_row(std::move(row));
    }
    return t.render(p) +
           p.paint(fmt::format(explanation, bounds::link_bound::widest_gap_percent), report::color::dim);
}

// Where the patches are far from what can be reached; Documentation/bounds.rst has the reasons.
std::string far_words(const std::vector<bounded> &runs, const std::vector<workload::workload> &workloads)
{
    std::string words;
    for (const bounded &b : runs)
        if (b.policy == "patched" && b.bounds && b.bounds->link.upper_bytes &&
            static_cast<double>(b.bounds->link_read_bytes) >
                wanted_ratio * static_cast<double>(*b.bounds->link.upper_bytes))
            words += fmt::format("{}{}", words.empty() ? "" : ", ", workloads[b.workload].name);
    return words.empty() ? "" : fmt::format("patched reads over {} x upper: {}\n", wanted_ratio, words);
}

void print(const bound_arguments &a, const std::vector<bounded> &runs,
           const std::vector<workload::workload> &workloads)
{
    const report::painter p = a.output.empty() ? report::painter::for_stream(stdout) : report::painter(false);
    const std::string text = table_text(runs, workloads, p) + far_words(runs, workloads) +
                             p.paint(report::provenance_line, report::color::dim) + "\n";
    if (a.output.empty()) {
        std::fwrite(text.data(), 1, text.size(), stdout);
        return;
    }
    atomic_file out(a.output);
    std::fwrite(text.data(), 1, text.size(), out.stream());
    out.commit();
}

void print_json(const std::vector<bounded> &runs, const std::vector<workload::workload> &workloads)
{
    nlohmann::ordered_json j = nlohmann::ordered_json::array();
    for (const bounded &b : runs) {
        nlohmann::ordered_json row{{"workload", workloads[b.workload].name},
                                   {"file", b.file},
                                   {"policy", b.policy},
                                   {"failed_submissions", b.failed},
                                   {"moved_in_bytes", b.link.moved_in_bytes},
                                   {"remote_bytes", b.link.remote_bytes}};
        if (b.bounds)
            row["bounds"] = bounds_json(*b.bounds);
        j.push_back(std::move(row));
    }
    fmt::print("{}\n", j.dump(2));
}

// A run below its lower bound is one of its failed invariants.
bool judge(const std::vector<bounded> &runs)
{
    bool good = true;
    for (const bounded &b : runs) {
        good &= b.failures.empty();
        if (!b.failures.empty())
            fmt::print(stderr, "{}, {}:\n{}", b.file, b.policy, b.failures);
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
            runs.push_back({file, policy, workloads.size() - 1, {}, {}, 0, {}});
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
        print(a, runs, workloads);
    return judge(runs) ? 0 : 1;
}

} // namespace

void add_bound_command(CLI::App &app, int &status)
{
    auto a = std::make_shared<bound_arguments>();
    CLI::App *c = app.add_subcommand("bound", "Link traffic and lost time of policies beside the least that "
                                              "any policy could have reached, knowing the future");
    add_comparison_options(*c, *a);
    CLI::Option *json = c->add_flag("--json", a->json, "Print JSON");
    c->add_option("--output,-o", a->output, "Write the table to this file")
        ->type_name("FILE")
        ->excludes(json);
    c->callback([a, &status] {
        status = guarded(a->files.size() == 1 ? a->files[0] : "a workload", [&] { return bound(*a); });
    });
}

} // namespace vramlab::cli
