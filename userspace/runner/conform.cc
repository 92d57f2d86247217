// SPDX-License-Identifier: MIT
#include "runner/conform.h"

#include "report/event_json.h"
#include "report/format.h"
#include "runner/conform_words.h"

#include <algorithm>
#include <fmt/format.h>
#include <functional>

namespace vramlab::runner {

namespace {

using workload::op_kind;

// Counts what says that contention was met, and forwards nothing.
class deadlk_counter final : public events::event_sink {
public:
    void record(const events::event &e) override { count += e.type == events::event_type::lock_deadlk; }
    // As in the runs whose figures people see: without them walks take shortcuts.
    bool wants_skipped() const override { return false; }
    u64 count = 0;
};

u64 mix(u64 h, u64 v)
{
    return (h ^ v) * 0x9e3779b97f4a7c15 + (h >> 29);
}

// What one side showed after an operation.
struct record {
    u64 results = 0; // digest of the operations that ended and what came of them
    u64 state = 0;   // digest of the state, 0 where it was not looked at
    bool seen = false;
};

u64 digest(const operation_report &r)
{
    u64 h = 1;
    for (const u32 i : r.completed) {
        h = mix(h, i);
        h = mix(h, static_cast<u64>(static_cast<s64>(r.results[i].r.error)));
        h = mix(h, r.results[i].r.seqno);
    }
    return h;
}

u64 digest(const std::string &state)
{
    return std::hash<std::string>{}(state) | 1;
}

// After each operation, unless the text of the state has grown so large that it is most of the work.
u32 choose_every(const workload::workload &w)
{
    constexpr std::size_t bos_of_each = 20'000;
    std::size_t bos = 0;
    for (const workload::operation &op : w.operations)
        bos += op.req.kind == request_kind::bo_create &&
               (op.kind == op_kind::request || op.kind == op_kind::begin);
    return static_cast<u32>(std::max<std::size_t>(1, bos / bos_of_each));
}

class comparer {
public:
    comparer(const workload::workload &w, backend::memory_backend &model, backend::memory_backend &kernel,
             const conform_options &o)
        : w_(w), model_(model), kernel_(kernel), o_(o),
          every_(o.state_every ? o.state_every : choose_every(w))
    {
    }
    comparison run();

private:
    void run_model(u32 first, u32 every);
    void run_kernel(u32 first, u32 every);
    bool looks_at_state(u32 index, u32 first, u32 every) const
    {
        return index >= first && index % every == 0;
    }
    void compare_failures();
    void explain(u32 index, difference_kind kind);
    void narrow();
    std::string describe_results(const std::vector<op_result> &model) const;
    void set_difference(difference_kind kind, u32 index, const std::string &text);

