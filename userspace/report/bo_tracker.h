// SPDX-License-Identifier: MIT
// What the events say about which BOs exist, whose they are and where they are. Shared by metrics and
// explanations, which read events only.
#pragma once

#include "events/event.h"

#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

namespace vramlab::report {

struct bo_info {
    u64 size_bytes = 0;
    u64 left_vram_ns = never_ns; // when it last went out of VRAM; never_ns while it is in, or was never
    u32 process = 0;             // that created it
    u32 vm = 0;                  // likewise
    u32 handles = 0;
    u32 evictor = 0;  // process it was last evicted for
    u8 preferred = 0; // domain masks, as created
    u8 allowed = 0;   // 0: derived from preferred
    u8 flags = 0;
    u8 priority = 0;
    u8 domain = 0;        // where it is; 0: no memory
    bool scanout = false; // has been pinned or shown
    bool evicted_for_scanout = false;
};

// The operation that a process has under way.
struct operation_info {
    u64 index = 0;
    u64 begin_ns = 0;
    u64 bo = 0;
    u64 properties = 0; // op_begin's b
    u32 vm = 0;
    u32 target_vm = 0;
    bool under_way = false;
    std::string_view name;
};

class bo_tracker {
public:
    // Call for every event, in order. What a look-up says afterwards is the state after e, except that the
    // operation of an op_end and the BOs that it destroyed are still there until forget_ended().
    void record(const events::event &e);
    void forget_ended();
    // The BOs that the operation which has just ended destroyed.
    const std::vector<u64> &ended() const { return gone_; }

    bo_info *find(u64 bo);
    const operation_info &operation(u32 process) const;
    // Process of a VM; 0 if unknown.
    u32 process_of_vm(u32 vm) const;
    // Whether bo is, or is about to be, scanned out: shown or pinned before, or being pinned by `process`
    // now.
    bool is_scanout(u64 bo, u32 process) const;

    // In no particular order: for sums only.
    const std::unordered_map<u64, bo_info> &bos() const { return bos_; }

private:
    void begin_operation(const events::event &e);
    void end_operation(const events::event &e);
    void drop_handle(u64 bo);

    struct vm_info {
        u32 process = 0;
        std::unordered_set<u64> handles; // BOs; their order does not matter
    };

    std::unordered_map<u64, bo_info> bos_;
    std::unordered_map<u32, vm_info> vms_;
    std::vector<operation_info> operations_; // by process
    std::vector<u64> gone_;
};

} // namespace vramlab::report
