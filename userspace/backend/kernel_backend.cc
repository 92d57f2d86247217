// SPDX-License-Identifier: MIT
#include "backend/kernel_backend.h"

#include "backend/kernel_backend_agent.h"

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <fmt/format.h>
#include <fstream>
#include <stdexcept>
#include <unistd.h>
#include <utility>

namespace vramlab::backend {

namespace {

// Kept agents: a fork is cheaper than moving a process between cgroups.
constexpr std::size_t agents_max = 32;

// The VRAM manager's name in the dmem controller.
std::string find_region()
{
    std::ifstream capacity("/sys/fs/cgroup/dmem.capacity");
    std::string name;
    std::string size;
    while (capacity >> name >> size)
        if (name.starts_with("drm/vttm") && name.ends_with("/vram"))
            return name;
    throw std::runtime_error(
        "no region of vttm in /sys/fs/cgroup/dmem.capacity (cgroup v2 with the dmem controller needed)");
}

// TTM swaps out when all of its BOs exceed a part of the machine's memory. Without contents they need none,
// and a device is to behave the same in a guest of any size.
void lift_page_limits()
{
    for (const char *name : {"pages_limit", "dma32_pages_limit"}) {
        const std::string path = fmt::format("/sys/module/ttm/parameters/{}", name);
        std::ofstream out(path);
        out << (u64{1} << 40);
        if (!out.flush())
            throw std::runtime_error(fmt::format("cannot write {} (are we root?)", path));
    }
}

// A parameter of ttm. A kernel without the patch has none, and then it does what is without.
void set_parameter(const char *name, const std::string &value, bool without)
{
    const std::string path = fmt::format("/sys/module/ttm/parameters/{}", name);
    if (::access(path.c_str(), F_OK)) {
        if (!without)
            throw std::runtime_error(fmt::format("this kernel has no {}", path));
        return;
    }
    std::ofstream out(path);
    out << value;
    if (!out.flush())
        throw std::runtime_error(fmt::format("cannot write {} (are we root?)", path));
}

void set_mechanism(const char *name, bool on)
{
    set_parameter(name, on ? "Y" : "N", !on);
}

// Only these make room for one BO that is known beforehand.
event_cause cause_for(const request &r)
{
    const bool one = r.kind == request_kind::pin || r.kind == request_kind::bo_create;
    return {r.process, one ? r.bo : 0};
}

const char *name_of(task_state s)
{
    switch (s) {
    case task_state::idle:
        return "idle";
    case task_state::parked:
        return "parked";
    case task_state::blocked:
        return "blocked";
    }
    return "?";
}

} // namespace

kernel_backend::kernel_backend(const kernel_options &options)
    : options_(options), watchdog_(options.timeout_s), lab_(port_, watchdog_), cgroups_(find_region())
{
    lift_page_limits();
}

// Agents first: a cgroup with processes cannot be removed.
kernel_backend::~kernel_backend()
{
    agents_.clear();
}

kernel_backend::process &kernel_backend::find(u32 number)
{
    for (process &p : processes_)
        if (p.number == number)
            return p;
    throw std::runtime_error(fmt::format("process {} is not in the workload", number));
}

std::size_t kernel_backend::choose_agent(const std::string &cgroup)
{
    const auto idle_in = std::find_if(agents_.begin(), agents_.end(),
                                      [&](const agent &a) { return !a.used && a.cgroup == cgroup; });
    if (idle_in != agents_.end())
        return static_cast<std::size_t>(idle_in - agents_.begin());

    auto chosen = agents_.end();
    if (agents_.size() >= agents_max)
        chosen = std::find_if(agents_.begin(), agents_.end(), [](const agent &a) { return !a.used; });
    if (chosen == agents_.end()) {
        const auto main = [this](int socket) { return kernel_agent(port_, socket).run(); };
        agents_.push_back({agent_process(main, options_.timeout_s), "", false});
        chosen = agents_.end() - 1;
    }
    if (chosen->cgroup != cgroup) {
        cgroups_.attach(chosen->process.pid(), cgroup);
        chosen->cgroup = cgroup;
    }
    return static_cast<std::size_t>(chosen - agents_.begin());
}

// A run that was given up leaves tasks in the middle of an operation.
void kernel_backend::end_tasks()
{
    for (;;) {
        auto under_way = processes_.end();
        auto parked = processes_.end();
        for (auto p = processes_.begin(); p != processes_.end(); ++p) {
            p->queued = false;
            const task_state s = agent_of(*p).pending() ? state_of(p->number) : task_state::idle;
            if (s != task_state::idle && under_way == processes_.end())
                under_way = p;
            if (s == task_state::parked && parked == processes_.end())
                parked = p;
        }
        if (under_way == processes_.end())
            return;
        if (parked == processes_.end())
            throw std::runtime_error(
                fmt::format("process {} is blocked and no other can go on", under_way->number));
        step(parked->number);
    }
}

void kernel_backend::reset_device(const device_config &d)
{
    int err = -EBUSY;
    for (int i = 0; i < 100000 && err == -EBUSY; i++) {
        err = lab_.reset(d, !options_.free_running);
        if (err != -EBUSY)
            break;
        // Deleted BOs may wait for copies that are still under way.
        const u64 next = lab_.next_ns();
        if (next != never_ns && !options_.free_running)
            err = lab_.advance(next) ? -EIO : -EBUSY;
        else
            ::usleep(1000);
        if (i > 5000 && next == never_ns)
            break;
    }
    if (err)
        throw std::runtime_error(
            fmt::format("vttm: cannot reset the device: {}{}", std::strerror(-err),
                        err == -EBUSY ? " (BOs or submissions of others are left)" : ""));
}

void kernel_backend::reset(const system_config &s)
{
    events::event_sink *const sink = std::exchange(sink_, nullptr);
    end_tasks();
    wire::message close_all;
    close_all.kind = wire::message_kind::reset;
    for (agent &a : agents_)
        if (std::exchange(a.used, false))
            a.process.call(close_all);
    processes_.clear();
    owners_.clear();
    set_mechanism("exec_retry", options_.mechanisms.retry);
    set_mechanism("throttle", options_.mechanisms.throttle);
    const bool throttles = options_.mechanisms.throttle;
    set_parameter("throttle_strong_ms", fmt::format("{}", options_.times.throttle_strong_ms), !throttles);
    set_parameter("throttle_weak_ms", fmt::format("{}", options_.times.throttle_weak_ms), !throttles);
    set_mechanism("bo_priority", options_.mechanisms.priority);
    set_mechanism("contig_range", options_.mechanisms.contig_range);
    reset_device(s.device);

    if (!cgroups_.fits(s.cgroups)) {
        for (agent &a : agents_)
            if (!std::exchange(a.cgroup, "").empty())
                cgroups_.attach(a.process.pid(), "");
        cgroups_.remove_all();
    }
    cgroups_.set_up(s.cgroups);
    groups_ = s.cgroups;
    for (const process_config &c : s.processes) {
        process p;
        p.number = c.process;
        p.agent = choose_agent(c.cgroup);
        agents_[p.agent].used = true;
        wire::message task;
        task.kind = wire::message_kind::become_task;
        task.process = c.process;
        c.name.copy(task.name, sizeof(task.name) - 1);
        if (!options_.free_running)
            if (const int err = agent_of(p).call(task).error; err && err != -EOPNOTSUPP)
                throw std::runtime_error(
                    fmt::format("vttm: cannot register task {}: {}", c.process, std::strerror(-err)));
        processes_.push_back(std::move(p));
    }
    now_valid_ = false;
    sink_ = sink;
}

// Events are delivered at the end of each call that can cause some.
void kernel_backend::after_call(bool clock_may_move, bool by_system)
{
    if (clock_may_move)
        now_valid_ = false;
    if (!sink_)
        return;
    lab_.read_events(records_);
    translate_events(
        records_, by_system, [&](u32 task) { return cause_of(task); }, *sink_);
}

// A task is the number of a process; running freely, the pid of the agent that acts for it.
event_cause kernel_backend::cause_of(u32 task) const
{
    for (const process &p : processes_) {
        const u32 name = options_.free_running ? static_cast<u32>(agents_[p.agent].process.pid()) : p.number;
        if (name == task)
            return p.cause;
    }
    return {};
}

result kernel_backend::share(const request &r)
{
    result res;
    const auto owner = owners_.find(r.target_vm);
    if (owner == owners_.end()) {
        res.error = -ENOENT;
        return res;
    }
    process &to = find(owner->second);
    if (agent_of(to).pending())
        throw std::runtime_error(
            fmt::format("sharing with process {}, which has an operation under way", to.number));
    wire::message m;
    m.kind = wire::message_kind::export_bo;
    m.vm = r.vm;
    m.bo = r.bo;
    int dma_buf = -1;
    res.error = agent_of(find(r.process)).call(m, -1, &dma_buf).error;
    if (!res.error) {
        m.kind = wire::message_kind::import_bo;
        m.vm = r.target_vm;
        res.error = agent_of(to).call(m, dma_buf).error;
    }
    if (dma_buf >= 0)
        ::close(dma_buf);
    return res;
}

result kernel_backend::execute(const request &r)
{
    result res;
    if (r.kind == request_kind::vm_open && owners_.contains(r.vm)) {
        res.error = -EEXIST; // labels are names within the workload
    } else if (r.kind == request_kind::bo_share) {
        res = share(r);
    } else {
        process &p = find(r.process);
        p.cause = cause_for(r);
        const wire::reply reply = agent_of(p).call(r);
        res.error = reply.error;
        res.seqno = reply.seqno;
        if (r.kind == request_kind::vm_open && !res.error)
            owners_[r.vm] = r.process;
        if (r.kind == request_kind::vm_close && !res.error)
            owners_.erase(r.vm);
    }
    if (r.kind != request_kind::list_define && r.kind != request_kind::touch_define)
        after_call(true);
    return res;
}

// The task has reported its end: fetches the answer.
void kernel_backend::collect(process &p)
{
    const wire::reply reply = agent_of(p).receive();
    p.ended_with.error = reply.error;
    p.ended_with.seqno = reply.seqno;
    p.ended = true;
    p.state = task_state::idle;
    const request &r = p.what;
    if (r.kind == request_kind::vm_open && !reply.error)
        owners_[r.vm] = r.process;
    if (r.kind == request_kind::vm_close && !reply.error)
        owners_.erase(r.vm);
}

task_state kernel_backend::begin(const request &r)
{
    process &p = find(r.process);
    if (p.state != task_state::idle)
        throw std::runtime_error(fmt::format("process {} has an operation under way", r.process));
    // These take no lock, so nothing can come between their parts.
    if (r.kind == request_kind::bo_share || r.kind == request_kind::list_define ||
        r.kind == request_kind::touch_define || r.kind == request_kind::vm_open) {
        p.ended_with = execute(r);
        p.ended = true;
        return task_state::idle;
    }
    p.what = r;
    p.cause = cause_for(r);
    p.ended = false;
    if (options_.free_running) {
        p.queued = true;
        return p.state = task_state::parked;
    }
    lab_.begin(p.number);
    agent_of(p).send_request(r, wire::flag_lockstep);
    p.state = lab_.state(p.number);
    if (p.state == task_state::idle)
        collect(p);
    after_call(true);
    return p.state;
}

void kernel_backend::release_queued()
{
    for (process &p : processes_)
        if (std::exchange(p.queued, false))
            agent_of(p).send_request(p.what, 0);
}

task_state kernel_backend::step(u32 number)
{
    process &p = find(number);
    if (p.state != task_state::parked)
        throw std::runtime_error(fmt::format("process {} is {}, not parked", number, name_of(p.state)));
    if (options_.free_running)
        release_queued();
    else
        p.state = lab_.step(number);
    if (options_.free_running || p.state == task_state::idle)
        collect(p);
    after_call(true);
    return p.state;
}

// Only a blocked task changes its state by itself, when another unlocks.
task_state kernel_backend::state_of(u32 number)
{
    process &p = find(number);
    if (p.state == task_state::blocked)
        p.state = lab_.state(number);
    if (p.state == task_state::idle && agent_of(p).pending())
        collect(p);
    return p.state;
}

result kernel_backend::take_result(u32 number)
{
    process &p = find(number);
    if (!std::exchange(p.ended, false))
        throw std::runtime_error(fmt::format("process {} has no result to take", number));
    return p.ended_with;
}

u64 kernel_backend::now_ns()
{
    if (!now_valid_)
        now_ns_ = lab_.info().clock_ns;
    now_valid_ = !options_.free_running;
    return now_ns_;
}

u64 kernel_backend::next_event_ns()
{
    return lab_.next_ns();
}

void kernel_backend::advance(u64 to_ns)
{
    if (options_.free_running) {
        for (u64 now = now_ns(); now < to_ns; now = now_ns())
            ::usleep(static_cast<useconds_t>(std::min<u64>((to_ns - now + 999) / 1000, 100000)));
    } else if (const int err = lab_.advance(to_ns)) {
        throw std::runtime_error(
            fmt::format("vttm: cannot advance the clock to {} ns: {}", to_ns, std::strerror(-err)));
    }
    after_call(true);
}

bool kernel_backend::signaled(u32 vm, u64 seqno)
{
    const auto owner = owners_.find(vm);
    if (seqno == 0 || owner == owners_.end())
        return true; // a closed VM has waited for its submissions
    process &p = find(owner->second);
    if (agent_of(p).pending())
        throw std::runtime_error(
            fmt::format("looking at a submission of process {}, which is busy", p.number));
    wire::message m;
    m.kind = wire::message_kind::signaled;
    m.vm = vm;
    m.seqno = seqno;
    const int err = agent_of(p).call(m).error;
    if (err && err != -ETIME)
        throw std::runtime_error(
            fmt::format("vttm: submission {} of VM {}: {}", seqno, vm, std::strerror(-err)));
    return err == 0;
}

int kernel_backend::evict_all()
{
    const int err = lab_.evict_all();
    after_call(true, true);
    return err;
}

int kernel_backend::swapout()
{
    const int err = lab_.swapout();
    after_call(true, true);
    return err;
}

int kernel_backend::set_limits(const cgroup_config &c)
{
    int err;
    {
        const watchdog::scope watched(watchdog_);
        err = cgroups_.set_limits(c);
    }
    if (!options_.free_running)
        lab_.settle(); // lowering the maximum evicts, outside of the driver's own calls
    after_call(true, true);
    return err;
}

usage kernel_backend::query_usage()
{
    const drm_vttm_get_info i = lab_.info();
    usage u;
    u.vram_usage_bytes = i.vram_usage;
    u.vram_pinned_bytes = i.vram_pinned;
    u.gtt_usage_bytes = i.gtt_usage;
    u.bytes_moved = i.bytes_moved;
    u.evictions = i.evictions;
    return u;
}

std::string kernel_backend::state()
{
    std::string text;
    lab_.read_state(text);
    constexpr std::string_view clock = "clock ";
    if (!options_.free_running && text.starts_with(clock)) {
        std::from_chars(text.data() + clock.size(), text.data() + text.size(), now_ns_);
        now_valid_ = true;
    }
    for (std::size_t i = 0; i < groups_.size(); i++)
        fmt::format_to(std::back_inserter(text), "charge {} {}\n", groups_[i].path, cgroups_.current(i));
    for (process &p : processes_)
        fmt::format_to(std::back_inserter(text), "task {} {}\n", p.number, name_of(state_of(p.number)));
    return text;
}

void kernel_backend::set_event_sink(events::event_sink *sink)
{
    if (!sink_ && sink)
        lab_.read_events(records_); // what came before is nobody's
    sink_ = sink;
}

} // namespace vramlab::backend
