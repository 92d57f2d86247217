// SPDX-License-Identifier: MIT
#include "driver/cs.h"

#include "driver/planner.h"
#include "driver/priority.h"
#include "gpu/timing.h"
#include "kmd/drm_exec.h"
#include "kmd/trace.h"

#include <utility>

namespace vramlab::driver {

using namespace kmd;

namespace {

class cs_parser {
public:
    cs_parser(vttm_device &dev, vttm_vm &vm, const vttm_submit_args &args)
        : dev_(dev), vm_(vm), args_(args), exec_(DRM_EXEC_INTERRUPTIBLE_WAIT | DRM_EXEC_IGNORE_DUPLICATES,
                                                 static_cast<u32>(args.bos.size()) + 1)
    {
    }

    int lock_and_validate();
    int prepare();
    u64 submit();

private:
    void prefetch_ahead(std::size_t i) const;
    void prefetch_resource(std::size_t i) const;
    void prefetch_fences(std::size_t i) const;
    int lock_all();
    int validate(drm_exec *exec);
    void get_threshold();
    int vm_validate();
    int bo_validate(vttm_bo &bo);
    int validate_in(vttm_bo &bo, u32 domain, ttm_operation_ctx &ctx);
    int follow_plan();
    int recover_one(vttm_bo &bo, ttm_operation_ctx &ctx);
    int recover();
    void sync_rings(vttm_job &job);
    int compute_time();

