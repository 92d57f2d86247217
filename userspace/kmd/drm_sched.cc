// SPDX-License-Identifier: MIT
#include "kmd/drm_sched.h"

#include <stdexcept>

namespace vramlab::kmd {

drm_sched_fence *to_drm_sched_fence(dma_fence *f)
{
    return dynamic_cast<drm_sched_fence *>(f);
}

// ---- entities and their queues

void drm_sched_entity_init(drm_sched_entity &entity, drm_gpu_scheduler &sched)
{
    entity.sched = &sched;
    entity.fence_context = dma_fence_context_alloc();
}

void drm_sched_entity_fini(drm_sched_entity &entity)
{
    if (entity.queue_head || entity.dependency)
        throw std::logic_error("drm_sched_entity_fini: jobs are queued");
}

namespace {

drm_sched_entity &to_entity(list_head *e)
{
    return *static_cast<drm_sched_entity *>(e);
}

// drm_sched_rq_update_fifo_locked(): the tree of the kernel is a sorted list here. Equal times don't occur,
// as submit_ts is a count, and a new head job is mostly the youngest: look from the end.
void drm_sched_rq_update_fifo(drm_sched_entity &entity, u64 ts)
{
    list_head &rq = entity.sched->rq;
    list_del_init(entity);
    entity.oldest_job_waiting = ts;
    list_head *after = rq.prev;
    while (after != &rq && to_entity(after).oldest_job_waiting > ts)
        after = after->prev;
    list_add(entity, *after);
}

// drm_sched_rq_pop_entity()
void drm_sched_rq_pop_entity(drm_sched_entity &entity)
{
    if (entity.queue_head)
        drm_sched_rq_update_fifo(entity, entity.queue_head->submit_ts);
    else
        list_del_init(entity);
}

// drm_sched_entity_is_ready(): those in the list have jobs.
drm_sched_entity *drm_sched_rq_select_entity(drm_gpu_scheduler &sched)
{
    for (list_head *e = sched.rq.next; e != &sched.rq; e = e->next)
        if (!to_entity(e).dependency)
            return &to_entity(e);
    return nullptr;
}

// drm_sched_entity_add_dependency_cb(): true if the entity has to wait for entity.dependency.
bool drm_sched_entity_add_dependency_cb(drm_sched_entity &entity)
{
    dma_fence *fence = entity.dependency.get();
    // Jobs of one entity are in order anyway.
    if (fence->context == entity.fence_context)
        return false;
    // On the same scheduler it is enough that the other job has been handed over: the hardware runs them in
    // order.
    if (drm_sched_fence *s_fence = to_drm_sched_fence(fence); s_fence && s_fence->sched == entity.sched)
        fence = &s_fence->scheduled;
    if (dma_fence_is_signaled(*fence))
        return false;
    dma_fence_add_callback(*fence, [&entity](dma_fence &) { // drm_sched_entity_wakeup()
        entity.dependency = {};
        entity.sched->wakeup = true;
    });
    return true;
}

drm_sched_job *drm_sched_entity_pop_job(drm_sched_entity &entity)
{
    drm_sched_job *job = entity.queue_head;
    if (!job)
        return nullptr;

    while (job->last_dependency < job->dependencies.size()) { // drm_sched_job_dependency()
        entity.dependency = job->dependencies[job->last_dependency++];
        if (drm_sched_entity_add_dependency_cb(entity))
            return nullptr;
        entity.dependency = {};
    }

    entity.queue_head = job->queue_next;
    if (!entity.queue_head)
        entity.queue_tail = &entity.queue_head;
    entity.queue_count--;
    drm_sched_rq_pop_entity(entity);
    job->entity = nullptr;
    return job;
}

} // namespace

// ---- jobs

void drm_sched_job_init(drm_sched_job &job, drm_sched_entity &entity)
{
    job.entity = &entity;
    job.sched = entity.sched;
}

void drm_sched_job_add_dependency(drm_sched_job &job, dma_fence &fence)
{
    for (u32 i = 0; i < job.dependencies.size(); i++) {
        fence_ref &entry = job.dependencies[i];
        if (entry->context != fence.context)
            continue;
        if (dma_fence_is_later(fence, *entry))
            entry = fence_ref(&fence);
        return;
    }
    job.dependencies.push_back(fence_ref(&fence));
}

void drm_sched_job_arm(drm_sched_job &job, const void *owner)
{
    auto *f = new drm_sched_fence;
    f->context = job.entity->fence_context;
    f->seqno = ++job.entity->fence_seq;
    f->owner = owner;
    f->waiter = job.sched->waiter;
    f->sched = job.sched;
    job.s_fence = fence_ref::adopt(f);
}

void drm_sched_entity_push_job(drm_sched_job &job)
{
    drm_sched_entity &entity = *job.entity;
    drm_gpu_scheduler &sched = *job.sched;
    job.submit_ts = ++sched.pushes;
    const bool first = !entity.queue_head;
    *entity.queue_tail = &job;
    entity.queue_tail = &job.queue_next;
    entity.queue_count++;
    sched.queued++;
    if (first) {
        drm_sched_rq_update_fifo(entity, job.submit_ts);
        sched.wakeup = true;
    }
}

void drm_sched_job_done(drm_sched_job &job)
{
    const fence_ref finished = job.s_fence;
    job.sched->ops->free_job(job);
    dma_fence_signal(*finished);
}

bool drm_sched_run(drm_gpu_scheduler &sched)
{
    bool ran = false;
    while (sched.wakeup) {
        sched.wakeup = false;
        while (drm_sched_entity *entity = drm_sched_rq_select_entity(sched)) {
            drm_sched_job *job = drm_sched_entity_pop_job(*entity);
            if (!job)
                continue; // it waits now; look for the next one
            sched.queued--;
            // The job may be over before anybody looks again, but not within run_job().
            const fence_ref finished = job->s_fence;
            sched.ops->run_job(*job);
            dma_fence_signal(static_cast<drm_sched_fence *>(finished.get())->scheduled);
            ran = true;
        }
    }
    return ran;
}

} // namespace vramlab::kmd
