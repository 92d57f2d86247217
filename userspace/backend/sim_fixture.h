// SPDX-License-Identifier: MIT
// For tests: a simulated system of two processes with a VM each (1 and 2), 16 MiB of VRAM, 64 MiB of GTT, and
// words for requests.
#pragma once

#include "backend/sim_backend.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <sstream>

namespace vramlab::backend {

inline system_config small_system()
{
    system_config s;
    s.device.vram_size_bytes = 16 * MiB;
    s.device.gtt_size_bytes = 64 * MiB;
    s.processes = {{1, "one", ""}, {2, "two", ""}};
    return s;
}

class sim_test : public testing::Test {
protected:
    explicit sim_test(const system_config &s = small_system()) { reset(s); }

    void reset(const system_config &s)
    {
        b.reset(s);
        for (const process_config &p : s.processes)
            ok({.kind = request_kind::vm_open, .process = p.process, .vm = p.process});
    }
    int run(request r)
    {
        r.process = r.process ? r.process : r.vm;
        return b.execute(r).error;
    }
    void ok(const request &r) { ASSERT_EQ(run(r), 0); }

    int create(u32 vm, u64 bo, u64 size_mib, u32 flags = 0, u32 preferred = domain_vram, u32 allowed = 0)
    {
        return run({.kind = request_kind::bo_create,
                    .vm = vm,
                    .bo = bo,
                    .size_bytes = size_mib * MiB,
                    .preferred = preferred,
                    .allowed = allowed,
                    .flags = flags});
    }
    int destroy(u32 vm, u64 bo) { return run({.kind = request_kind::bo_destroy, .vm = vm, .bo = bo}); }
    int share(u32 vm, u64 bo, u32 to)
    {
        return run({.kind = request_kind::bo_share, .vm = vm, .bo = bo, .target_vm = to});
    }
    int pin(u32 vm, u64 bo) { return run({.kind = request_kind::pin, .vm = vm, .bo = bo}); }
    int unpin(u32 vm, u64 bo) { return run({.kind = request_kind::unpin, .vm = vm, .bo = bo}); }
    int wait(u32 vm, u64 seqno = 0) { return run({.kind = request_kind::wait, .vm = vm, .seqno = seqno}); }
    int close(u32 vm) { return run({.kind = request_kind::vm_close, .vm = vm}); }
    void list(u32 vm, u32 id, std::vector<u64> bos)
    {
        ok({.kind = request_kind::list_define, .vm = vm, .id = id, .bos = std::move(bos)});
    }
    // As list 1 and touch set 1 of the VM.
    int submit(u32 vm, std::vector<u64> bos = {}, u64 compute_ns = 1000, std::vector<touch> touches = {})
    {
        const request r = submission(vm, std::move(bos), compute_ns, std::move(touches));
        return run(r);
    }
    request submission(u32 vm, std::vector<u64> bos, u64 compute_ns = 1000, std::vector<touch> touches = {})
    {
        request r{.kind = request_kind::submit, .process = vm, .vm = vm, .compute_ns = compute_ns};
        if (!bos.empty()) {
            list(vm, 1, std::move(bos));
            r.list = 1;
        }
        if (!touches.empty()) {
            ok({.kind = request_kind::touch_define, .vm = vm, .id = 1, .touches = std::move(touches)});
            r.touch_set = 1;
        }
        return r;
    }
    void idle() { b.advance(b.now_ns() + ns_per_s); }

    // The line of the state that begins with `head`, without it; "(none)" if there is none.
    std::string line(const std::string &head)
    {
        std::istringstream in(b.state());
        for (std::string l; std::getline(in, l);)
            if (l.starts_with(head))
                return l.substr(std::min(head.size() + (l.size() > head.size()), l.size()));
        return "(none)";
    }
    // Of the line of a BO: what follows `name`, up to the next blank.
    std::string bo(u64 tag, const std::string &name)
    {
        const std::string l = line("bo " + std::to_string(tag) + " vm") + " ";
        const std::size_t at = l.find(name + " ");
        if (at == std::string::npos)
            return "(none)";
        const std::size_t from = at + name.size() + 1;
        return l.substr(from, l.find(' ', from) - from);
    }
    std::string places(u64 tag)
    {
        const std::string l = line("bo " + std::to_string(tag) + " vm");
        const std::size_t from = l.find("place") + 5, to = l.find(" pin");
        return from + 1 < to ? l.substr(from + 1, to - from - 1) : "";
    }
    u64 count(events::event_type type) const
    {
        return static_cast<u64>(std::count_if(log.events().begin(), log.events().end(),
                                              [&](const events::event &e) { return e.type == type; }));
    }

    sim_backend b;
    events::event_log log;
};

} // namespace vramlab::backend
