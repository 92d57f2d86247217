// SPDX-License-Identifier: MIT
// What a swarm workload has made so far, as far as its generator needs to know: who holds which BO, assuming
// that every operation succeeds. Internal to workload/swarm.
#pragma once

#include "base/rng.h"
#include "workload/workload.h"

#include <algorithm>
#include <vector>

namespace vramlab::workload {

struct swarm_bo {
    u64 tag = 0;
    u64 size_bytes = 0;
    u32 flags = 0;
    std::vector<u32> holders; // VM labels
};

struct swarm_vm {
    u32 label = 0;
    u32 process = 0;
    u64 submissions = 0;
    u32 list_size = 0;       // of list 1 as last defined, 0 for none
    std::vector<u64> listed; // its BOs
    std::vector<u64> pins;   // one entry a pin
};

struct swarm_state {
    std::vector<swarm_bo> bos;
    std::vector<swarm_vm> vms;
    u64 next_tag = 1;
    u32 next_label = 1;

    swarm_bo *find_bo(u64 tag)
    {
        const auto it = std::find_if(bos.begin(), bos.end(), [&](const swarm_bo &b) { return b.tag == tag; });
        return it == bos.end() ? nullptr : &*it;
    }

    // Tags that the VM has: private ones, shared ones, or both.
    std::vector<u64> held(const swarm_vm &vm, bool with_private, bool with_shared) const
    {
        std::vector<u64> tags;
        for (const swarm_bo &b : bos) {
            const bool is_private = b.flags & bo_vm_private;
            if ((is_private ? with_private : with_shared) &&
                std::find(b.holders.begin(), b.holders.end(), vm.label) != b.holders.end())
                tags.push_back(b.tag);
        }
        return tags;
    }

    // How many of the tags, from the first, are not larger than that together.
    std::size_t count_within(const std::vector<u64> &tags, u64 bytes)
    {
        std::size_t n = 0;
        for (u64 sum = 0; n < tags.size(); n++)
            if ((sum += find_bo(tags[n])->size_bytes) > bytes)
                break;
        return n;
    }

    // The VM's handle goes, and its pins.
    void drop(swarm_vm &vm, u64 tag)
    {
        std::erase(vm.pins, tag);
        std::erase(vm.listed, tag);
        if (swarm_bo *const b = find_bo(tag))
            std::erase(b->holders, vm.label);
        std::erase_if(bos, [](const swarm_bo &b) { return b.holders.empty(); });
    }

    void close(u32 label)
    {
        for (swarm_bo &b : bos)
            std::erase(b.holders, label);
        std::erase_if(bos, [](const swarm_bo &b) { return b.holders.empty(); });
        std::erase_if(vms, [&](const swarm_vm &v) { return v.label == label; });
    }
};

} // namespace vramlab::workload
