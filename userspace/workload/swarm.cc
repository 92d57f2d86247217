// SPDX-License-Identifier: MIT
#include "workload/swarm.h"

#include "workload/swarm_state.h"

#include <string>

namespace vramlab::workload {

namespace {

constexpr u64 page = 4096;

// Paths keep their place in the tree from seed to seed, so that a kernel backend can keep the cgroups.
const char *const leaf_cgroups[] = {"", "user/game", "user/desktop", "batch"};

class swarm_generator {
public:
    swarm_generator(u64 seed, const swarm_options &o) : rng_(rng(seed).fork(0x5741524d)), o_(o) {}
    workload make(u64 seed);

private:
    void make_system();
    void make_limits(cgroup_config &c);
    void warm_up();
    void one_operation();
    void concurrent_block();

    bool open_vm(u32 process);
    bool create(bool begin, swarm_vm &vm);
    bool destroy(bool begin, swarm_vm &vm);
    bool share(swarm_vm &vm);
    bool set_priority(swarm_vm &vm);
    bool submit(bool begin, swarm_vm &vm, bool contended);
    bool wait(bool begin, swarm_vm &vm);
    bool pin(bool begin, swarm_vm &vm);
    bool unpin(bool begin, swarm_vm &vm);
    void advance();
    void edge_case(swarm_vm &vm);

    void define_list(swarm_vm &vm, bool contended);
    u32 define_touches(swarm_vm &vm);
    bool begin_something(swarm_vm &vm);
    u64 random_size();
    bool chance(u64 percent) { return rng_.below(100) < percent; }
    swarm_vm &any_vm() { return state_.vms[rng_.below(state_.vms.size())]; }
    u64 any_of(const std::vector<u64> &tags) { return tags[rng_.below(tags.size())]; }
    void add(op_kind kind, const request &r);
    request make_request(request_kind kind, const swarm_vm &vm) const;

