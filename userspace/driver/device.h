// SPDX-License-Identifier: MIT
// The device: its clock, engines, schedulers, memory managers and cgroups, and when things happen
// (Documentation/semantics.rst, "Jobs, engines, time").
//
// Time stands still but for advance() and for waits. From event to event everything that can happen does:
// schedulers hand over what is ready, zombies and ghosts are reaped (settle()).
#pragma once

#include "base/request.h"
#include "driver/budget.h"
#include "driver/gtt_mgr.h"
#include "driver/policy.h"
#include "driver/vm.h"
#include "driver/vram_mgr.h"
#include "gpu/engine.h"
#include "kmd/ttm_device.h"
#include "sim/event_queue.h"

#include <map>

namespace vramlab::driver {

struct vttm_device;

enum class engine_id : u8 { gfx, copy };
enum class job_kind : u8 { job, copy, fill };

// Work for an engine: a submission, or a move or fill of TTM's.
struct vttm_job final : kmd::drm_sched_job, gpu::engine_job {
    vttm_device *dev = nullptr;
    vttm_vm *vm = nullptr; // of a submission; the file waits for it
    u64 tag = 0;           // BO that is copied or filled
    u64 link_bytes = 0;
    u32 vm_label = 0; // 0: nobody's
    u32 process = 0;  // that caused it
    job_kind kind = job_kind::job;

    void started() override;
    void done() override;
};

// A TTM device that knows whose it is.
struct vttm_ttm_device final : kmd::ttm_device {
    vttm_device *device = nullptr;
};

struct vttm_device final : private kmd::fence_waiter, private kmd::drm_sched_backend_ops {
    // p is not owned; nullptr: mainline.
    explicit vttm_device(const system_config &s, const policy *p = nullptr);
    // Closes every file and waits until the device is idle.
    ~vttm_device();
    vttm_device(const vttm_device &) = delete;
    vttm_device &operator=(const vttm_device &) = delete;

    // Runs the schedulers until none is ready, reaps what can be reaped.
    void settle();
    // From event to event up to to_ns, which is not before now.
    void advance(u64 to_ns);
    u64 now_ns() const { return queue.now_ns(); }
    u64 next_event_ns() const { return queue.next_ns(); }

    // The cgroup of a process, nullptr for the root.
    kmd::dmemcg_state *cgroup_of(u32 process) const;
    // -ENOENT: no such cgroup. Lowering the maximum reclaims.
    int set_limits(const cgroup_config &c);
    int evict_all();
    int swapout();

    kmd::drm_gpu_scheduler &sched(engine_id e) { return e == engine_id::gfx ? gfx_sched : copy_sched; }

    const device_config config;
    const policy &pol;
    std::unique_ptr<kmd::ttm_walk_policy> victims;
    std::unique_ptr<planner> plans; // of the policy, or nullptr

    sim::event_queue queue;
    gpu::link link;
    gpu::engine gfx_engine{queue, link, 0};
    gpu::engine copy_engine{queue, link, 1};
    kmd::drm_gpu_scheduler gfx_sched;
    kmd::drm_gpu_scheduler copy_sched;
    kmd::drm_sched_entity copy_entity; // the kernel's, for moves and fills

    // Parents before children, in the order of the configuration; [0] is the root.
    std::vector<std::unique_ptr<kmd::dmemcg_state>> cgroups;
    std::vector<cgroup_config> cgroup_configs;        // of cgroups[i + 1]
    std::vector<kmd::dmemcg_state *> process_cgroups; // by process

    vttm_ttm_device bdev;
    vttm_vram_mgr vram;
    vttm_gtt_mgr gtt;
    object_pool<vttm_bo> bo_pool;
    object_pool<kmd::ttm_tt> tt_pool;
    object_pool<vttm_job> job_pool;

    move_budget budget;
    u64 vram_pinned_bytes = 0;
    u64 num_bytes_moved = 0; // by the copy engine
    u64 num_evictions = 0;   // by the copy engine

    std::map<u32, vttm_vm *> vms;                     // open files by label
    std::unordered_map<u32, vttm_vm *> vms_by_serial; // likewise; looked up, never iterated
    u32 vm_serials = 0;
    std::unordered_map<u64, vttm_bo *> bos; // by tag until freed; looked up, iterated only to be sorted

private:
    void run_job(kmd::drm_sched_job &job) override;
    void free_job(kmd::drm_sched_job &job) override;
    void wait_until_signaled(kmd::dma_fence &fence) override;
};

inline vttm_device &to_vttm_device(kmd::ttm_device *bdev)
{
    return *static_cast<vttm_ttm_device *>(bdev)->device;
}

} // namespace vramlab::driver
