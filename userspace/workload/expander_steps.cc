// SPDX-License-Identifier: MIT
// Order "file": everybody's BOs first, then the steps as written. A round is concurrent: every process begins
// its submission, and a seed of the scenario's stream decides how they interleave.
#include "workload/expander.h"

#include "workload/limits.h"

#include <algorithm>
#include <fmt/format.h>

namespace vramlab::workload {

void expander::steps_program()
{
    for (expanded_process &p : processes_) {
        open_vms(p);
        create_groups(p);
    }
    for (const scripted_step &t : s_.steps)
        for (u32 i = 0; i < t.repeat; i++)
            run_step(t);
}

void expander::run_round()
{
    std::size_t jobs = 0;

    for (const expanded_process &p : processes_)
        jobs = std::max(jobs, p.vms.size() * p.spec->submissions);
    for (std::size_t job = 0; job < jobs; job++) {
        std::vector<operation> begins;

        for (expanded_process &p : processes_) {
            if (job >= p.vms.size() * p.spec->submissions)
                continue;
            operation op = make(op_kind::begin, p.number, p.spec->line);

            op.req = define_submission(p, static_cast<u32>(job / p.spec->submissions),
                                       static_cast<u32>(job % p.spec->submissions));
            begins.push_back(std::move(op));
        }
        for (operation &op : begins)
            push(std::move(op));
        operation run = make(op_kind::run, 0, 0);

        run.seed = rng(s_.seed).fork(0).fork(++rounds_).next();
        push(std::move(run));
    }
    for (expanded_process &p : processes_) {
        if (p.spec->submissions)
            show_image(p);
        p.frame++;
    }
}

void expander::advance(u64 by_ns, u32 line)
{
    operation op = make(op_kind::advance, 0, line);

    if (advanced_ns_ > time_max_ns - by_ns)
        fail(line, "the clock goes too far", fmt::format("at most {} ns", time_max_ns));
    op.at_ns = advanced_ns_ += by_ns;
    push(std::move(op));
}

void expander::step_on_group(const scripted_step &t, expanded_process &p)
{
    drawn_group &g = *p.find_group(t.group);

    if (t.kind == step_kind::create) {
        if (g.alive)
            fail(t.line, fmt::format("group \"{}\" exists", t.group),
                 "a group that was destroyed, or not created yet");
        return create_group(p, g);
    }
    if (!t.all && t.bo > g.count())
        fail(t.line, fmt::format("BO {} of group \"{}\"", t.bo, t.group), fmt::format("1 to {}", g.count()));
    const request_kind kind = t.kind == step_kind::destroy ? request_kind::bo_destroy
                              : t.kind == step_kind::pin   ? request_kind::pin
                                                           : request_kind::unpin;
    const u32 vm = p.vms[g.config->vm - 1];

    for (std::size_t i = 0; i < g.creation.size(); i++)
        if (t.all || i + 1 == t.bo)
            request_of(p, vm, kind, t.line).bo = g.tag(g.creation[i]);
    if (t.kind == step_kind::destroy) {
        // Lists must not name what is gone: a group is used up as a whole.
        g.alive = false;
        if (t.all) {
            g.first_bo = next_bo_;
            next_bo_ += g.count();
        }
    }
}

void expander::run_step(const scripted_step &t)
{
    switch (t.kind) {
    case step_kind::round:
        run_round();
        if (t.by_ns)
            advance(t.by_ns, t.line);
        return;
    case step_kind::evict_all:
    case step_kind::swapout:
        return push(make(t.kind == step_kind::evict_all ? op_kind::evict_all : op_kind::swapout, 0, t.line));
    case step_kind::set_limits:
        return set_limits(t.cgroup, t.line);
    case step_kind::advance:
        return advance(t.by_ns, t.line);
    default:
        break;
    }
    for (expanded_process &p : processes_) {
        if (!t.process.empty() && p.spec->name != t.process)
            continue;
        if (t.kind == step_kind::submit) {
            submit_frame(p);
            show_image(p);
            p.frame++;
        } else if (t.kind == step_kind::wait) {
            for (u32 vm : p.vms)
                request_of(p, vm, request_kind::wait, t.line);
        } else {
            step_on_group(t, p);
        }
    }
}

} // namespace vramlab::workload
