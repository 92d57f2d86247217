// SPDX-License-Identifier: MIT
// Models drivers/gpu/drm/scheduler/{sched_main,sched_entity,sched_rq,sched_fence}.c with sched_policy=FIFO:
// entities with queues of jobs, dependencies between jobs, which ready job is handed to the hardware next.
// Omits: priorities (one run queue), credits (the hardware takes every ready job), timeouts, errors, guilty
// and killed entities, load balancing between schedulers. The hardware fence is not modelled:
// drm_sched_job_done() signals the finished fence. submit_ts counts pushes instead of nanoseconds, so that
// pushes at one virtual time keep their order as they do in real time.
#pragma once

#include "kmd/dma_fence.h"
#include "kmd/list.h"
#include "kmd/slab.h"

#include <vector>

namespace vramlab::kmd {

struct drm_gpu_scheduler;
struct drm_sched_entity;
struct drm_sched_job;

// The finished fence of a job is the object; its scheduled fence lives inside of it and is not shared: nobody
// keeps a reference to it.
struct drm_sched_fence final : dma_fence {
    dma_fence scheduled;
    drm_gpu_scheduler *sched = nullptr;

    static void *operator new(std::size_t size)
    {
        return slab<drm_sched_fence>::get(size);
    } // sched_fence_slab
    static void operator delete(void *p) { slab<drm_sched_fence>::put(p); }
};
drm_sched_fence *to_drm_sched_fence(dma_fence *f); // nullptr if it is not one

// What the driver does with a job that has become ready.
class drm_sched_backend_ops {
public:
    // Hands the job to the hardware; drm_sched_job_done() follows when it has ended, not before this returns.
    virtual void run_job(drm_sched_job &job) = 0;
    // The job is over: the driver's again, to be destroyed.
    virtual void free_job(drm_sched_job &job) = 0;

protected:
    ~drm_sched_backend_ops() = default;
};

// What a job depends on: few, so that the first ones need no memory of their own.
class drm_sched_dependencies {
public:
    u32 size() const { return size_; }
    fence_ref &operator[](u32 i) { return i < few ? first_[i] : rest_[i - few]; }
    void push_back(fence_ref f)
    {
        if (size_ < few)
            first_[size_] = std::move(f);
        else
            rest_.push_back(std::move(f));
        size_++;
    }

private:
    static constexpr u32 few = 2;
    u32 size_ = 0;
    fence_ref first_[few];
    std::vector<fence_ref> rest_;
};

// Owned by the scheduler from drm_sched_entity_push_job() until drm_sched_job_done(), which gives it to
// free_job().
struct drm_sched_job {
    drm_gpu_scheduler *sched = nullptr;
    drm_sched_entity *entity = nullptr; // nullptr once it has left the entity's queue
    fence_ref s_fence;                  // set by arm
    drm_sched_dependencies dependencies;
    u32 last_dependency = 0;
    u64 submit_ts = 0;
    drm_sched_job *queue_next = nullptr;

    virtual ~drm_sched_job() = default;
    dma_fence &finished() const { return *s_fence; }
};

struct drm_sched_entity : list_head { // in the run queue while it has jobs, by oldest_job_waiting
    drm_gpu_scheduler *sched = nullptr;
    u64 fence_context = 0; // of finished fences
    u64 fence_seq = 0;     // of the last armed job
    fence_ref dependency;  // what the head job waits for
    u64 oldest_job_waiting = 0;
    drm_sched_job *queue_head = nullptr;
    drm_sched_job **queue_tail = &queue_head;
    u32 queue_count = 0;
};

struct drm_gpu_scheduler {
    drm_sched_backend_ops *ops = nullptr;
    fence_waiter *waiter = nullptr; // of the fences of its jobs
    list_head rq;                   // drm_sched_entity
    u64 pushes = 0;
    u32 queued = 0;      // jobs pushed and not handed over
    bool wakeup = false; // something may have become ready
};

void drm_sched_entity_init(drm_sched_entity &entity, drm_gpu_scheduler &sched);
// The queue must be empty (the driver has waited): else a std::logic_error.
void drm_sched_entity_fini(drm_sched_entity &entity);

void drm_sched_job_init(drm_sched_job &job, drm_sched_entity &entity);
// Keeps the later fence of each context. Takes its own reference.
void drm_sched_job_add_dependency(drm_sched_job &job, dma_fence &fence);
// Creates the finished fence; from here the job must be pushed.
void drm_sched_job_arm(drm_sched_job &job, const void *owner);
void drm_sched_entity_push_job(drm_sched_job &job);
// The hardware has ended the job: frees it and signals its finished fence.
void drm_sched_job_done(drm_sched_job &job);

// drm_sched_run_job_work() until no entity is ready. Returns whether a job was handed over.
bool drm_sched_run(drm_gpu_scheduler &sched);

} // namespace vramlab::kmd
