// SPDX-License-Identifier: MIT
// Is a sequence of operations well-formed? Follows, in file order, what exists and who holds it, without
// modelling memory. The reader runs it on every file; generators run it on what they make.
#pragma once

#include "workload/workload.h"

#include <string>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

namespace vramlab::workload {

// What is wrong with an operation or a header; both empty when nothing is.
struct defect {
    std::string problem;
    std::string expected;

    explicit operator bool() const { return !problem.empty(); }
};

// The device, the cgroups and the processes by themselves.
defect check_system(const system_config &s);
defect check_limits(const cgroup_config &c);
// That the processes they name exist (metrics are the report's to know).
defect check_expectations(const system_config &s, const std::vector<expectation> &expectations);

// Effective allowed domains: what a BO created with these has (Documentation/semantics.rst, "Domains and
// placements").
u32 effective_allowed(u32 preferred, u32 allowed);

class checker {
public:
    checker() = default;

    // Starts over. The system must have passed check_system().
    void reset(const system_config &s, order_kind order);

    // Takes the next operation. After a defect the checker must not be used on.
    defect take(const operation &op);

    // The end of the workload: nothing may be left under way.
    defect finish() const;

private:
    struct bo_state {
        u64 size_bytes = 0;
        u32 flags = 0;
        u32 handles = 0; // VMs that have it
    };
    struct vm_state {
        u32 process = 0;
        bool open = true;
        u64 submissions = 0;
        std::unordered_map<u64, u32> handles{};                                   // tag -> pins held by `pin`
        std::unordered_map<u32, std::pair<u64, std::vector<u64>>> lists{};        // id -> version, BOs
        std::unordered_map<u32, std::pair<u64, std::vector<touch>>> touch_sets{}; // likewise
        // Submissions found good: list version << 32 | touch version -> longest time of memory, ns. A handle
        // less empties it. So a list that is submitted every frame is checked once.
        std::unordered_map<u64, u64> checked{};
    };
    struct process_state {
        bool busy = false;     // began, not known to be idle again
        u64 not_before_ns = 0; // its latest sleep
    };

    defect take_control(const operation &op);
    defect take_request(const operation &op);
    defect take_vm_open(const request &r);
    defect take_on_vm(const request &r, vm_state &vm);
    defect take_create(const request &r, vm_state &vm);
    defect take_share(const request &r);
    defect take_pin(const request &r, vm_state &vm);
    defect take_submit(const request &r, vm_state &vm);
    defect take_sleep(const operation &op);
    defect check_memory(const request &r, const vm_state &vm, const std::vector<u64> &list,
                        const std::vector<touch> &touches, u64 &longest_ns) const;
    defect check_handle(u32 label, const vm_state &vm, u64 bo) const;
    defect check_pinnable(u64 bo) const;
    defect check_process(u32 process) const;
    defect check_idle(u32 process) const; // exists and has nothing under way
    defect find_vm(u32 process, u32 label, vm_state *&vm);
    void set_busy(u32 process, bool busy);
    void drop_handle(vm_state &vm, u64 bo);

    system_config system_;
    order_kind order_ = order_kind::file;
    std::vector<process_state> processes_; // by number; 0 is the system
    std::unordered_map<u32, vm_state> vms_;
    std::unordered_map<u64, bo_state> bos_; // handles 0: gone, tag used up
    std::unordered_set<std::string> cgroups_;
    u64 next_version_ = 1;
    u64 total_job_ns_ = 0;
    u64 now_ns_ = 0; // latest advance
    u32 busy_ = 0;   // processes
    bool ended_ = false;
};

} // namespace vramlab::workload
