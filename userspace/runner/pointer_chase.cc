// SPDX-License-Identifier: MIT
#include "runner/pointer_chase.h"

#include <algorithm>

namespace vramlab::runner {

namespace {

constexpr u64 read_bytes = 64;

u64 scaled(u64 n, u64 part, u64 whole)
{
    return static_cast<u64>(u128{n} * part / whole);
}

// At which a chain reads what takes it so many cycles more than a hit in the L2.
u64 chain_bandwidth(const cache_config &c, u32 cycles)
{
    return read_bytes * c.clock_mhz * 1'000'000 / (cycles - c.l2_cycles);
}

// Of the bytes that miss a cache in front of a buffer read evenly.
u64 missed(u64 bytes, u64 cache_bytes, u64 size_bytes)
{
    return bytes - scaled(bytes, std::min(cache_bytes, size_bytes), size_bytes);
}

touch chase_touch(const cache_config &c, u64 size_bytes)
{
    touch t{.bo = 1};
    t.link_bytes = missed(chase_reads * read_bytes, c.l2_size_bytes, size_bytes);
    t.vram_bytes = missed(t.link_bytes, c.memory_side_size_bytes, size_bytes);
    // What the memory-side cache serves costs a chain some time, too: so many bytes of VRAM's.
    if (c.memory_side_size_bytes)
        t.vram_bytes += scaled(t.link_bytes - t.vram_bytes, c.memory_side_cycles - c.l2_cycles,
                               c.vram_cycles - c.l2_cycles);
    return t;
}

} // namespace

workload::workload chase_workload(const cache_config &c, u64 size_bytes, u32 domain)
{
    workload::workload w;
    w.name = "pointer-chase";
    device_config &d = w.system.device;
    d.vram_size_bytes = d.gtt_size_bytes = 2 * chase_size_max_bytes;
    d.vram_bandwidth = chain_bandwidth(c, c.vram_cycles);
    d.link_bandwidth = chain_bandwidth(c, c.link_cycles);
    w.system.processes.push_back({.process = 1, .name = "chase", .cgroup = ""});

    const auto add = [&w](request r) {
        r.process = r.vm = 1;
        workload::operation op;
        op.process = 1;
        op.req = std::move(r);
        w.operations.push_back(std::move(op));
    };
    add({.kind = request_kind::vm_open});
    add({.kind = request_kind::bo_create,
         .bo = 1,
         .size_bytes = size_bytes,
         .preferred = domain,
         .allowed = domain,
         .flags = bo_vm_private});
    add({.kind = request_kind::touch_define, .id = 1, .touches = {chase_touch(c, size_bytes)}});
    const u64 l2_ns = chase_reads * c.l2_cycles * 1000 / c.clock_mhz;
    add({.kind = request_kind::submit, .touch_set = 1, .compute_ns = l2_ns});
    add({.kind = request_kind::wait});
    return w;
}

u64 chase_millicycles(const cache_config &c, u64 job_ns)
{
    return static_cast<u64>(u128{job_ns} * c.clock_mhz / chase_reads);
}

} // namespace vramlab::runner
