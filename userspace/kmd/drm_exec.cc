// SPDX-License-Identifier: MIT
#include "kmd/drm_exec.h"

#include <stdexcept>
#include <utility>

namespace vramlab::kmd {

namespace {

void put_object(void *owner)
{
    drm_gem_object_put(static_cast<drm_gem_object *>(owner));
}

void drop(drm_exec_resv entry)
{
    dma_resv_unlock(*entry.resv);
    entry.put(entry.owner); // last: the resv may go with it
}

} // namespace

dma_resv *drm_exec::dummy()
{
    static dma_resv resv;
    return &resv;
}

drm_exec::drm_exec(u32 flags, u32 nr) : flags_(flags), contended_{.resv = dummy()}
{
    objects_.reserve(nr);
}

drm_exec::~drm_exec() noexcept(false)
{
    fini();
}

void drm_exec::drop_prelocked()
{
    if (prelocked_.resv)
        drop(std::exchange(prelocked_, {}));
}

// In reverse order: who waits for an early object waits longest.
void drm_exec::unlock_all()
{
    restore(0);
    while (!objects_.empty()) {
        drm_gem_object *obj = objects_.back();
        objects_.pop_back();
        dma_resv_unlock(*obj->resv);
        drm_gem_object_put(obj);
    }
    drop_prelocked();
}

void drm_exec::fini()
{
    if (std::exchange(finished_, true))
        return;
    unlock_all();
    if (contended_.resv == dummy())
        return;
    if (const drm_exec_resv contended = std::exchange(contended_, {}); contended.resv)
        contended.put(contended.owner);
    ww_acquire_fini(ticket_);
}

bool drm_exec::cleanup()
{
    if (!contended_.resv) [[likely]] {
        // What was contended may never have been asked for again.
        drop_prelocked();
        ww_acquire_done(ticket_);
        return false;
    }
    if (contended_.resv == dummy()) [[likely]] {
        contended_ = {};
        ww_acquire_init(ticket_);
        return true;
    }
    unlock_all();
    attempts_++;
    emit({.a = attempts_, .where = "drm_exec_cleanup", .type = events::event_type::backoff});
    return true;
}

int drm_exec::lock_contended()
{
    if (!contended_.resv) [[likely]]
        return 0;
    if (contended_.resv == dummy())
        throw std::logic_error("drm_exec: lock outside of the cleanup() loop");
    // Cleared first, so that whatever happens below the loop is left or goes on by itself.
    const drm_exec_resv entry = std::exchange(contended_, {});
    dma_resv_lock_slow(*entry.resv, ticket_);
    // There may be one already: contended again before it was asked for.
    drop_prelocked();
    prelocked_ = entry;
    return 0;
}

int drm_exec::lock_obj_failed(drm_gem_object *obj, int ret)
{
    if (ret == -EDEADLK) {
        drm_gem_object_get(obj);
        contended_ = {obj->resv, obj, put_object};
        return ret;
    }
    if (ret != -EALREADY)
        return ret;
    for (std::size_t i = 0; i < resvs_.size(); i++) {
        if (resvs_[i].resv != obj->resv)
            continue;
        // Locked for an eviction before: from now on the object's lock, which must not be left without a
        // fence.
        const drm_exec_resv entry = resvs_[i];
        resvs_.erase(resvs_.begin() + static_cast<std::ptrdiff_t>(i));
        drm_gem_object_get(obj);
        objects_.push_back(obj);
        entry.put(entry.owner);
        return 0;
    }
    return flags_ & DRM_EXEC_IGNORE_DUPLICATES ? 0 : ret;
}

int drm_exec::lock_obj_slowpath(drm_gem_object *obj)
{
    if (const int ret = lock_contended())
        return ret;
    // Whatever it was locked for: two objects may share a resv.
    if (prelocked_.resv != obj->resv)
        return lock_obj_plain(obj);
    const drm_exec_resv entry = std::exchange(prelocked_, {});
    drm_gem_object_get(obj);
    objects_.push_back(obj);
    entry.put(entry.owner);
    return 0;
}

int drm_exec::lock_resv(drm_exec_resv entry)
{
    if (const int ret = lock_contended())
        return ret;
    if (prelocked_.resv != entry.resv) {
        const int ret = dma_resv_lock(*entry.resv, &ticket_);
        if (ret == -EDEADLK)
            contended_ = entry;
        if (ret)
            return ret;
    }
    add_resv(entry);
    return 0;
}

bool drm_exec::trylock_resv(dma_resv &resv)
{
    if (contended_.resv)
        return false;
    return prelocked_.resv == &resv || dma_resv_trylock(resv, &ticket_);
}

void drm_exec::add_resv(drm_exec_resv entry)
{
    resvs_.push_back(entry);
    if (prelocked_.resv != entry.resv)
        return;
    const drm_exec_resv before = std::exchange(prelocked_, {});
    before.put(before.owner);
}

void drm_exec::unlock_resv(dma_resv &resv)
{
    for (std::size_t i = resvs_.size(); i-- > 0;) {
        if (resvs_[i].resv != &resv)
            continue;
        const drm_exec_resv entry = resvs_[i];
        resvs_.erase(resvs_.begin() + static_cast<std::ptrdiff_t>(i));
        drop(entry);
        return;
    }
}

bool drm_exec::holds_resv(const dma_resv &resv) const
{
    for (const drm_exec_resv &entry : resvs_)
        if (entry.resv == &resv)
            return true;
    return false;
}

void drm_exec::restore(std::size_t snapshot)
{
    while (resvs_.size() > snapshot) {
        const drm_exec_resv entry = resvs_.back();
        resvs_.pop_back();
        drop(entry);
    }
}

void drm_exec::unlock_obj(drm_gem_object *obj)
{
    for (std::size_t i = objects_.size(); i-- > 0;) {
        if (objects_[i] != obj)
            continue;
        objects_.erase(objects_.begin() + static_cast<std::ptrdiff_t>(i));
        dma_resv_unlock(*obj->resv);
        drm_gem_object_put(obj);
        return;
    }
}

int drm_exec::prepare_array(drm_gem_object *const *objects, u32 num_objects, u32 num_fences)
{
    if (num_objects == 0)
        return lock_contended();
    for (u32 i = 0; i < num_objects; i++)
        if (const int ret = prepare_obj(objects[i], num_fences))
            return ret;
    return 0;
}

} // namespace vramlab::kmd