    rng rng_;
    swarm_options o_;
    workload w_;
    swarm_state state_;
    u64 now_ns_ = 0; // about; only so that advances go forward
};

request swarm_generator::make_request(request_kind kind, const swarm_vm &vm) const
{
    request r;
    r.kind = kind;
    r.process = vm.process;
    r.vm = vm.label;
    return r;
}

void swarm_generator::add(op_kind kind, const request &r)
{
    operation op;
    op.kind = kind;
    op.process = r.process;
    op.req = r;
    w_.operations.push_back(std::move(op));
}

void swarm_generator::make_limits(cgroup_config &c)
{
    const u64 vram = w_.system.device.vram_size_bytes / page;
    const auto some = [&](u64 percent) { return chance(percent) ? rng_.below(vram / 2 + 1) * page : 0; };
    c.min_bytes = some(30);
    c.low_bytes = some(40);
    c.max_bytes = chance(35) ? rng_.between(vram / 8, vram) * page : ~u64{0};
}

void swarm_generator::make_system()
{
    device_config &d = w_.system.device;
    const u64 vram_mib[] = {4, 8, 16, 16, 16, 24};
    d.vram_size_bytes =
        vram_mib[rng_.below(o_.crowded ? 2 : 6)] * MiB + (chance(25) ? rng_.below(256) * page : 0);
    d.gtt_size_bytes = (chance(20) ? rng_.between(4, 24) : 64) * MiB;
    d.vram_bandwidth = rng_.between(1, 512) * GiB;
    d.link_bandwidth = rng_.between(1, 32) * GiB;
    d.copy_latency_ns = rng_.below(20000);
    d.log2_max_mbps = chance(70) ? 3 : static_cast<u32>(rng_.below(14));
    d.overlap = chance(50);
    if (chance(80))
        for (const char *path : {"user", "user/game", "user/desktop", "batch"}) {
            cgroup_config c;
            c.path = path;
            make_limits(c);
            w_.system.cgroups.push_back(c);
        }
    const u32 processes = static_cast<u32>(o_.crowded ? rng_.between(2, 3)
                                                      : rng_.between(chance(85) ? 2 : 1, o_.processes_max));
    for (u32 i = 1; i <= processes; i++) {
        process_config p;
        p.process = i;
        p.name = "p" + std::to_string(i);
        if (!w_.system.cgroups.empty())
            p.cgroup = leaf_cgroups[rng_.below(4)];
        w_.system.processes.push_back(p);
    }
}

u64 swarm_generator::random_size()
{
    if (o_.crowded && chance(80)) // a dozen of them fill VRAM
        return w_.system.device.vram_size_bytes / page / rng_.between(10, 14) * page;
    if (chance(5))
        return 2 * MiB * rng_.between(1, 2);
    u64 pages = u64{1} << rng_.below(10);
    if (!chance(30))
        pages += rng_.below(pages);
    return pages * page;
}

bool swarm_generator::open_vm(u32 process)
{
    if (state_.vms.size() >= 8)
        return false;
    swarm_vm vm;
    vm.label = state_.next_label++;
    vm.process = process;
    add(op_kind::request, make_request(request_kind::vm_open, vm));
    state_.vms.push_back(std::move(vm));
    return true;
}

bool swarm_generator::create(bool begin, swarm_vm &vm)
{
    if (state_.bos.size() >= (o_.crowded ? o_.bos_max / 2 : o_.bos_max))
        return false;
    request r = make_request(request_kind::bo_create, vm);
    r.bo = state_.next_tag++;
    r.size_bytes = random_size();
    const u32 domains[] = {domain_vram,
                           domain_vram,
                           domain_vram,
                           domain_vram | domain_gtt,
                           domain_gtt,
                           domain_system,
                           domain_vram | domain_gtt | domain_system,
                           domain_gtt | domain_system};
    r.preferred = domains[rng_.below(8)];
    if (chance(40))
        r.allowed = r.preferred | static_cast<u32>(rng_.below(8));
    if (o_.crowded && chance(85)) {
        r.preferred = domain_vram;
        r.allowed = chance(70) ? domain_vram : domain_vram | domain_gtt;
    }
    if (chance(o_.crowded ? 10 : 45))
        r.flags |= bo_vm_private;
    if (chance(12))
        r.flags |= bo_contiguous;
    if (chance(12))
        r.flags |= bo_explicit_sync;
    if (chance(50))
        r.priority = static_cast<u32>(rng_.below(priority_max + 1));
    add(begin ? op_kind::begin : op_kind::request, r);
    state_.bos.push_back({r.bo, r.size_bytes, r.flags, {vm.label}});
    return true;
}

bool swarm_generator::destroy(bool begin, swarm_vm &vm)
{
    const std::vector<u64> tags = state_.held(vm, true, true);
    if (tags.empty())
        return false;
    request r = make_request(request_kind::bo_destroy, vm);
    r.bo = any_of(tags);
    add(begin ? op_kind::begin : op_kind::request, r);
    state_.drop(vm, r.bo);
    return true;
}

bool swarm_generator::share(swarm_vm &vm)
{
    const std::vector<u64> tags = state_.held(vm, false, true);
    if (tags.empty())
        return false;
    request r = make_request(request_kind::bo_share, vm);
    r.bo = any_of(tags);
    swarm_bo &bo = *state_.find_bo(r.bo);
    const swarm_vm &target = any_vm();
    if (std::find(bo.holders.begin(), bo.holders.end(), target.label) != bo.holders.end())
        return false;
    r.target_vm = target.label;
    add(op_kind::request, r);
    bo.holders.push_back(target.label);
    return true;
}

bool swarm_generator::set_priority(swarm_vm &vm)
{
    const std::vector<u64> tags = state_.held(vm, true, o_.edge_cases);
    if (tags.empty())
        return false;
    request r = make_request(request_kind::bo_set_priority, vm);
    r.bo = any_of(tags);
    r.priority = static_cast<u32>(rng_.below(priority_max + 1));
    add(op_kind::request, r);
    return true;
}

// A contended list has most of what is shared, in a random order: the lists of two processes then meet in the
// middle.
void swarm_generator::define_list(swarm_vm &vm, bool contended)
{
    std::vector<u64> tags = state_.held(vm, false, true);
    rng_.shuffle(tags);
    if (o_.crowded && contended)
        tags.resize(state_.count_within(tags, w_.system.device.vram_size_bytes / 100 * rng_.between(70, 97)));
    else if (!contended || tags.size() > 12)
        tags.resize(std::min<std::size_t>(tags.size(), 1 + rng_.below(contended ? 12 : 8)));
    if (tags.size() > 1 && chance(5))
        tags.push_back(tags.front());
    request r = make_request(request_kind::list_define, vm);
    r.id = 1;
    r.bos = tags;
    add(op_kind::request, r);
    vm.list_size = static_cast<u32>(tags.size());
    vm.listed = tags;
}

u32 swarm_generator::define_touches(swarm_vm &vm)
{
    std::vector<u64> tags = state_.held(vm, true, false);
    tags.insert(tags.end(), vm.listed.begin(), vm.listed.end());
    if (tags.empty())
        return 0;
    request r = make_request(request_kind::touch_define, vm);
    r.id = 1;
    for (u64 n = rng_.between(1, 6); n > 0; n--) {
        touch t;
        t.bo = any_of(tags);
        t.vram_bytes = rng_.below(4 * MiB);
        t.link_bytes = rng_.below(4 * MiB);
        r.touches.push_back(t);
    }
    add(op_kind::request, r);
    return r.id;
}

bool swarm_generator::submit(bool begin, swarm_vm &vm, bool contended)
{
    // A list that has lost a BO since cannot be used again.
    const bool stale = vm.list_size != vm.listed.size();
    if (!begin && (stale || vm.list_size == 0 || chance(40)))
        define_list(vm, contended);
    request r = make_request(request_kind::submit, vm);
    r.list = vm.list_size && vm.list_size == vm.listed.size() ? 1 : 0;
    if (!begin && r.list && chance(50))
        r.touch_set = define_touches(vm);
    r.compute_ns = rng_.below(chance(20) ? 5'000'000 : 200'000);
    add(begin ? op_kind::begin : op_kind::request, r);
    vm.submissions++;
    return true;
}

bool swarm_generator::wait(bool begin, swarm_vm &vm)
{
    request r = make_request(request_kind::wait, vm);
    if (chance(30) && vm.submissions > 4)
        r.seqno = rng_.between(1, vm.submissions / 2); // half of them may have failed
    add(begin ? op_kind::begin : op_kind::request, r);
    return true;
}

bool swarm_generator::pin(bool begin, swarm_vm &vm)
{
    const std::vector<u64> tags = state_.held(vm, true, true);
    if (tags.empty() || vm.pins.size() >= 4)
        return false;
    request r = make_request(request_kind::pin, vm);
    r.bo = any_of(tags);
    add(begin ? op_kind::begin : op_kind::request, r);
    vm.pins.push_back(r.bo);
    return true;
}

bool swarm_generator::unpin(bool begin, swarm_vm &vm)
{
    if (vm.pins.empty())
        return false;
    request r = make_request(request_kind::unpin, vm);
    r.bo = any_of(vm.pins);
    vm.pins.erase(std::find(vm.pins.begin(), vm.pins.end(), r.bo));
    add(begin ? op_kind::begin : op_kind::request, r);
    return true;
}

void swarm_generator::advance()
{
    operation op;
    op.kind = op_kind::advance;
    now_ns_ += rng_.below(chance(30) ? 50'000'000 : 500'000);
    op.at_ns = now_ns_;
    w_.operations.push_back(op);
}

bool swarm_generator::begin_something(swarm_vm &vm)
{
    switch (rng_.below(20)) {
    case 0:
        return create(true, vm);
    case 1:
        return destroy(true, vm);
    case 2:
        return pin(true, vm);
    case 3:
        return unpin(true, vm);
    case 4:
        return wait(true, vm);
    default:
        return submit(true, vm, true);
    }
}

// Several processes at a time: begun one after another with steps between, then run in a drawn order.
void swarm_generator::concurrent_block()
{
    std::vector<u32> labels; // one VM of each process
    for (const process_config &p : w_.system.processes) {
        std::vector<u32> own;
        for (const swarm_vm &vm : state_.vms)
            if (vm.process == p.process)
                own.push_back(vm.label);
        if (!own.empty() && chance(85))
            labels.push_back(own[rng_.below(own.size())]);
    }
    rng_.shuffle(labels);
    const auto vm_of = [&](u32 label) -> swarm_vm & {
        return *std::find_if(state_.vms.begin(), state_.vms.end(),
                             [&](const swarm_vm &v) { return v.label == label; });
    };
    for (const u32 label : labels)
        if (swarm_vm &vm = vm_of(label); vm.list_size != vm.listed.size() || chance(70))
            define_list(vm, true);

    std::vector<u32> begun;
    for (const u32 label : labels) {
        swarm_vm &vm = vm_of(label);
        if (!begin_something(vm))
            continue;
        begun.push_back(vm.process);
        for (u64 steps = rng_.below(5); steps > 0; steps--) {
            operation op;
            op.kind = op_kind::step;
            op.process = begun[rng_.below(begun.size())];
            w_.operations.push_back(op);
        }
        if (chance(8))
            advance();
    }
    if (begun.empty())
        return;
    if (chance(15)) {
        operation op;
        op.kind = op_kind::finish;
        op.process = begun[rng_.below(begun.size())];
        w_.operations.push_back(op);
    }
    operation run;
    run.kind = op_kind::run;
    run.seed = rng_.next() >> 12; // fits a JSON number everywhere
    w_.operations.push_back(run);
}

void swarm_generator::edge_case(swarm_vm &vm)
{
    request r = make_request(request_kind::bo_create, vm);
    const std::vector<u64> own = state_.held(vm, true, true);
    switch (rng_.below(10)) {
    case 0: // sizes
    case 1: {
        const u64 sizes[] = {0,        1, page + 1, u64{1} << 63, w_.system.device.vram_size_bytes + page,
                             256 * MiB};
        r.size_bytes = sizes[rng_.below(6)];
        r.preferred = domain_vram;
        break;
    }
    case 2: // masks
        r.size_bytes = page;
        r.preferred = static_cast<u32>(rng_.below(32));
        r.allowed = static_cast<u32>(rng_.below(32));
        r.flags = static_cast<u32>(rng_.below(16));
        break;
    case 3:
        r.size_bytes = page;
        r.preferred = domain_vram;
        r.priority = priority_max + static_cast<u32>(rng_.below(3));
        break;
    case 4:
        r.kind = request_kind::bo_destroy;
        break;
    case 5:
        r.kind = chance(50) ? request_kind::pin : request_kind::unpin;
        break;
    case 6:
        r.kind = request_kind::wait;
        r.seqno = vm.submissions + rng_.between(1, 3);
        break;
    case 7:
        r.kind = request_kind::bo_set_priority;
        break;
    default: { // a list with private, unknown or repeated BOs
        request list = make_request(request_kind::list_define, vm);
        list.id = 2;
        for (u64 n = rng_.below(4); n > 0; n--)
            list.bos.push_back(own.empty() || chance(20) ? state_.next_tag + 1000 : any_of(own));
        add(op_kind::request, list);
        r.kind = request_kind::submit;
        r.list = 2;
        r.touch_set = chance(50) ? define_touches(vm) : 0;
        vm.submissions++;
        break;
    }
    }
    if (r.kind == request_kind::bo_create)
        r.bo = state_.next_tag++;
    else if (r.kind != request_kind::submit && r.kind != request_kind::wait)
        r.bo = own.empty() || chance(50) ? state_.next_tag + 1000 : any_of(own);
    if (r.kind == request_kind::bo_destroy && r.bo < state_.next_tag)
        state_.drop(vm, r.bo);
    if (r.kind == request_kind::unpin)
        std::erase(vm.pins, r.bo);
    add(op_kind::request, r);
}

void swarm_generator::one_operation()
{
    swarm_vm &vm = any_vm();
    u64 draw = rng_.below(100);
    if (o_.crowded && chance(50)) // most of it at the same time
        draw = chance(10) ? 20 : 87;
    if (draw < 14)
        create(false, vm);
    else if (draw < 20)
        destroy(false, vm);
    else if (draw < 30)
        share(vm);
    else if (draw < 33)
        set_priority(vm);
    else if (draw < 60)
        submit(false, vm, chance(30));
    else if (draw < 63)
        wait(false, vm);
    else if (draw < 67)
        pin(false, vm);
    else if (draw < 71)
        unpin(false, vm);
    else if (draw < 77)
        advance();
    else if (draw < 78) {
        if (state_.vms.size() > w_.system.processes.size() && chance(50)) {
            add(op_kind::request, make_request(request_kind::vm_close, vm));
            state_.close(vm.label);
        } else {
            open_vm(static_cast<u32>(rng_.between(1, w_.system.processes.size())));
        }
    } else if (draw < 80) {
        operation op;
        op.kind = op_kind::evict_all;
        w_.operations.push_back(op);
    } else if (draw < 83) {
        operation op;
        op.kind = op_kind::swapout;
        w_.operations.push_back(op);
    } else if (draw < 87) {
        if (w_.system.cgroups.empty())
            return;
        operation op;
        op.kind = op_kind::set_limits;
        op.cgroup.path = w_.system.cgroups[rng_.below(w_.system.cgroups.size())].path;
        make_limits(op.cgroup);
        w_.operations.push_back(op);
    } else if (draw < 95) {
        concurrent_block();
    } else if (o_.edge_cases) {
        edge_case(vm);
    }
}

void swarm_generator::warm_up()
{
    for (const process_config &p : w_.system.processes)
        for (u64 n = !o_.crowded && chance(30) ? 2 : 1; n > 0; n--)
            open_vm(p.process);
    for (u64 n = (o_.crowded ? rng_.between(20, 28) : rng_.between(8, 28)); n > 0; n--)
        create(false, any_vm());
    for (u64 n = o_.crowded ? rng_.below(6) : rng_.between(4, 20); n > 0; n--)
        share(any_vm());
}

workload swarm_generator::make(u64 seed)
{
    w_.name = (o_.crowded ? "swarm-crowded-" : "swarm-") + std::to_string(seed);
    w_.description = o_.edge_cases ? "random, with refused arguments"
                     : o_.crowded  ? "random, crowded"
                                   : "random";
    make_system();
    warm_up();
    while (w_.operations.size() < o_.operations)
        one_operation();
    for (u32 i = 0; i < w_.operations.size(); i++)
        w_.operations[i].line = i + 2; // as if read from a file: the first line is the header
    return std::move(w_);
}

} // namespace

workload make_swarm(u64 seed, const swarm_options &options)
{
    return swarm_generator(seed, options).make(seed);
}

} // namespace vramlab::workload
