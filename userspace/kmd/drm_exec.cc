// SPDX-License-Identifier: MIT
#include "kmd/drm_exec.h"

#include <stdexcept>
#include <utility>

namespace vramlab::kmd {

drm_gem_object *drm_exec::dummy()
{
    static drm_gem_object object;
    return &object;
}

drm_exec::drm_exec(u32 flags, u32 nr) : flags_(flags), contended_(dummy())
{
    objects_.reserve(nr);
}

drm_exec::~drm_exec() noexcept(false)
{
    fini();
}

void drm_exec::drop_prelocked()
{
    if (drm_gem_object *obj = std::exchange(prelocked_, nullptr)) {
        dma_resv_unlock(*obj->resv);
        drm_gem_object_put(obj);
    }
}

// In reverse order: who waits for an early object waits longest.
void drm_exec::unlock_all()
{
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
    if (contended_ == dummy())
        return;
    drm_gem_object_put(std::exchange(contended_, nullptr));
    ww_acquire_fini(ticket_);
}

bool drm_exec::cleanup()
{
    if (!contended_) [[likely]] {
        // What was contended may never have been asked for again.
        drop_prelocked();
        ww_acquire_done(ticket_);
        return false;
    }
    if (contended_ == dummy()) [[likely]] {
        contended_ = nullptr;
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
    if (!contended_) [[likely]]
        return 0;
    if (contended_ == dummy())
        throw std::logic_error("drm_exec: lock outside of the cleanup() loop");
    // Cleared first, so that whatever happens below the loop is left or goes on by itself.
    drm_gem_object *obj = std::exchange(contended_, nullptr);
    dma_resv_lock_slow(*obj->resv, ticket_);
    // There may be one already: contended again before it was asked for.
    drop_prelocked();
    prelocked_ = obj; // with its reference
    return 0;
}

int drm_exec::lock_obj_failed(drm_gem_object *obj, int ret)
{
    if (ret == -EDEADLK) {
        drm_gem_object_get(obj);
        contended_ = obj;
        return ret;
    }
    if (ret == -EALREADY && (flags_ & DRM_EXEC_IGNORE_DUPLICATES))
        return 0;
    return ret;
}

int drm_exec::lock_obj_slowpath(drm_gem_object *obj)
{
    if (const int ret = lock_contended())
        return ret;
    if (prelocked_ != obj)
        return lock_obj_plain(obj);
    // prelocked's reference becomes that of objects_.
    objects_.push_back(std::exchange(prelocked_, nullptr));
    return 0;
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
