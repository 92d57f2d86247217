// SPDX-License-Identifier: MIT
#include "runner/operation_runner.h"

#include "base/rng.h"

#include <fmt/format.h>

namespace vramlab::runner {

using backend::task_state;
using workload::op_kind;
using workload::operation;

namespace {

const char *request_name(request_kind k)
{
    switch (k) {
    case request_kind::vm_open:
        return "vm_open";
    case request_kind::vm_close:
        return "vm_close";
    case request_kind::bo_create:
        return "bo_create";
    case request_kind::bo_share:
        return "bo_share";
    case request_kind::bo_destroy:
        return "bo_destroy";
    case request_kind::bo_set_priority:
        return "bo_set_priority";
    case request_kind::list_define:
        return "list_define";
    case request_kind::touch_define:
        return "touch_define";
    case request_kind::submit:
        return "submit";
    case request_kind::wait:
        return "wait";
    case request_kind::pin:
        return "pin";
    case request_kind::unpin:
        return "unpin";
    }
    return "?";
}

} // namespace

const char *op_name(const operation &op)
{
    switch (op.kind) {
    case op_kind::request:
    case op_kind::begin:
        return request_name(op.req.kind);
    case op_kind::step:
        return "step";
    case op_kind::finish:
        return "finish";
    case op_kind::run:
        return "run";
    case op_kind::advance:
        return "advance";
    case op_kind::sleep:
        return "sleep";
    case op_kind::cpu:
        return "cpu";
    case op_kind::vblank:
        return "vblank";
    case op_kind::wait_back:
        return "wait_back";
    case op_kind::flip:
        return "flip";
    case op_kind::frame:
        return "frame";
    case op_kind::evict_all:
        return "evict_all";
    case op_kind::swapout:
        return "swapout";
    case op_kind::set_limits:
        return "set_limits";
    case op_kind::end:
        return "end";
    }
    return "?";
}

operation_runner::operation_runner(const workload::workload &w, backend::memory_backend &b,
                                   const executor_options &o, run_result &out)
    : w_(w), b_(b), o_(o), out_(out)
{
}

void operation_runner::emit(const events::event &e)
{
    if (o_.sink)
        o_.sink->record(e);
}

void operation_runner::operation_begins(u32 i)
{
    const operation &op = w_.operations[i];
    const bool has_request = op.kind == op_kind::request || op.kind == op_kind::begin;
    const request &r = op.req;
    out_.results[i].begin_ns = b_.now_ns();
    if (!o_.sink)
        return;
    events::event e;
    e.type = events::event_type::op_begin;
    e.time_ns = out_.results[i].begin_ns;
    e.a = i;
    e.where = op_name(op);
    e.process = has_request ? r.process : op.process;
    e.vm = has_request ? r.vm : op.vm;
    e.bo = has_request ? r.bo : op.bo;
    if (has_request && r.kind == request_kind::bo_create) {
        e.b = r.preferred | u64{r.allowed} << 8 | u64{r.flags} << 16 | u64{r.priority} << 24;
        e.c = r.size_bytes;
    }
    if (has_request && r.kind == request_kind::bo_set_priority)
        e.b = u64{r.priority} << 24;
    if (has_request && r.kind == request_kind::bo_share)
        e.vm2 = r.target_vm;
    emit(e);
}

void operation_runner::operation_ends(u32 i, const result &res)
{
    const operation &op = w_.operations[i];
    const bool has_request = op.kind == op_kind::request || op.kind == op_kind::begin;
    op_result &out = out_.results[i];
    out.r = res;
    out.end_ns = b_.now_ns();
    out.done = true;
    completed_.push_back(i);
    if (has_request)
        after_request(op.req, res);
    if (has_request && op.req.kind == request_kind::submit)
        frames_[op.req.process].submit_ns += out.end_ns - out.begin_ns;
    if (!o_.sink)
        return;
    events::event e;
    e.type = events::event_type::op_end;
    e.time_ns = out.end_ns;
    e.a = i;
    e.b = res.seqno;
    e.error = res.error;
    e.where = op_name(op);
    e.process = has_request ? op.req.process : op.process;
    e.vm = has_request ? op.req.vm : op.vm;
    e.bo = has_request ? op.req.bo : op.bo;
    emit(e);
}

// Handles take their pins along, so what was shown through them is not shown any more.
void operation_runner::after_request(const request &r, const result &res)
{
    if (res.error)
        return;
    switch (r.kind) {
    case request_kind::submit:
        last_seqno_[r.vm] = res.seqno;
        break;
    case request_kind::bo_destroy:
        std::erase_if(shown_, [&](const auto &s) { return s.first.second == r.vm && s.second == r.bo; });
        break;
    case request_kind::vm_close:
        std::erase_if(shown_, [&](const auto &s) { return s.first.second == r.vm; });
        last_seqno_.erase(r.vm);
        break;
    default:
        break;
    }
}

u64 operation_runner::last_seqno(u32 vm) const
{
    auto it = last_seqno_.find(vm);
    return it == last_seqno_.end() ? 0 : it->second;
}

void operation_runner::fail(const char *invariant, u32 i, const std::string &message)
{
    out_.failures.push_back({invariant, message, i, line_of(i)});
}

bool operation_runner::report(u32 i)
{
    bool go_on = true;
    if (o_.after_operation)
        go_on = o_.after_operation({i, w_.operations[i], completed_, out_.results, b_});
    completed_.clear();
    steps_ = 0;
    if (o_.progress && ++operations_done_ % 1024 == 0)
        o_.progress(operations_done_, b_.now_ns());
    if (!go_on)
        out_.stopped = true;
    return go_on && !failed();
}

bool operation_runner::spend_step(u32 i)
{
    if (++steps_ <= o_.max_steps)
        return true;
    fail("livelock", i, fmt::format("no end after {} steps", o_.max_steps));
    return false;
}

void operation_runner::require_no_tasks(u32 i) const
{
    if (!tasks_.empty())
        throw workload_error(line_of(i),
                             fmt::format("{} while process {} has an operation under way, expected none",
                                         op_name(w_.operations[i]), tasks_.begin()->first));
}

void operation_runner::check_process(u32 i, u32 process) const
{
    if (tasks_.contains(process))
        throw workload_error(line_of(i), fmt::format("{} of process {}, which has an operation under way",
                                                     op_name(w_.operations[i]), process));
}

result operation_runner::run_request(u32 i, const request &r)
{
    return tasks_.empty() ? b_.execute(r) : run_beside_tasks(i, r);
}

// With tasks under way a request may meet their locks. It has the right of way: others are stepped only while
// it is blocked.
result operation_runner::run_beside_tasks(u32 i, const request &r)
{
    check_process(i, r.process);
    task_state state = b_.begin(r);
    while (state != task_state::idle) {
        if (!spend_step(i))
            return {};
        if (state == task_state::parked) {
            state = b_.step(r.process);
            continue;
        }
        auto other = tasks_.begin();
        while (other != tasks_.end() && b_.state_of(other->first) != task_state::parked)
            ++other;
        if (other == tasks_.end()) {
            fail("deadlock", i,
                 fmt::format("{} of process {} is blocked and no other task can go on",
                             op_name(w_.operations[i]), r.process));
            return {};
        }
        b_.step(other->first);
        collect_ended();
        state = b_.state_of(r.process);
    }
    return b_.take_result(r.process);
}

void operation_runner::collect_ended()
{
    for (auto it = tasks_.begin(); it != tasks_.end();) {
        if (b_.state_of(it->first) != task_state::idle) {
            ++it;
            continue;
        }
        const u32 index = it->second;
        const result res = b_.take_result(it->first);
        it = tasks_.erase(it);
        operation_ends(index, res);
    }
}

void operation_runner::begin(u32 i)
{
    const request &r = w_.operations[i].req;
    check_process(i, r.process);
    operation_begins(i);
    tasks_.emplace(r.process, i);
    b_.begin(r);
    collect_ended();
}

void operation_runner::step(u32 process)
{
    if (!tasks_.contains(process) || b_.state_of(process) != task_state::parked)
        return;
    b_.step(process);
    collect_ended();
}

void operation_runner::finish(u32 process)
{
    while (!failed() && tasks_.contains(process)) {
        const u32 i = tasks_[process];
        if (!spend_step(i))
            return;
        if (b_.state_of(process) == task_state::parked) {
            step(process);
            continue;
        }
        auto other = tasks_.begin();
        while (other != tasks_.end() && b_.state_of(other->first) != task_state::parked)
            ++other;
        if (other == tasks_.end())
            return fail("deadlock", i,
                        fmt::format("process {} is blocked and no other task can go on", process));
        step(other->first);
    }
}

void operation_runner::finish_all()
{
    while (!failed() && !tasks_.empty())
        finish(tasks_.begin()->first);
}

void operation_runner::run_all(u64 seed)
{
    rng random(seed);
    std::vector<u32> parked;
    while (!failed() && !tasks_.empty()) {
        const u32 i = tasks_.begin()->second;
        parked.clear();
        for (const auto &[process, index] : tasks_)
            if (b_.state_of(process) == task_state::parked)
                parked.push_back(process);
        if (parked.empty())
            return fail("deadlock", i, fmt::format("all {} tasks under way are blocked", tasks_.size()));
        if (!spend_step(i))
            return;
        step(parked[random.below(parked.size())]);
    }
}

result operation_runner::flip(u32 i, const operation &op)
{
    request r;
    r.process = op.process;
    r.vm = op.vm;
    const auto key = std::pair{op.process, op.vm};
    const auto old = shown_.find(key);
    const u64 old_bo = old == shown_.end() ? 0 : old->second;
    if (op.bo) {
        r.kind = request_kind::pin;
        r.bo = op.bo;
        const result pinned = run_request(i, r);
        if (pinned.error || failed())
            return pinned; // what was shown stays on screen
        shown_[key] = op.bo;
        events::event e;
        e.type = events::event_type::flip;
        e.time_ns = b_.now_ns();
        e.bo = op.bo;
        e.a = op.process;
        e.process = op.process;
        e.vm = op.vm;
        emit(e);
    } else {
        shown_.erase(key);
    }
    if (!old_bo)
        return {};
    r.kind = request_kind::unpin;
    r.bo = old_bo;
    return run_request(i, r);
}

// In file order a wait is the process's own and nobody goes on meanwhile.
result operation_runner::wait_back(u32 i, const operation &op)
{
    const u64 last = last_seqno(op.vm);
    if (last <= op.back)
        return {};
    request r;
    r.kind = request_kind::wait;
    r.process = op.process;
    r.vm = op.vm;
    r.seqno = last - op.back;
    return run_request(i, r);
}

void operation_runner::frame(const operation &op)
{
    frame_state &f = frames_[op.process];
    const u64 now_ns = b_.now_ns();
    events::event e;
    e.type = events::event_type::frame;
    e.time_ns = now_ns;
    e.process = op.process;
    e.vm = op.vm;
    if (f.number) { // else the first frame begins, and what came before belongs to none
        e.a = f.number;
        e.b = now_ns - f.begin_ns;
        e.c = f.submit_ns;
    }
    emit(e);
    f.number++;
    f.begin_ns = now_ns;
    f.submit_ns = 0;
}

void operation_runner::run_atomic(u32 i)
{
    const operation &op = w_.operations[i];
    if (op.kind == op_kind::frame)
        return frame(op);
    if (op.kind == op_kind::evict_all || op.kind == op_kind::swapout || op.kind == op_kind::set_limits)
        require_no_tasks(i);
    operation_begins(i);
    result res;
    switch (op.kind) {
    case op_kind::request:
        res = run_request(i, op.req);
        break;
    case op_kind::flip:
        res = flip(i, op);
        break;
    case op_kind::wait_back:
        res = wait_back(i, op);
        break;
    case op_kind::evict_all:
        res.error = b_.evict_all();
        break;
    case op_kind::swapout:
        res.error = b_.swapout();
        break;
    case op_kind::set_limits:
        res.error = b_.set_limits(op.cgroup);
        break;
    default:
        throw workload_error(op.line, fmt::format("{} is no operation of this order", op_name(op)));
    }
    if (!failed())
        operation_ends(i, res);
}

} // namespace vramlab::runner
