// SPDX-License-Identifier: MIT
#include "runner/executor.h"

#include "runner/operation_runner.h"

#include <fmt/format.h>

namespace vramlab::runner {

using workload::op_kind;
using workload::operation;

void run_file_order(const workload::workload &w, operation_runner &r, run_result &out)
{
    for (u32 i = 0; i < w.operations.size(); i++) {
        const operation &op = w.operations[i];
        switch (op.kind) {
        case op_kind::begin:
            r.begin(i);
            break;
        case op_kind::step:
            r.step(op.process);
            break;
        case op_kind::finish:
            r.finish(op.process);
            break;
        case op_kind::run:
            r.run_all(op.seed);
            break;
        case op_kind::advance:
            if (op.at_ns > r.backend().now_ns())
                r.backend().advance(op.at_ns);
            break;
        case op_kind::sleep:
        case op_kind::cpu:
        case op_kind::vblank:
        case op_kind::end:
            throw workload_error(
                op.line, fmt::format("{} in file order, expected an operation of file order", op_name(op)));
        default:
            r.run_atomic(i);
            break;
        }
        if (!r.report(i))
            return;
    }
    // Tasks that the workload left under way are run to their end, so that every result is known.
    if (r.any_under_way() && !out.stopped) {
        r.finish_all();
        r.report(static_cast<u32>(w.operations.size()) - 1);
    }
}

namespace {

// The backend outlives the run and must not keep a sink that may not.
class sink_guard {
public:
    sink_guard(backend::memory_backend &b, events::event_sink *sink) : b_(b) { b_.set_event_sink(sink); }
    ~sink_guard() { b_.set_event_sink(nullptr); }
    sink_guard(const sink_guard &) = delete;
    sink_guard &operator=(const sink_guard &) = delete;

private:
    backend::memory_backend &b_;
};

} // namespace

run_result execute(const workload::workload &w, backend::memory_backend &b, const executor_options &options)
{
    run_result out;
    out.results.resize(w.operations.size());
    b.reset(w.system);
    sink_guard guard(b, options.sink);
    operation_runner r(w, b, options, out);
    if (w.order == workload::order_kind::file)
        run_file_order(w, r, out);
    else
        run_time_order(w, r, options);
    out.end_ns = b.now_ns();
    return out;
}

} // namespace vramlab::runner