    vttm_device &dev_;
    vttm_vm &vm_;
    const vttm_submit_args &args_;
    drm_exec exec_;
    drm_exec *validate_exec_ = nullptr;
    bool has_threshold_ = false;
    u64 bytes_moved_ = 0; // over all attempts, as the next
    u64 recovered_bytes_ = 0;
    u32 recovery_failures_ = 0;
    u64 bytes_moved_threshold_ = 0;
    gpu::job_time time_;
    u64 link_bytes_ = 0;
};

// Not in the kernel: a million BOs do not fit the caches, but a list does, if what this submission will read
// and write is asked for early: the BO, its resource, the neighbours of that in the LRU list.
void cs_parser::prefetch_ahead(std::size_t i) const
{
    constexpr std::size_t far = 24, middle = 16, near = 8, line = 64;
    if (i + far >= args_.bos.size())
        return;
    const char *bo = reinterpret_cast<const char *>(args_.bos[i + far]);
    for (std::size_t offset = 0; offset < sizeof(vttm_bo); offset += line)
        __builtin_prefetch(bo + offset, 1);
    __builtin_prefetch(args_.bos[i + middle]->resource, 1);
    if (const ttm_resource *res = args_.bos[i + near]->resource) {
        __builtin_prefetch(res->prev, 1);
        __builtin_prefetch(res->next, 1);
    }
}

// The same, later on, when moves have driven it out of the caches. i: of a locked object.
void cs_parser::prefetch_resource(std::size_t i) const
{
    const std::vector<drm_gem_object *> &objects = exec_.locked_objects();
    if (i >= objects.size() || objects[i] == &vm_)
        return;
    const ttm_resource *res = static_cast<vttm_bo *>(objects[i])->resource;
    __builtin_prefetch(res, 1);
}

void cs_parser::prefetch_fences(std::size_t i) const
{
    const std::vector<drm_gem_object *> &objects = exec_.locked_objects();
    if (i >= objects.size())
        return;
    const dma_resv &resv = *objects[i]->resv;
    for (u16 f = 0; f < resv.num_fences; f++)
        __builtin_prefetch(dma_resv::fence_of(resv.slots()[f]), 1);
}

// amdgpu_cs_parser_bos(), the loop. The fence counts are amdgpu's: page table updates and the job for the VM,
// a fence of each eviction context and the job for a BO.
int cs_parser::lock_all()
{
    if (const int r = exec_.prepare_obj(&vm_, 2 + 1 + 1))
        return r;
    for (std::size_t i = 0; i < args_.bos.size(); i++) {
        prefetch_ahead(i);
        if (const int r = exec_.prepare_obj(args_.bos[i], TTM_NUM_MOVE_FENCES + 1))
            return r;
    }
    return 0;
}

// Mainline validates when everything is locked, and for good: where validation contends it fails. With retry
// it is a part of the loop, and whatever it finds contended is locked first the next time.
int cs_parser::lock_and_validate()
{
    const bool retry = dev_.bdev.mechanisms.retry;
    while (exec_.cleanup()) {
        int r = lock_all();
        if (!r && retry)
            r = validate(&exec_);
        if (exec_.is_contended())
            continue;
        if (r)
            return r;
    }
    return retry ? 0 : validate(nullptr);
}

// amdgpu_cs_bo_validate()
int cs_parser::bo_validate(vttm_bo &bo)
{
    if (bo.pin_count)
        return 0;

    ttm_operation_ctx ctx{.interruptible = true,
                          .allow_lower_evict = true,
                          .resv = bo.resv,
                          .throttle = &vm_.throttle,
                          .exec = validate_exec_};
    // Whoever is throttled makes do with what is allowed, as who has used up the budget.
    const bool may_move = bytes_moved_ < bytes_moved_threshold_ &&
                          ttm_throttle_phase_of(&dev_.bdev, &vm_.throttle) == ttm_throttle_phase::normal;
    return validate_in(bo,
                       dev_.plans ? dev_.plans->domains(bo)
                                  : vttm_priority_domains(bo, dev_.pol.submit_domains(bo, may_move)),
                       ctx);
}

// Or in what is allowed, if there is no room.
int cs_parser::validate_in(vttm_bo &bo, u32 domain, ttm_operation_ctx &ctx)
{
    for (;;) {
        const vttm_placement pl = vttm_bo_placement_from_domain(bo, domain);
        const ttm_placement placement = pl.ttm();
        const int r = ttm_bo_validate(&bo, &placement, &ctx);
        // As amdgpu: what a first attempt moved counts again with the second.
        bytes_moved_ += ctx.bytes_moved;
        if (r != -ENOMEM || domain == bo.allowed_domains)
            return r;
        domain = bo.allowed_domains;
    }
}

// amdgpu_vm_validate(): a BO leaves the list though it may be in an allowed domain that it does not prefer.
int cs_parser::vm_validate()
{
    while (vttm_bo *bo = vttm_vm_first_evicted(vm_)) {
        if (const int r = bo_validate(*bo))
            return r;
        vttm_vm_bo_validated(vm_, *bo);
    }
    return 0;
}

// What a policy of its own wants moved, out of VRAM first.
int cs_parser::follow_plan()
{
    if (!dev_.plans || !dev_.plans->due(vm_))
        return 0;
    std::vector<vttm_bo *> bos;
    for (drm_gem_object *obj : exec_.locked_objects())
        if (obj != &vm_)
            bos.push_back(static_cast<vttm_bo *>(obj));
    for (u32 h = 1; h < vm_.handles.end(); h++)
        if (vttm_bo *bo = vm_.handles.at(h).bo; bo && bo->vm == &vm_)
            bos.push_back(bo);
    const vttm_plan plan = dev_.plans->plan(vm_, bos);
    for (const auto &[list, domain] : {std::pair{&plan.out, domain_gtt}, {&plan.in, domain_vram}})
        for (vttm_bo *bo : *list) {
            ttm_operation_ctx ctx{
                .interruptible = true, .resv = bo->resv, .throttle = &vm_.throttle, .exec = validate_exec_};
            if (const int r = validate_in(*bo, domain, ctx))
                return r;
        }
    return 0;
}

// One BO of the VM that was left behind before. An error other than that there is no room ends the
// submission.
int cs_parser::recover_one(vttm_bo &bo, ttm_operation_ctx &ctx)
{
    const u32 before = vttm_domain_of(bo.resource);
    const vttm_placement pl = vttm_bo_placement_from_domain(bo, bo.preferred_domains | bo.allowed_domains);
    const ttm_placement placement = pl.ttm();
    const int r = bo.pin_count ? 0 : ttm_bo_validate(&bo, &placement, &ctx);
    vttm_recovery_update(vm_.displaced, bo);
    if (tracing())
        record_event({.bo = bo.tag,
                      .a = before,
                      .b = vttm_domain_of(bo.resource),
                      .vm = vm_.label,
                      .error = r,
                      .type = events::event_type::recovered});
    return r == -ENOMEM ? 0 : r;
}

int cs_parser::recover()
{
    if (!dev_.bdev.mechanisms.throttle ||
        ttm_throttle_phase_of(&dev_.bdev, &vm_.throttle) == ttm_throttle_phase::strong)
        return 0;

    // Not charged to the move budget, which is for what the program asks for.
    while (recovery_failures_ < recovery_failures_max && recovered_bytes_ < recovery_bytes_max) {
        vttm_bo *bo = vttm_recovery_first(vm_.displaced);
        if (!bo)
            return 0;
        ttm_operation_ctx ctx{
            .interruptible = true, .resv = vm_.resv, .throttle = &vm_.throttle, .exec = validate_exec_};
        const int r = recover_one(*bo, ctx);
        recovered_bytes_ += ctx.bytes_moved;
        if (r)
            return r;
        recovery_failures_ += bo->displaced;
    }
    return 0;
}

// Once a submission, however often it is tried.
void cs_parser::get_threshold()
{
    if (std::exchange(has_threshold_, true))
        return;
    bytes_moved_threshold_ =
        dev_.budget.threshold(dev_.now_ns(), dev_.config.vram_size_bytes,
                              ttm_resource_manager_usage(&dev_.vram), dev_.vram_pinned_bytes);
    if (tracing())
        record_event({.a = bytes_moved_threshold_, .vm = vm_.label, .type = events::event_type::budget});
}

// exec: what evictions lock with, or nullptr.
int cs_parser::validate(drm_exec *exec)
{
    validate_exec_ = exec;
    get_threshold();
    if (const int r = follow_plan())
        return r;
    if (const int r = vm_validate())
        return r;
    const std::vector<drm_gem_object *> &objects = exec_.locked_objects();
    for (std::size_t i = 0; i < objects.size(); i++) {
        prefetch_resource(i + 8);
        if (objects[i] == &vm_)
            continue;
        if (const int r = bo_validate(*static_cast<vttm_bo *>(objects[i])))
            return r;
    }
    return recover();
}

int cs_parser::prepare()
{
    // Failing submissions do not pay.
    dev_.budget.report_moved(bytes_moved_);
    return compute_time();
}

// amdgpu_cs_sync_rings() and amdgpu_sync_resv(): implicit synchronisation, but never with the VM's own jobs.
void cs_parser::sync_rings(vttm_job &job)
{
    const dma_fence *last = nullptr; // mostly they have all the same fence
    const std::vector<drm_gem_object *> &objects = exec_.locked_objects();
    for (std::size_t i = 0; i < objects.size(); i++) {
        prefetch_fences(i + 8);
        drm_gem_object *obj = objects[i];
        const bool explicit_sync = obj != &vm_ && (static_cast<vttm_bo *>(obj)->flags & bo_explicit_sync);
        dma_resv_for_each_fence(*obj->resv, dma_resv_usage::read, [&](dma_fence &f, dma_resv_usage) {
            if (f.owner == &vm_ || (f.owner && explicit_sync) || &f == last)
                return;
            drm_sched_job_add_dependency(job, f);
            last = &f;
        });
        // Validation has used some of what was reserved.
        dma_resv_reserve_fences(*obj->resv, 1);
    }
}

// With BOs where they are now. The driver's own: amdgpu's jobs take as long as they take.
int cs_parser::compute_time()
{
    u64 vram = 0, link = 0;
    bool overflow = args_.compute_ns > gpu::duration_max_ns;
    for (const vttm_touch &t : args_.touches) {
        const bool in_vram = t.bo->resource && t.bo->resource->mem_type == TTM_PL_VRAM;
        u64 &sum = in_vram ? vram : link;
        overflow |= __builtin_add_overflow(sum, in_vram ? t.vram_bytes : t.link_bytes, &sum);
    }
    link_bytes_ = link;
    u64 sum_ns = 0;
    time_ = gpu::time_of_job(dev_.config, args_.compute_ns, vram, link, &sum_ns);
    return overflow || sum_ns >= gpu::duration_max_ns ? -EINVAL : 0;
}

// amdgpu_cs_submit()
u64 cs_parser::submit()
{
    vttm_job *job = dev_.job_pool.create();
    job->dev = &dev_;
    job->vm = &vm_;
    job->vm_label = vm_.label;
    job->process = trace.process;
    job->time = time_;
    job->link_bytes = link_bytes_;
    drm_sched_job_init(*job, vm_.entity);
    sync_rings(*job);
    drm_sched_job_arm(*job, &vm_);
    job->seqno = job->finished().seqno;

    for (const vttm_touch &t : args_.touches)
        if (dev_.plans)
            dev_.plans->touched(t);
    const fence_ref fence = job->s_fence;
    for (drm_gem_object *obj : exec_.locked_objects()) {
        if (obj != &vm_)
            ttm_bo_move_to_lru_tail_unlocked(static_cast<vttm_bo *>(obj));
        dma_resv_add_fence(*obj->resv, *fence, dma_resv_usage::write);
    }
    vm_.in_flight.push_back(fence);
    drm_sched_entity_push_job(*job);
    ttm_lru_bulk_move_tail(&vm_.lru_bulk_move);
    return fence->seqno;
}

} // namespace

int vttm_submit(vttm_device &dev, vttm_vm &vm, const vttm_submit_args &args, u64 *seqno)
{
    cs_parser p(dev, vm, args);
    if (const int r = p.lock_and_validate())
        return r;
    if (const int r = p.prepare())
        return r;
    *seqno = p.submit();
    return 0;
}

} // namespace vramlab::driver
