// SPDX-License-Identifier: MIT
// Order "time": each process is a program of frames and events. Programs are fixed, so an event takes its
// place before the frame that is due at its time, and a process that falls behind comes to it late.
#include "workload/expander.h"

#include <algorithm>

namespace vramlab::workload {

std::vector<timed_event> expander::events_of(const expanded_process &p) const
{
    std::vector<timed_event> events;

    for (const timed_event &e : s_.events) {
        if (e.kind == event_kind::suspend) {
            // A process that has not started yet starts all the same.
            if (e.at_ns < p.spec->start_ns)
                continue;
            events.push_back(e);
            events.back().kind = event_kind::pause;
        } else if (e.process == p.spec->name) {
            events.push_back(e);
        }
    }
    return events;
}

u64 expander::exit_ns(const expanded_process &p) const
{
    for (const timed_event &e : s_.events)
        if (e.kind == event_kind::exit && e.process == p.spec->name)
            return e.at_ns;
    return never_ns;
}

void expander::exit_process(expanded_process &p, u32 line)
{
    if (p.spec->scanout == "self" || !p.clients.empty()) {
        operation op = make(op_kind::flip, p.number, line);

        op.vm = p.vms[0];
        push(std::move(op));
    }
    for (u32 vm : p.vms)
        request_of(p, vm, request_kind::wait, line);
    for (u32 vm : p.vms)
        request_of(p, vm, request_kind::vm_close, line);
}

// The first of the events, which is due. False if the process is gone.
bool expander::handle_event(expanded_process &p, std::vector<timed_event> &events)
{
    const timed_event e = events.front();

    events.erase(events.begin());
    switch (e.kind) {
    case event_kind::pause:
        now_ns_ = std::max(now_ns_, e.at_ns + e.for_ns);
        sleep_until(p.number, now_ns_, e.line);
        return true;
    case event_kind::grow:
        create_group(p, *p.find_group(e.group));
        return true;
    case event_kind::burst: {
        drawn_group &g = *p.find_group(e.group);

        if (g.alive) { // its end
            destroy_group(p, g);
            // Tags are not used twice: the group's next burst has new ones.
            g.first_bo = next_bo_;
            next_bo_ += g.count();
            return true;
        }
        create_group(p, g);
        timed_event end = e;

        end.at_ns += e.for_ns;
        events.insert(
            std::upper_bound(events.begin(), events.end(), end,
                             [](const timed_event &a, const timed_event &b) { return a.at_ns < b.at_ns; }),
            end);
        return true;
    }
    case event_kind::set_priority: {
        const drawn_group &g = *p.find_group(e.group);

        for (u32 bo = 0; g.alive && bo < g.count(); bo++) {
            request &r = request_of(p, p.vms[g.config->vm - 1], request_kind::bo_set_priority, e.line);

            r.bo = g.tag(bo);
            r.priority = e.priority;
        }
        return true;
    }
    default: // exit
        exit_process(p, e.line);
        return false;
    }
}

// A compositor takes up clients that have started and gives up those that have ended.
void expander::update_clients(expanded_process &p)
{
    for (expanded_process::client &c : p.clients) {
        const u64 start_ns = c.process->spec->start_ns + client_margin_ns;

        if (!c.shown && !c.gone && now_ns_ >= start_ns && now_ns_ < exit_ns(*c.process))
            c.shown = true;
        if (!c.shown || now_ns_ < exit_ns(*c.process))
            continue;
        operation op = make(op_kind::flip, p.number, p.spec->line);

        op.vm = p.vms[0];
        push(std::move(op));
        const drawn_group &images = *swapchain(*c.process);

        for (u32 bo : images.creation)
            request_of(p, p.vms[0], request_kind::bo_destroy, p.spec->line).bo = images.tag(bo);
        c.shown = false;
        c.gone = true;
    }
}

void expander::show_image(expanded_process &p)
{
    const drawn_group *images = p.spec->scanout == "self" || !p.clients.empty() ? swapchain(p) : nullptr;

    if (p.spec->direct_scanout)
        for (const expanded_process::client &c : p.clients)
            if (c.shown) {
                images = swapchain(*c.process);
                break;
            }
    if (!images)
        return;
    operation op = make(op_kind::flip, p.number, p.spec->line);
    const bool own = images == swapchain(p);

    op.vm = p.vms[own ? images->config->vm - 1 : 0];
    op.bo = images->tag(static_cast<u32>(p.frame % images->count()));
    push(std::move(op));
}

void expander::run_frame(expanded_process &p, u64 period_ns)
{
    const process_spec &spec = *p.spec;

    update_clients(p);
    if (spec.present != present_kind::fifo && period_ns && p.frame)
        sleep_until(p.number, now_ns_, spec.line);
    push(make(op_kind::frame, p.number, spec.line));
    submit_frame(p);
    show_image(p);
    for (u32 vm : p.vms) {
        operation op = make(op_kind::wait_back, p.number, spec.line);

        op.vm = vm;
        op.back = (spec.frames_in_flight - 1) * spec.submissions;
        push(std::move(op));
    }
    if (spec.present == present_kind::fifo) {
        operation op = make(op_kind::vblank, p.number, spec.line);

        op.period_ns = period_ns;
        push(std::move(op));
    }
    p.frame++;
    now_ns_ += period_ns;
}

void expander::frame_loop(expanded_process &p, std::vector<timed_event> &events)
{
    const process_spec &spec = *p.spec;
    const u64 period_ns = spec.present == present_kind::fifo ? ns_per_s / spec.refresh_hz
                          : spec.max_fps                     ? ns_per_s / spec.max_fps
                                                             : 0;

    while (spec.submissions && now_ns_ < s_.duration_ns && (!spec.frames || p.frame < spec.frames)) {
        if (!events.empty() && events.front().at_ns <= now_ns_) {
            if (!handle_event(p, events))
                return;
            continue;
        }
        run_frame(p, period_ns);
    }
    if (p.frame) // the end of the last one
        push(make(op_kind::frame, p.number, spec.line));
    // An idle process, or one that has done its frames, still has its events.
    while (!events.empty() && events.front().at_ns < s_.duration_ns) {
        now_ns_ = std::max(now_ns_, events.front().at_ns);
        if (events.front().kind != event_kind::pause)
            sleep_until(p.number, now_ns_, events.front().line);
        if (!handle_event(p, events))
            return;
    }
}

void expander::time_program(expanded_process &p)
{
    std::vector<timed_event> events = events_of(p);

    now_ns_ = p.spec->start_ns;
    if (now_ns_ >= s_.duration_ns)
        return;
    if (now_ns_)
        sleep_until(p.number, now_ns_, p.spec->line);
    open_vms(p);
    if (drawn_group *images = p.find_group(p.spec->swapchain)) {
        create_group(p, *images);
        for (expanded_process &shower : processes_) {
            if (shower.spec->name != p.spec->scanout)
                continue;
            for (u32 bo : images->creation) {
                request &r = request_of(p, p.vms[images->config->vm - 1], request_kind::bo_share,
                                        images->config->line);

                r.bo = images->tag(bo);
                r.target_vm = shower.vms[0];
            }
        }
    }
    create_groups(p);
    frame_loop(p, events);
}

void expander::system_program()
{
    u64 slept_ns = 0;

    for (const timed_event &e : s_.events) {
        const bool mine = e.kind == event_kind::evict_all || e.kind == event_kind::suspend ||
                          e.kind == event_kind::swapout || e.kind == event_kind::set_limits;

        if (!mine || e.at_ns >= s_.duration_ns)
            continue;
        now_ns_ = e.at_ns;
        if (e.at_ns > slept_ns)
            sleep_until(0, e.at_ns, e.line);
        slept_ns = e.at_ns;
        if (e.kind == event_kind::set_limits)
            set_limits(e.cgroup, e.line);
        else
            push(make(e.kind == event_kind::swapout ? op_kind::swapout : op_kind::evict_all, 0, e.line));
    }
}

} // namespace vramlab::workload
