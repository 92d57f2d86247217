// SPDX-License-Identifier: MIT
// What a process asks of the memory manager: the vocabulary that workloads and both backends share. Semantics
// of each request: Documentation/semantics.rst.
#pragma once

#include "base/device_config.h"
#include "base/types.h"

#include <string>
#include <vector>

namespace vramlab {

// Masks, equal to DRM_VTTM_DOMAIN_* of the kernel driver.
inline constexpr u32 domain_system = 1u << 0;
inline constexpr u32 domain_gtt = 1u << 1;
inline constexpr u32 domain_vram = 1u << 2;
inline constexpr u32 domain_mask = 0x7;

// Equal to DRM_VTTM_GEM_*.
inline constexpr u32 bo_vm_private = 1u << 0;
inline constexpr u32 bo_contiguous = 1u << 1;
inline constexpr u32 bo_explicit_sync = 1u << 2;
inline constexpr u32 bo_flags_mask = 0x7;

inline constexpr u32 priority_max = 15;
inline constexpr u32 priority_default = 7;

enum class request_kind : u8 {
    vm_open,         // process, vm (new label, unique in the workload)
    vm_close,        // vm
    bo_create,       // vm, bo (new tag, not zero, unique in the workload), size, preferred, allowed, flags,
                     // priority
    bo_share,        // vm (has it), bo, target_vm (of any process): the same BO, one more handle
    bo_destroy,      // vm, bo: closes this VM's handle
    bo_set_priority, // vm, bo, priority
    list_define,     // vm, id, bos: a list for submissions; may be defined again
    touch_define,    // vm, id, touches: likewise
    submit,          // vm, list (0: none), touch (0: none), compute_ns
    wait,            // vm, seqno (0: the last one): blocks, advancing the clock
    pin,             // vm, bo
    unpin,           // vm, bo
};

// Memory that a job touches, after caches: what counts depends on where the BO is.
struct touch {
    u64 bo = 0;
    u64 vram_bytes = 0; // bytes that reach VRAM if the BO is there
    u64 link_bytes = 0; // bytes that cross the link if it is elsewhere

    friend bool operator==(const touch &, const touch &) = default;
};

struct request {
    request_kind kind{};
    u32 process = 0; // every request; processes are numbered from 1
    u32 vm = 0;      // label
    u64 bo = 0;      // tag
    u64 size_bytes = 0;
    u32 preferred = 0;
    u32 allowed = 0; // 0: derived from preferred
    u32 flags = 0;
    u32 priority = priority_default;
    u32 target_vm = 0;
    u32 id = 0; // of a list or touch set, from 1 within its VM
    u32 list = 0;
    u32 touch_set = 0;
    u64 compute_ns = 0;
    u64 seqno = 0;
    std::vector<u64> bos;
    std::vector<touch> touches;

    friend bool operator==(const request &, const request &) = default;
};

// What came of it. error is 0 or a negative error number; seqno is that of a successful submission.
struct result {
    int error = 0;
    u64 seqno = 0;

    friend bool operator==(const result &, const result &) = default;
};

// A cgroup of a workload, named by its path below the workload's root ("user/game"). Limits in bytes of VRAM;
// the default is no protection and no maximum (cgroup v2, dmem controller).
struct cgroup_config {
    std::string path;
    u64 min_bytes = 0;
    u64 low_bytes = 0;
    u64 max_bytes = ~u64{0};

    friend bool operator==(const cgroup_config &, const cgroup_config &) = default;
};

struct process_config {
    u32 process = 0; // from 1
    std::string name;
    std::string cgroup; // path of a cgroup_config, or empty for the root

    friend bool operator==(const process_config &, const process_config &) = default;
};

// All that a run starts from.
struct system_config {
    device_config device;
    std::vector<cgroup_config> cgroups; // parents before children
    std::vector<process_config> processes;

    friend bool operator==(const system_config &, const system_config &) = default;
};

} // namespace vramlab
