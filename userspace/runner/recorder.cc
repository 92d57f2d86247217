// SPDX-License-Identifier: MIT
#include "runner/recorder.h"

namespace vramlab::runner {

using backend::task_state;

recorded_call &recorder::add(call_kind kind, u32 process)
{
    recorded_call &c = calls_.emplace_back();
    c.kind = kind;
    c.process = process;
    return c;
}

void recorder::reset(const system_config &s)
{
    calls_.clear();
    inner_.reset(s);
}

result recorder::execute(const request &r)
{
    const result res = inner_.execute(r);
    recorded_call &c = add(call_kind::execute, r.process);
    c.req = r;
    c.error = res.error;
    return res;
}

task_state recorder::begin(const request &r)
{
    const task_state state = inner_.begin(r);
    recorded_call &c = add(call_kind::begin, r.process);
    c.req = r;
    c.state = state;
    return state;
}

task_state recorder::step(u32 process)
{
    const task_state state = inner_.step(process);
    add(call_kind::step, process).state = state;
    return state;
}

result recorder::take_result(u32 process)
{
    const result res = inner_.take_result(process);
    add(call_kind::ended, process).error = res.error;
    return res;
}

void recorder::advance(u64 to_ns)
{
    inner_.advance(to_ns);
    add(call_kind::advance, 0).at_ns = to_ns;
}

int recorder::evict_all()
{
    const int err = inner_.evict_all();
    add(call_kind::evict_all, 0).error = err;
    return err;
}

int recorder::swapout()
{
    const int err = inner_.swapout();
    add(call_kind::swapout, 0).error = err;
    return err;
}

int recorder::set_limits(const cgroup_config &c)
{
    const int err = inner_.set_limits(c);
    recorded_call &call = add(call_kind::set_limits, 0);
    call.cgroup = c;
    call.error = err;
    return err;
}

} // namespace vramlab::runner
