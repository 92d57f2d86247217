// SPDX-License-Identifier: MIT
// For tests of policies: a backend of any policy, with a VM for each process.
#pragma once

#include "backend/sim_fixture.h"

#include <memory>

namespace vramlab::backend {

class sim_policy : public sim_test {
protected:
    // Puts a backend of that policy in place.
    void use(const char *name, const system_config &s = small_system(), u64 seed = 1)
    {
        other = std::make_unique<sim_backend>(driver::make_policy(name, seed));
        other->reset(s);
        for (const process_config &p : s.processes)
            ASSERT_EQ(do_it({.kind = request_kind::vm_open, .vm = p.process}).error, 0);
    }
    result do_it(request r)
    {
        r.process = r.vm;
        return other->execute(r);
    }
    void make(u32 vm, u64 tag, u64 size_mib, u32 flags = 0, u32 allowed = 0)
    {
        ASSERT_EQ(do_it({.kind = request_kind::bo_create,
                         .vm = vm,
                         .bo = tag,
                         .size_bytes = size_mib * MiB,
                         .preferred = domain_vram,
                         .allowed = allowed,
                         .flags = flags})
                      .error,
                  0);
    }
    int submit_to(u32 vm, std::vector<u64> bos)
    {
        do_it({.kind = request_kind::list_define, .vm = vm, .id = 1, .bos = std::move(bos)});
        return do_it({.kind = request_kind::submit, .vm = vm, .list = 1}).error;
    }
    std::string where(u64 tag)
    {
        const std::string text = other->state(), head = "\nbo " + std::to_string(tag) + " ";
        const std::size_t at = text.find(" mem ", text.find(head)) + 5;
        return text.substr(at, text.find(' ', at) - at);
    }
    std::unique_ptr<sim_backend> other;
};

} // namespace vramlab::backend