    const workload::workload &w_;
    backend::memory_backend &model_;
    backend::memory_backend &kernel_;
    const conform_options &o_;
    u32 every_;
    std::vector<record> records_; // of the model
    run_result model_run_;
    run_result kernel_run_;
    comparison out_;
    // The kernel's side of the difference.
    bool found_ = false;
    u32 found_at_ = 0;
    difference_kind found_kind_{};
    std::string kernel_state_;
    std::vector<u32> kernel_completed_;
    events::event_log kernel_events_;
};

void comparer::set_difference(difference_kind kind, u32 index, const std::string &text)
{
    out_.diff =
        difference{kind, index,
                   describe_operation(w_, std::min<u32>(index, static_cast<u32>(w_.operations.size()) - 1)) +
                       "\n" + text};
}

void comparer::run_model(u32 first, u32 every)
{
    deadlk_counter counter;
    executor_options o;
    o.sink = &counter;
    o.max_steps = o_.max_steps;
    records_.assign(w_.operations.size(), {});
    o.after_operation = [&](const operation_report &r) {
        record &rec = records_[r.index];
        rec.results = digest(r);
        rec.state = looks_at_state(r.index, first, every) ? digest(r.backend.state()) : 0;
        rec.seen = true;
        return true;
    };
    model_run_ = execute(w_, model_, o);
    out_.deadlk = counter.count;
    out_.errors.clear();
    for (const op_result &r : model_run_.results)
        if (r.done)
            out_.errors[r.r.error]++;
}

void comparer::run_kernel(u32 first, u32 every)
{
    executor_options o;
    o.max_steps = o_.max_steps;
    found_ = false;
    out_.operations = 0;
    o.after_operation = [&](const operation_report &r) {
        const record &rec = records_[r.index];
        const bool same_results = rec.seen && rec.results == digest(r);
        const bool look = !same_results || looks_at_state(r.index, first, every);
        const std::string state = look ? r.backend.state() : "";
        found_at_ = r.index;
        if (same_results && (!look || digest(state) == rec.state)) {
            out_.operations++;
            if (o_.progress && out_.operations % 1024 == 0)
                o_.progress(out_.operations);
            return true;
        }
        found_ = true;
        found_kind_ = same_results ? difference_kind::state : difference_kind::result;
        kernel_state_ = state;
        kernel_completed_ = r.completed;
        return false;
    };
    kernel_run_ = execute(w_, kernel_, o);
}

std::string comparer::describe_results(const std::vector<op_result> &model) const
{
    const auto text_of = [](const op_result &r) {
        if (!r.done)
            return std::string("not ended");
        return r.r.error ? report::error_name(r.r.error) : fmt::format("success, seqno {}", r.r.seqno);
    };
    std::string text;
    for (std::size_t i = 0; i < w_.operations.size(); i++) {
        const op_result &m = model[i];
        const op_result &k = kernel_run_.results[i];
        if (m.done == k.done && m.r == k.r)
            continue;
        text += fmt::format("  result of {}: model {}, kernel {}\n",
                            describe_operation(w_, static_cast<u32>(i)), text_of(m), text_of(k));
    }
    return text.empty() ? "  results became known in another order\n" : text;
}

// Runs the model again up to the difference, now with its state and its events.
void comparer::explain(u32 index, difference_kind kind)
{
    events::event_log log;
    std::size_t begun = 0;
    std::string state;
    std::vector<op_result> results;
    executor_options o;
    o.sink = &log;
    o.max_steps = o_.max_steps;
    o.after_operation = [&](const operation_report &r) {
        if (r.index != index) {
            begun = log.events().size();
            return true;
        }
        state = r.backend.state();
        results = r.results;
        return false;
    };
    execute(w_, model_, o);
    if (results.empty()) // the model's run never came there
        results.resize(w_.operations.size());

    std::string text;
    if (kind == difference_kind::result)
        text += describe_results(results);
    text += describe_state_difference(state, kernel_state_);
    text += "  state of the model around it:\n" + summarize_state(state);
    text += "  what the model did in this operation:\n";
    constexpr std::size_t shown_max = 60;
    const auto &all = log.events();
    const std::size_t first = std::max(begun, all.size() > shown_max ? all.size() - shown_max : 0);
    for (std::size_t i = first; i < all.size(); i++) {
        std::string line;
        report::append_event_json(line, all[i]);
        text += "    " + line;
    }
    set_difference(kind, index, text);
}

// The states were last equal some operations ago: looks at each of them.
void comparer::narrow()
{
    const u32 first = found_at_ >= every_ ? found_at_ - every_ + 1 : 0;
    run_model(first, 1);
    run_kernel(first, 1);
}

void comparer::compare_failures()
{
    const auto text_of = [](const run_result &r) {
        return r.failures.empty() ? std::string("none")
                                  : r.failures[0].invariant + ": " + r.failures[0].message;
    };
    if (model_run_.failures.empty() && kernel_run_.failures.empty())
        return;
    const run_result &failed = kernel_run_.failures.empty() ? model_run_ : kernel_run_;
    set_difference(difference_kind::failure, failed.failures[0].index,
                   fmt::format("  invariant broken in the model: {}\n  in the kernel: {}\n",
                               text_of(model_run_), text_of(kernel_run_)));
}

comparison comparer::run()
{
    if (w_.operations.empty())
        return out_;
    try {
        run_model(0, every_);
    } catch (const workload_error &) {
        throw;
    } catch (const std::exception &e) {
        u32 at = 0;
        while (at + 1 < records_.size() && records_[at].seen)
            at++;
        set_difference(difference_kind::broken, at, fmt::format("  the model stopped: {}\n", e.what()));
        return out_;
    }
    try {
        run_kernel(0, every_);
        if (found_ && found_kind_ == difference_kind::state && every_ > 1)
            narrow();
    } catch (const workload_error &) {
        throw;
    } catch (const std::exception &e) {
        set_difference(difference_kind::broken, found_at_,
                       fmt::format("  the kernel's side stopped at or after this operation: {}\n", e.what()));
        return out_;
    }
    if (found_)
        explain(found_at_, found_kind_);
    else
        compare_failures();
    return out_;
}

} // namespace

comparison compare(const workload::workload &w, backend::memory_backend &model,
                   backend::memory_backend &kernel, const conform_options &options)
{
    return comparer(w, model, kernel, options).run();
}

} // namespace vramlab::runner
