// SPDX-License-Identifier: MIT
#include "runner/conform_batch.h"

#include "report/format.h"
#include "runner/shrink.h"
#include "workload/writer.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace vramlab::runner {

using std::chrono::steady_clock;

void batch_result::add(const batch_result &o)
{
    workloads += o.workloads;
    operations += o.operations;
    workloads_deadlk += o.workloads_deadlk;
    deadlk += o.deadlk;
    for (const auto &[error, count] : o.errors)
        errors[error] += count;
    failures.insert(failures.end(), o.failures.begin(), o.failures.end());
    elapsed_ms = std::max(elapsed_ms, o.elapsed_ms);
}

std::string batch_result::summary() const
{
    std::string text =
        fmt::format("{} workload{}, {} operations compared, {} with -EDEADLK ({} times)\n", workloads,
                    workloads == 1 ? "" : "s", operations, workloads_deadlk, deadlk);
    text += "results:";
    for (auto it = errors.rbegin(); it != errors.rend(); ++it)
        text += fmt::format(" {} {}", it->first ? report::error_name(it->first) : "success", it->second);
    if (elapsed_ms)
        text += fmt::format("\n{:.1f} s, {} workloads a minute", static_cast<double>(elapsed_ms) / 1000,
                            workloads * 60000 / elapsed_ms);
    return text + fmt::format("\n{} differ{}\n", failures.size(), failures.size() == 1 ? "s" : "");
}

nlohmann::json to_json(const batch_result &r)
{
    nlohmann::json errors = nlohmann::json::object();
    for (const auto &[error, count] : r.errors)
        errors[std::to_string(error)] = count;
    nlohmann::json failures = nlohmann::json::array();
    for (const batch_failure &f : r.failures)
        failures.push_back({{"workload", f.name},
                            {"difference", f.text},
                            {"file", f.file},
                            {"operations", f.operations},
                            {"operations_left", f.operations_left}});
    return {
        {"workloads", r.workloads},  {"operations", r.operations}, {"workloads_deadlk", r.workloads_deadlk},
        {"deadlk", r.deadlk},        {"errors", errors},           {"failures", failures},
        {"elapsed_ms", r.elapsed_ms}};
}

batch_result batch_from_json(const nlohmann::json &j)
{
    batch_result r;
    r.workloads = j.at("workloads");
    r.operations = j.at("operations");
    r.workloads_deadlk = j.at("workloads_deadlk");
    r.deadlk = j.at("deadlk");
    r.elapsed_ms = j.at("elapsed_ms");
    for (const auto &[error, count] : j.at("errors").items())
        r.errors[std::stoi(error)] = count;
    for (const auto &f : j.at("failures"))
        r.failures.push_back({f.at("workload"), f.at("difference"), f.at("file"), f.at("operations"),
                              f.at("operations_left")});
    return r;
}

conform_batch::conform_batch(backend::memory_backend &model, backend::memory_backend &kernel,
                             const batch_options &o)
    : model_(model), kernel_(kernel), o_(o), start_(steady_clock::now()), shown_(start_)
{
}

const batch_result &conform_batch::result()
{
    result_.elapsed_ms = static_cast<u64>(
        std::chrono::duration_cast<std::chrono::milliseconds>(steady_clock::now() - start_).count());
    return result_;
}

void conform_batch::progress(const std::string &doing)
{
    const auto now = steady_clock::now();
    if (now - shown_ < std::chrono::seconds(2))
        return;
    shown_ = now;
    fmt::print(stderr, "{}: {} of {} workloads, {} operations, {} with -EDEADLK, {} differ\n", doing,
               result_.workloads, total_, result_.operations, result_.workloads_deadlk,
               result_.failures.size());
}

bool conform_batch::run(const workload::workload &w)
{
    conform_options options;
    options.progress = [&](u64 operations) { progress(fmt::format("{}, operation {}", w.name, operations)); };
    comparison c = compare(w, model_, kernel_, options);
    result_.workloads++;
    result_.operations += c.operations;
    result_.workloads_deadlk += c.deadlk > 0;
    result_.deadlk += c.deadlk;
    for (const auto &[error, count] : c.errors)
        result_.errors[error] += count;
    progress(w.name);
    if (!c.diff)
        return true;
    on_failure(w, c);
    return result_.failures.size() < o_.failures_max;
}

void conform_batch::on_failure(const workload::workload &w, const comparison &c)
{
    batch_failure f;
    f.name = w.name;
    f.text = c.diff->text;
    f.operations = w.operations.size();
    f.operations_left = f.operations;
    fmt::print("{}: differs at {}", w.name, f.text);
    std::fflush(stdout);

    // A side that hangs or dies takes long each time, or does not come back.
    const bool can_shrink =
        o_.shrink && w.order == workload::order_kind::file && c.diff->kind != difference_kind::broken;
    if (can_shrink) {
        shrink_options so;
        so.runs_max = o_.shrink_runs_max;
        so.progress = [&](u32 runs, std::size_t operations) {
            progress(
                fmt::format("{}: shrinking, {} operations left after {} runs", w.name, operations, runs));
        };
        const auto fails = [&](const workload::workload &candidate) {
            try {
                const comparison again = compare(candidate, model_, kernel_);
                return again.diff && again.diff->kind != difference_kind::broken;
            } catch (const workload_error &) {
                return false;
            }
        };
        workload::workload small = shrink(w, fails, so);
        small.name = w.name + "-shrunk";
        const comparison again = compare(small, model_, kernel_);
        f.operations_left = small.operations.size();
        f.text = again.diff ? again.diff->text : f.text;
        f.file = fmt::format("{}/{}.jsonl", o_.output_dir, small.name);
        workload::write_file(small, f.file);
        fmt::print("{}: shrunk from {} to {} operations ({}):\n{}", w.name, f.operations, f.operations_left,
                   f.file, f.text);
    } else if (w.name.starts_with("swarm")) {
        f.file = fmt::format("{}/{}.jsonl", o_.output_dir, w.name);
        workload::write_file(w, f.file);
        fmt::print("{}: written to {}\n", w.name, f.file);
    }
    std::fflush(stdout);
    result_.failures.push_back(std::move(f));
}

} // namespace vramlab::runner
