// SPDX-License-Identifier: MIT
// vramlab cases: the table of reproducers. Each expectation names what fails it, a policy or a mutant; on the
// policies that it names it must fail, on mainline otherwise it must hold. Exit status 1 if any does not do
// as it says.
#include "cli/commands.h"
#include "cli/in_guest.h"
#include "cli/input.h"
#include "cli/output.h"
#include "driver/policy.h"
#include "report/table.h"
#include "runner/experiment.h"

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include <filesystem>
#include <map>

namespace vramlab::cli {

namespace {

namespace fs = std::filesystem;
using report::color;

struct cases_arguments {
    std::vector<std::string> paths;
    backend_kind backend = backend_kind::model;
};

struct judged {
    std::string value;
    bool pass = false;
};

// Of one case on one backend and policy: a verdict for each expectation, and what broke if something did.
struct outcome {
    std::vector<judged> verdicts;
    std::string broken; // a failed invariant
};

outcome judge(const workload::workload &w, backend_kind kind, const std::string &policy)
{
    const auto backend = make_backend(kind, policy, {});
    progress_line progress(fmt::format("{} {}", w.name, policy));
    runner::experiment_options o;
    o.progress = [&](u64 operations, u64 now_ns) { progress.show(operations, now_ns); };
    const runner::experiment x = run_experiment(w, *backend, o);
    outcome out;
    for (const runner::verdict &v : x.verdicts)
        out.verdicts.push_back({runner::value_words(v), v.pass});
    if (!x.run.failures.empty())
        out.broken = x.run.failures[0].invariant + ": " + x.run.failures[0].message;
    return out;
}

// The verdict as a cell, and whether it is what the expectation says of the policy.
report::table::cell cell_of(const workload::expectation &e, const judged &j, const std::string &policy,
                            bool &as_said)
{
    const bool must_fail = runner::fails_on(e, policy);
    const bool good = j.pass != must_fail;
    as_said &= good;
    const std::string text = fmt::format("{} {}", j.pass ? "PASS" : "FAIL", j.value);
    return {good ? text : text + (must_fail ? ", must FAIL" : ", must PASS"),
            good ? must_fail ? color::yellow : color::green : color::red};
}

class case_table {
public:
    explicit case_table(backend_kind kind)
        : kind_(kind),
          table_(kind == backend_kind::model
                     ? std::vector<std::string>{"case", "expectation", "fails on", "model"}
                     : std::vector<std::string>{"case", "expectation", "fails on", "model", "kernel"})
    {
        for (std::size_t column = 1; column < 5; column++)
            table_.set_align(column, report::align::left);
    }

    void add(const workload::workload &w)
    {
        cases_++;
        std::map<std::string, outcome> by_policy; // on the model
        by_policy[mainline_policy()] = judge(w, backend_kind::model, mainline_policy());
        for (std::string_view p : driver::policy_names())
            for (const workload::expectation &e : w.expectations)
                if (runner::fails_on(e, p) && !by_policy.contains(std::string(p)))
                    by_policy[std::string(p)] = judge(w, backend_kind::model, std::string(p));
        std::optional<outcome> kernel;
        if (kind_ != backend_kind::model)
            kernel = judge(w, kind_, mainline_policy());
        for (std::size_t i = 0; i < w.expectations.size(); i++)
            add_row(w, i, by_policy, kernel);
        for (const auto &[policy, o] : by_policy)
            if (!o.broken.empty())
                broke(w.name, policy, o.broken);
        if (kernel && !kernel->broken.empty())
            broke(w.name, "the kernel", kernel->broken);
    }

    int print() const
    {
        const report::painter p = report::painter::for_stream(stdout);
        fmt::print("{}{}", table_.render(p), broken_);
        fmt::print("{} cases, {} expectations, {} not as they say\n{}\n", cases_, expectations_, wrong_,
                   p.paint(report::provenance_line, color::dim));
        return wrong_ ? 1 : 0;
    }

private:
    void add_row(const workload::workload &w, std::size_t i, const std::map<std::string, outcome> &by_policy,
                 const std::optional<outcome> &kernel)
    {
        const workload::expectation &e = w.expectations[i];
        bool as_said = true;
        expectations_++;
        // What must fail it besides mainline is run too; what is no policy is a mutant, which other tests
        // plant.
        std::string fails;
        bool fails_as_said = true;
        for (const auto &[policy, o] : by_policy)
            if (policy != mainline_policy() && runner::fails_on(e, policy) && o.verdicts[i].pass) {
                fails += fmt::format(" ({} PASSes)", policy);
                fails_as_said = false;
            }
        as_said &= fails_as_said && !e.fails_on.empty();
        std::vector<report::table::cell> row{i ? "" : w.name, runner::expectation_words(e)};
        row.push_back(e.fails_on.empty() ? report::table::cell("nothing, must name something", color::red)
                                         : report::table::cell(e.fails_on + fails,
                                                               fails_as_said ? color::none : color::red));
        row.push_back(cell_of(e, by_policy.at(mainline_policy()).verdicts[i], mainline_policy(), as_said));
        if (kernel)
            row.push_back(cell_of(e, kernel->verdicts[i], mainline_policy(), as_said));
        wrong_ += !as_said;
        table_.add_row(std::move(row));
    }
    void broke(const std::string &name, const std::string &where, const std::string &what)
    {
        broken_ += fmt::format("{}, {}: {}\n", name, where, what);
        wrong_++;
    }

    backend_kind kind_;
    report::table table_;
    std::string broken_;
    u64 cases_ = 0;
    u64 expectations_ = 0;
    u64 wrong_ = 0;
};

std::vector<std::string> case_files(const cases_arguments &a)
{
    std::vector<std::string> out;
    const std::vector<std::string> paths = a.paths.empty() ? std::vector{scenario_directory()} : a.paths;
    for (const std::string &path : paths) {
        if (!fs::is_directory(path)) {
            out.push_back(path);
            continue;
        }
        for (const std::string &file : files_in(path))
            out.push_back(file);
    }
    return out;
}

int cases(const cases_arguments &a)
{
    const std::vector<std::string> files = case_files(a);
    if (a.backend == backend_kind::kernel) {
        std::vector<std::string> words{"cases"};
        for (const std::string &file : files)
            words.push_back(fs::absolute(file).string());
        return run_in_guest(std::move(words));
    }
    case_table table(a.backend);
    for (const std::string &file : files) {
        const workload::workload w = load(file, {});
        if (!w.expectations.empty())
            table.add(w);
    }
    return table.print();
}

} // namespace

void add_cases_command(CLI::App &app, int &status)
{
    auto a = std::make_shared<cases_arguments>();
    CLI::App *c = app.add_subcommand(
        "cases", "Table of reproducers: what each expectation needs to fail, and the verdicts");
    c->add_option("path", a->paths,
                  "Scenarios, workloads, or directories of them (default: those that come along)");
    add_backend_option(*c, a->backend);
    c->callback([a, &status] { status = guarded("a case", [&] { return cases(*a); }); });
}

} // namespace vramlab::cli
