// SPDX-License-Identifier: MIT
#include "fuzz/executor_input.h"

#include "backend/sim_backend.h"
#include "fuzz/state_invariants.h"
#include "runner/executor.h"
#include "runner/shrink.h"

#include <fmt/format.h>

#include <algorithm>

namespace vramlab::fuzz {

namespace {

using workload::op_kind;
using workload::operation;

constexpr std::size_t operations_max = 160;
constexpr u32 processes_max = 4;
constexpr u64 page = 4096;

class decoder {
public:
    decoder(const u8 *data, std::size_t size) : data_(data), end_(data + size) {}
    workload::workload run();

private:
    u8 byte() { return data_ == end_ ? 0 : *data_++; }
    u32 below(u32 n) { return byte() % n; }
    void system();
    void one();
    operation &add(op_kind kind, u32 process);
    void add_request(request r, op_kind how);
    request make_request();
    void create(request &r);
    u64 some_bo() { return bos_ ? 1 + byte() % bos_ : 1; }

    const u8 *data_, *end_;
    workload::workload w_;
    u32 processes_ = 1;
    u64 bos_ = 0;
    u64 now_ns_ = 0;
};

void decoder::system()
{
    const u8 shape = byte();
    processes_ = 1 + shape % processes_max;
    w_.system.device.vram_size_bytes = (4 + (shape >> 2) % 16) * MiB;
    w_.system.device.gtt_size_bytes = (8 + 8 * (shape >> 6)) * MiB;
    w_.system.device.log2_max_mbps = 3 + shape % 8;
    w_.system.device.overlap = shape & 0x40;
    w_.order = shape & 0x20 ? workload::order_kind::time : workload::order_kind::file;
    const u8 limits = byte();
    w_.system.cgroups.push_back({"a", (limits & 3) * MiB, (limits >> 2 & 3) * MiB, ~u64{0}});
    w_.system.cgroups.push_back({"a/b", (limits & 1) * MiB, (limits >> 4 & 3) * MiB,
                                 limits & 0x80 ? (2 + (limits >> 5 & 3)) * MiB : ~u64{0}});
    w_.system.cgroups.push_back({"c", 0, (limits >> 6) * MiB, ~u64{0}});
    static const char *paths[] = {"a/b", "c", "a"};
    for (u32 p = 1; p <= processes_; p++) {
        w_.system.processes.push_back({p, fmt::format("p{}", p), paths[p % 3]});
        request r;
        r.kind = request_kind::vm_open;
        r.process = r.vm = p; // one VM each, with the number of its process
        add_request(r, op_kind::request);
    }
}

operation &decoder::add(op_kind kind, u32 process)
{
    operation op;
    op.kind = kind;
    op.process = op.vm = process;
    op.line = static_cast<u32>(w_.operations.size()) + 1;
    w_.operations.push_back(std::move(op));
    return w_.operations.back();
}

void decoder::add_request(request r, op_kind how)
{
    operation &op = add(how, r.process);
    op.req = std::move(r);
}

void decoder::create(request &r)
{
    static const u64 sizes[] = {page, 3 * page, 64 * KiB, 256 * KiB, MiB, MiB + page, 2 * MiB, 3 * MiB};
    static const u32 domains[] = {domain_vram, domain_vram, domain_vram | domain_gtt, domain_gtt,
                                  domain_system};
    const u8 how = byte();
    r.bo = ++bos_;
    r.size_bytes = sizes[how & 7];
    r.preferred = domains[below(5)];
    r.allowed = how & 0x80 ? r.preferred : 0;
    r.flags = how >> 3 & bo_flags_mask;
    r.priority = how >> 4 & priority_max;
}

request decoder::make_request()
{
    request r;
    r.process = r.vm = 1 + below(processes_);
    switch (below(14)) {
    case 0:
    case 1:
    case 2:
        r.kind = request_kind::bo_create;
        create(r);
        break;
    case 3:
        r.kind = request_kind::bo_destroy;
        r.bo = some_bo();
        break;
    case 4:
        r.kind = request_kind::bo_share;
        r.bo = some_bo();
        r.target_vm = 1 + below(processes_);
        break;
    case 5:
        r.kind = request_kind::list_define;
        r.id = 1 + below(2);
        for (u32 n = below(8); n; n--)
            r.bos.push_back(some_bo());
        std::sort(r.bos.begin(), r.bos.end());
        r.bos.erase(std::unique(r.bos.begin(), r.bos.end()), r.bos.end());
        if (r.id == 2) // the other order: what deadlocks are made of
            std::reverse(r.bos.begin(), r.bos.end());
        break;
    case 6:
        r.kind = request_kind::touch_define;
        r.id = 1;
        for (u32 n = below(4); n; n--)
            r.touches.push_back({some_bo(), u64{byte()} * KiB, u64{byte()} * KiB});
        break;
    case 7:
        r.kind = request_kind::pin;
        r.bo = some_bo();
        break;
    case 8:
        r.kind = request_kind::unpin;
        r.bo = some_bo();
        break;
    case 9:
        r.kind = request_kind::wait;
        r.seqno = below(3);
        break;
    case 10:
        r.kind = request_kind::bo_set_priority;
        r.bo = some_bo();
        r.priority = below(16);
        break;
    default:
        r.kind = request_kind::submit;
        r.list = below(3);
        r.touch_set = below(2);
        r.compute_ns = u64{byte()} * 10'000;
        break;
    }
    return r;
}

void decoder::one()
{
    const bool file = w_.order == workload::order_kind::file;
    const u32 process = 1 + below(processes_);
    switch (below(16)) {
    case 0:
        if (file)
            add(op_kind::step, process);
        else
            add(op_kind::sleep, process).at_ns = now_ns_ += u64{byte()} * 100'000;
        break;
    case 1:
        if (file)
            add(op_kind::finish, process);
        else
            add(op_kind::vblank, process).period_ns = 1'000'000;
        break;
    case 2:
        if (file)
            add(op_kind::run, 0).seed = byte();
        else
            add(op_kind::frame, process);
        break;
    case 3:
        if (file)
            add(op_kind::advance, 0).at_ns = now_ns_ += u64{byte()} * 100'000;
        else
            add(op_kind::wait_back, process).back = below(3);
        break;
    case 4:
        add(op_kind::flip, process).bo = below(4) ? some_bo() : 0;
        break;
    case 5:
        switch (below(8)) {
        case 0:
            add(op_kind::evict_all, 0);
            break;
        case 1:
            add(op_kind::swapout, 0);
            break;
        case 2: {
            operation &op = add(op_kind::set_limits, 0);
            op.cgroup = w_.system.cgroups[below(3)];
            op.cgroup.max_bytes = byte() & 1 ? ~u64{0} : (1 + below(8)) * MiB;
            break;
        }
        default:
            break;
        }
        break;
    case 6:
    case 7:
    case 8:
        if (file) {
            add_request(make_request(), op_kind::begin);
            break;
        }
        [[fallthrough]];
    default:
        add_request(make_request(), op_kind::request);
        break;
    }
}

// A handle cannot be given to a process in the middle of an operation: the interface forbids it.
void drop_shares_with_the_busy(workload::workload &w)
{
    std::vector<bool> busy(processes_max + 1);
    std::erase_if(w.operations, [&](const operation &op) {
        if (op.kind == op_kind::finish)
            busy[op.process] = false;
        else if (op.kind == op_kind::run)
            busy.assign(busy.size(), false);
        const bool is_share = op.req.kind == request_kind::bo_share &&
                              (op.kind == op_kind::request || op.kind == op_kind::begin);
        if (is_share && (op.kind == op_kind::begin || busy[op.req.target_vm]))
            return true;
        if (op.kind == op_kind::begin)
            busy[op.req.process] = true;
        return false;
    });
}

workload::workload decoder::run()
{
    system();
    while (data_ != end_ && w_.operations.size() < operations_max)
        one();
    workload::workload out = runner::make_well_formed(w_);
    drop_shares_with_the_busy(out);
    if (out.order == workload::order_kind::file)
        return out;
    // Time order knows no begin, and no run at the end.
    std::erase_if(out.operations,
                  [](const operation &op) { return op.kind == op_kind::run || op.kind == op_kind::begin; });
    return out;
}

bool may_escape(int error)
{
    switch (-error) {
    case EDEADLK: // drm_exec and TTM have to deal with these
    case EAGAIN:
    case EALREADY:
    case EMULTIHOP:
        return false;
    default:
        return true;
    }
}

class run_checker {
public:
    explicit run_checker(const workload::workload &w) : w_(w), under_way_(w.operations.size())
    {
        state_.all_charged = true;
        for (const operation &op : w.operations)
            if (op.req.kind == request_kind::bo_create && op.req.bo)
                state_.bo_sizes[op.req.bo] = op.req.size_bytes;
    }
    std::string run();

private:
    bool after(const runner::operation_report &o);
    std::string at_the_end();

