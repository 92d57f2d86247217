// SPDX-License-Identifier: MIT
// For tests of the patches' mechanisms: the small system with a policy, and words for requests.
#pragma once

#include "backend/sim_fixture.h"

namespace vramlab::backend {

class sim_mechanisms : public testing::Test {
protected:
    void use(const char *name, system_config s = small_system())
    {
        b = std::make_unique<sim_backend>(driver::make_policy(name));
        b->set_event_sink(&log);
        b->reset(s);
        for (const process_config &p : s.processes)
            run({.kind = request_kind::vm_open, .process = p.process, .vm = p.process});
    }
    int run(request r)
    {
        r.process = r.process ? r.process : r.vm;
        return b->execute(r).error;
    }
    void create(u32 vm, u64 tag, u64 mib, u32 flags, u32 priority = priority_default,
                u32 preferred = domain_vram)
    {
        ASSERT_EQ(run({.kind = request_kind::bo_create,
                       .vm = vm,
                       .bo = tag,
                       .size_bytes = mib * MiB,
                       .preferred = preferred,
                       .allowed = domain_vram | domain_gtt,
                       .flags = flags,
                       .priority = priority}),
                  0);
    }
    int submit(u32 vm, std::vector<u64> bos = {})
    {
        request r{.kind = request_kind::submit, .vm = vm, .compute_ns = 1000};
        if (!bos.empty()) {
            run({.kind = request_kind::list_define, .vm = vm, .id = 1, .bos = std::move(bos)});
            r.list = 1;
        }
        const int error = run(r);
        run({.kind = request_kind::wait, .vm = vm});
        return error;
    }
    std::string line(const std::string &head) const
    {
        std::istringstream in(b->state());
        for (std::string l; std::getline(in, l);)
            if (l.starts_with(head))
                return l;
        return "(none)";
    }
    bool in_vram(u64 tag) const
    {
        return line("bo " + std::to_string(tag) + " ").find(" mem vram ") != std::string::npos;
    }
    void sleep_ms(u64 ms) { b->advance(b->now_ns() + ms * ns_per_ms); }

    std::unique_ptr<sim_backend> b;
    events::event_log log;
};

} // namespace vramlab::backend
