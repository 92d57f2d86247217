// SPDX-License-Identifier: MIT
#include "driver/device.h"

#include "driver/move.h"
#include "driver/planner.h"
#include "kmd/trace.h"

#include <stdexcept>

namespace vramlab::driver {

using namespace kmd;

// ---- jobs on their engines

namespace {

void emit_job(const vttm_job &job, events::event_type type)
{
    if (!tracing())
        return;
    record_event({.bo = job.tag,
                  .a = static_cast<u64>(job.kind == job_kind::job ? engine_id::gfx : engine_id::copy),
                  .b = job.seqno,
                  .c = job.link_bytes,
                  .vm = job.vm_label,
                  .process = job.process,
                  .type = type,
                  .flag = static_cast<u8>(job.kind)});
}

} // namespace

void vttm_job::started()
{
    emit_job(*this, events::event_type::job_start);
}

void vttm_job::done()
{
    emit_job(*this, events::event_type::job_end);
    if (vm) {
        vm->finished_seqno = gpu::engine_job::seqno;
        vm->in_flight.pop_front();
    }
    drm_sched_job_done(*this);
}

void vttm_device::run_job(drm_sched_job &job)
{
    auto &j = static_cast<vttm_job &>(job);
    (j.kind == job_kind::job ? gfx_engine : copy_engine).run(j);
}

void vttm_device::free_job(drm_sched_job &job)
{
    job_pool.destroy(&static_cast<vttm_job &>(job));
}

// ---- time

void vttm_device::settle()
{
    // Handing a job over can make one of the same scheduler ready, which drm_sched_run() sees to, but none of
    // another's.
    drm_sched_run(gfx_sched);
    drm_sched_run(copy_sched);
    ttm_device_reap(&bdev);
}

void vttm_device::advance(u64 to_ns)
{
    settle();
    while (queue.next_ns() <= to_ns && !queue.empty()) {
        queue.run_next();
        settle();
    }
    queue.set_now(to_ns);
}

void vttm_device::wait_until_signaled(dma_fence &fence)
{
    const u64 start_ns = now_ns();
    settle();
    while (!dma_fence_is_signaled(fence)) {
        if (queue.empty())
            throw std::logic_error("vttm: waiting for a fence that nothing will signal");
        queue.run_next();
        settle();
    }
    emit({.a = now_ns() - start_ns, .type = events::event_type::fence_wait});
}

// ---- cgroups

dmemcg_state *vttm_device::cgroup_of(u32 process) const
{
    return process < process_cgroups.size() ? process_cgroups[process] : nullptr;
}

int vttm_device::set_limits(const cgroup_config &c)
{
    for (std::size_t i = 0; i < cgroup_configs.size(); i++) {
        if (cgroup_configs[i].path != c.path)
            continue;
        cgroup_configs[i] = c;
        dmem_cgroup_set_min(*vram.cg_region, *cgroups[i + 1], c.min_bytes);
        dmem_cgroup_set_low(*vram.cg_region, *cgroups[i + 1], c.low_bytes);
        dmem_cgroup_set_max(*vram.cg_region, *cgroups[i + 1], c.max_bytes);
        return 0;
    }
    return -ENOENT;
}

namespace {

// The hierarchy of the configuration: a path's parent is the longest path that it continues, else the root.
void make_cgroups(vttm_device &dev, const system_config &s)
{
    dev.cgroups.push_back(std::make_unique<dmemcg_state>(""));
    for (const cgroup_config &c : s.cgroups) {
        dmemcg_state *parent = dev.cgroups.front().get();
        std::size_t depth = 0;
        for (std::size_t i = 0; i < dev.cgroup_configs.size(); i++) {
            const std::string &path = dev.cgroup_configs[i].path;
            if (path.size() >= depth && c.path.starts_with(path + "/")) {
                depth = path.size();
                parent = dev.cgroups[i + 1].get();
            }
        }
        dev.cgroups.push_back(std::make_unique<dmemcg_state>(c.path, parent));
        dev.cgroup_configs.push_back(c);
    }
}

void assign_processes(vttm_device &dev, const system_config &s)
{
    for (const process_config &p : s.processes) {
        if (p.process >= dev.process_cgroups.size())
            dev.process_cgroups.resize(p.process + 1);
        if (p.cgroup.empty())
            continue;
        for (std::size_t i = 0; i < dev.cgroup_configs.size(); i++)
            if (dev.cgroup_configs[i].path == p.cgroup)
                dev.process_cgroups[p.process] = dev.cgroups[i + 1].get();
        if (!dev.process_cgroups[p.process])
            throw std::runtime_error("process " + p.name + " is in an unknown cgroup: " + p.cgroup);
    }
}

} // namespace

// ---- the device

namespace {
const policy mainline;
}

vttm_device::vttm_device(const system_config &s, const policy *p)
    : config(s.device), pol(p ? *p : mainline), victims(pol.victims()), plans(pol.make_planner(*this)),
      budget(s.device.log2_max_mbps)
{
    gfx_sched.ops = copy_sched.ops = this;
    gfx_sched.waiter = copy_sched.waiter = this;
    drm_sched_entity_init(copy_entity, copy_sched);

    make_cgroups(*this, s);
    assign_processes(*this, s);

    bdev.device = this;
    ttm_device_init(&bdev, &vttm_bo_driver);
    bdev.walk_policy = plans ? plans.get() : victims.get();
    bdev.ignore_protection = pol.ignore_protection();
    bdev.mechanisms = pol.tuned_mechanisms();
    vttm_vram_mgr_init(vram, bdev, config.vram_size_bytes, *cgroups.front());
    vttm_gtt_mgr_init(gtt, bdev, config.gtt_size_bytes);
    for (const cgroup_config &c : s.cgroups)
        set_limits(c);
}

vttm_device::~vttm_device()
{
    try {
        while (!vms.empty())
            vttm_vm_close(*vms.begin()->second);
        while (!queue.empty()) {
            queue.run_next();
            settle();
        }
        settle();
        ttm_resource_manager_cleanup(&vram); // an eviction's fence may be the last reference
        vttm_gtt_mgr_fini(gtt);
        vttm_vram_mgr_fini(vram);
        ttm_device_fini(&bdev);
        drm_sched_entity_fini(copy_entity);
    } catch (const std::logic_error &) {
        // The model is broken, and whoever ran it has been told so by an exception before. There is nothing
        // to save.
    }
    while (!cgroups.empty()) // children first
        cgroups.pop_back();
}

int vttm_device::evict_all()
{
    const int r = ttm_resource_manager_evict_all(&bdev, &vram);
    // As after a suspend: nobody else has taken it.
    for (const auto &[label, vm] : vms)
        ttm_throttle_reset(vm->throttle);
    return r;
}

int vttm_device::swapout()
{
    ttm_operation_ctx ctx;
    const int r = ttm_device_swapout(&bdev, &ctx);
    return r > 0 ? 0 : r;
}

} // namespace vramlab::driver