    const workload::workload &w_;
    backend::sim_backend sim_;
    state_check_options state_;
    std::vector<bool> under_way_;
    u32 tasks_ = 0;
    std::string problem_;
};

bool run_checker::after(const runner::operation_report &o)
{
    if (o.op.kind == op_kind::begin) {
        under_way_[o.index] = true;
        tasks_++;
    }
    for (u32 i : o.completed) {
        if (under_way_[i]) {
            under_way_[i] = false;
            tasks_--;
        }
        const int error = o.results[i].r.error;
        if (!may_escape(error))
            problem_ = fmt::format("operation {}: error {} escaped", i, error);
    }
    state_.at_rest = tasks_ == 0;
    if (std::string wrong = check_state(o.backend.state(), state_); !wrong.empty())
        problem_ = fmt::format("after operation {}: {}", o.index, wrong);
    return problem_.empty();
}

// With every VM closed and everything waited for, nothing is left.
std::string run_checker::at_the_end()
{
    for (const process_config &p : w_.system.processes) {
        request r;
        r.kind = request_kind::vm_close;
        r.process = r.vm = p.process;
        sim_.execute(r);
    }
    for (u32 i = 0; sim_.next_event_ns() != never_ns; i++) {
        if (i == 100'000)
            return "the device does not come to rest";
        sim_.advance(sim_.next_event_ns());
    }
    const backend::usage u = sim_.query_usage();
    if (u.vram_usage_bytes || u.gtt_usage_bytes || u.vram_pinned_bytes)
        return fmt::format("at the end: {} bytes of VRAM, {} of GTT, {} pinned are left", u.vram_usage_bytes,
                           u.gtt_usage_bytes, u.vram_pinned_bytes);
    return "";
}

std::string run_checker::run()
{
    runner::executor_options options;
    options.max_steps = 100'000;
    options.after_operation = [this](const runner::operation_report &o) { return after(o); };
    const runner::run_result r = runner::execute(w_, sim_, options);
    if (!problem_.empty())
        return problem_;
    if (!r.failures.empty())
        return r.failures[0].invariant + ": " + r.failures[0].message;
    return at_the_end();
}

} // namespace

workload::workload workload_of(const u8 *data, std::size_t size)
{
    return decoder(data, size).run();
}

std::string check_run(const workload::workload &w)
{
    return run_checker(w).run();
}

} // namespace vramlab::fuzz
