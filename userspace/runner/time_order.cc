// SPDX-License-Identifier: MIT
// Order time: each process (the system, process 0, too) is a program of its own. Whoever became ready first
// goes next, the lower process number on a tie; an operation runs to its end. The clock advances only when
// nobody is ready.
#include "runner/operation_runner.h"

#include <fmt/format.h>

#include <algorithm>

namespace vramlab::runner {

using workload::op_kind;
using workload::operation;

namespace {

struct program {
    u32 process = 0;
    std::vector<u32> operations; // indices, in order
    std::size_t next = 0;
    u64 ready_ns = 0; // when it became or becomes ready; meaningless while it waits
    // A wait lets the others go on: its operation is under way until submission wait_seqno of wait_vm is
    // finished.
    bool waits = false;
    u32 wait_vm = 0;
    u64 wait_seqno = 0;

    bool over() const { return next == operations.size(); }
};

class time_order {
public:
    time_order(const workload::workload &w, operation_runner &r, const executor_options &o);
    void run();

private:
    program *next_ready();
    void poll_waits();
    void run_operation(program &p);
    void start_wait(program &p, u32 i, u32 vm, u64 seqno);
    bool end_wait(program &p);

    const workload::workload &w_;
    operation_runner &r_;
    const executor_options &o_;
    std::vector<program> programs_; // by process
    u64 end_ns_ = never_ns;
    bool go_on_ = true;
};

time_order::time_order(const workload::workload &w, operation_runner &r, const executor_options &o)
    : w_(w), r_(r), o_(o)
{
    for (u32 i = 0; i < w.operations.size(); i++) {
        const operation &op = w.operations[i];
        const u32 process = op.kind == op_kind::request ? op.req.process : op.process;
        if (op.kind == op_kind::end) {
            end_ns_ = std::min(end_ns_, op.at_ns);
            continue;
        }
        auto it = std::lower_bound(programs_.begin(), programs_.end(), process,
                                   [](const program &p, u32 n) { return p.process < n; });
        if (it == programs_.end() || it->process != process) {
            program p;
            p.process = process;
            it = programs_.insert(it, std::move(p));
        }
        it->operations.push_back(i);
    }
}

void time_order::start_wait(program &p, u32 i, u32 vm, u64 seqno)
{
    r_.operation_begins(i);
    p.waits = true;
    p.wait_vm = vm;
    p.wait_seqno = seqno;
}

// The wait is satisfied; a wait request still asks the backend, which answers at once.
bool time_order::end_wait(program &p)
{
    const u32 i = p.operations[p.next++];
    const operation &op = w_.operations[i];
    p.waits = false;
    p.ready_ns = r_.backend().now_ns();
    r_.operation_ends(i, op.kind == op_kind::request ? r_.backend().execute(op.req) : result{});
    return r_.report(i);
}

void time_order::poll_waits()
{
    for (program &p : programs_)
        if (go_on_ && p.waits && (!p.wait_seqno || r_.backend().signaled(p.wait_vm, p.wait_seqno)))
            go_on_ = end_wait(p);
}

program *time_order::next_ready()
{
    for (u64 advances = 0; go_on_; advances++) {
        poll_waits();
        program *best = nullptr;
        program *waiter = nullptr;
        for (program &p : programs_) {
            if (p.waits)
                waiter = &p;
            else if (!p.over() && (!best || p.ready_ns < best->ready_ns))
                best = &p;
        }
        const u64 now_ns = r_.backend().now_ns();
        if (!go_on_ || now_ns >= end_ns_)
            return nullptr;
        if (best && best->ready_ns <= now_ns)
            return best;
        u64 target_ns = best ? best->ready_ns : never_ns;
        if (waiter)
            target_ns = std::min(target_ns, r_.backend().next_event_ns());
        if (target_ns == never_ns && waiter) {
            r_.fail("deadlock", waiter->operations[waiter->next],
                    fmt::format("process {} waits for submission {} of VM {}, which nothing will finish",
                                waiter->process, waiter->wait_seqno, waiter->wait_vm));
            return nullptr;
        }
        if (target_ns >= end_ns_ || target_ns == never_ns) {
            if (end_ns_ != never_ns)
                r_.backend().advance(end_ns_);
            return nullptr;
        }
        if (advances == o_.max_steps) {
            const program &p = waiter ? *waiter : *best;
            r_.fail("livelock", p.operations[p.next],
                    fmt::format("the clock was advanced {} times and nobody went on", o_.max_steps));
            return nullptr;
        }
        r_.backend().advance(std::max(target_ns, now_ns));
    }
    return nullptr;
}

void time_order::run_operation(program &p)
{
    const u32 i = p.operations[p.next];
    const operation &op = w_.operations[i];
    const u64 now_ns = r_.backend().now_ns();
    u64 ready_ns = never_ns; // when the operation itself says
    switch (op.kind) {
    case op_kind::sleep:
        ready_ns = std::max(op.at_ns, now_ns);
        break;
    case op_kind::cpu:
        ready_ns = now_ns + std::min(op.period_ns, never_ns - 1 - now_ns);
        break;
    case op_kind::vblank:
        if (!op.period_ns)
            throw workload_error(op.line, "vblank with a period of 0, expected nanoseconds");
        ready_ns = (now_ns / op.period_ns + 1) * op.period_ns;
        break;
    case op_kind::wait_back: {
        const u64 last = r_.last_seqno(op.vm);
        return start_wait(p, i, op.vm, last > op.back ? last - op.back : 0);
    }
    case op_kind::begin:
    case op_kind::step:
    case op_kind::finish:
    case op_kind::run:
    case op_kind::advance:
        throw workload_error(op.line, fmt::format("{} in time order, expected an operation of time order",
                                                  op.kind == op_kind::begin ? "begin" : op_name(op)));
    case op_kind::request:
        if (op.req.kind == request_kind::wait) {
            const u64 last = r_.last_seqno(op.req.vm);
            const u64 seqno = op.req.seqno ? op.req.seqno : last;
            if (seqno <= last) // else the backend refuses it
                return start_wait(p, i, op.req.vm, seqno);
        }
        r_.run_atomic(i);
        break;
    default:
        r_.run_atomic(i);
        break;
    }
    p.next++;
    p.ready_ns = ready_ns == never_ns ? r_.backend().now_ns() : ready_ns;
    go_on_ = r_.report(i);
}

void time_order::run()
{
    while (program *p = next_ready())
        run_operation(*p);
}

} // namespace

void run_time_order(const workload::workload &w, operation_runner &r, const executor_options &o)
{
    time_order(w, r, o).run();
}

} // namespace vramlab::runner
