// SPDX-License-Identifier: MIT
// Models drivers/gpu/drm/drm_exec.c: locking any number of GEM objects under one ticket, with back-off.
// Omits: -EINTR and -ENOMEM.
//
// Also what kernel/patches adds for TTM's evictions: locks of a resv that belong to no object of the caller's
// (lock_resv() and what follows it), each with an owner that is held as long as the lock is.
//
//   drm_exec exec(DRM_EXEC_INTERRUPTIBLE_WAIT);
//   while (exec.cleanup()) {          // drm_exec_until_all_locked()
//       ret = exec.prepare_obj(obj, 1);
//       if (exec.is_contended())      // drm_exec_retry_on_contention()
//           continue;
//       ...
//   }
//   exec.fini();                      // or the destructor
#pragma once

#include "kmd/dma_resv.h"

#include <vector>

namespace vramlab::kmd {

inline constexpr u32 DRM_EXEC_INTERRUPTIBLE_WAIT = 1u << 0;
inline constexpr u32 DRM_EXEC_IGNORE_DUPLICATES = 1u << 1;

// The part of struct drm_gem_object that locking needs. Reference counted: get and put are the owner's.
struct drm_gem_object {
    dma_resv *resv = nullptr;                 // own one, or a VM's
    void (*free)(drm_gem_object *) = nullptr; // at the last put
    u32 refcount = 1;                         // last: a derived class has room behind it
};
inline void drm_gem_object_get(drm_gem_object *obj)
{
    obj->refcount++;
}
inline void drm_gem_object_put(drm_gem_object *obj) // nullptr allowed
{
    if (obj && --obj->refcount == 0 && obj->free) [[unlikely]]
        obj->free(obj);
}

// A resv that is locked, or to be locked, and a reference that keeps it alive: put(owner) drops that.
struct drm_exec_resv {
    dma_resv *resv = nullptr;
    void *owner = nullptr;
    void (*put)(void *owner) = nullptr;
};

class drm_exec {
public:
    explicit drm_exec(u32 flags, u32 nr = 0); // nr: objects to make room for
    ~drm_exec() noexcept(false);              // freeing the last reference of an object is the driver's code
    drm_exec(const drm_exec &) = delete;
    drm_exec &operator=(const drm_exec &) = delete;

    bool cleanup();
    void fini(); // unlocks everything; idempotent
    // 0, -EDEADLK (contended: drop out and cleanup()), -EALREADY
    int lock_obj(drm_gem_object *obj)
    {
        if (contended_.resv || prelocked_.resv) [[unlikely]]
            return lock_obj_slowpath(obj);
        return lock_obj_plain(obj);
    }
    // Must be one of the locked objects; else nothing happens. Fast for those locked last.
    void unlock_obj(drm_gem_object *obj);
    int prepare_obj(drm_gem_object *obj, u32 num_fences)
    {
        if (const int ret = lock_obj(obj))
            return ret;
        if (const int ret = dma_resv_reserve_fences(*obj->resv, num_fences)) {
            unlock_obj(obj);
            return ret;
        }
        return 0;
    }
    // Also with no objects it locks the contended one.
    int prepare_array(drm_gem_object *const *objects, u32 num_objects, u32 num_fences);
    bool is_contended() const { return contended_.resv != nullptr && contended_.resv != dummy(); }

    // Locks entry.resv, sleeping, and takes entry over. Of the errors only -EDEADLK (contended) takes it
    // over, too; -EALREADY: the ticket has it.
    int lock_resv(drm_exec_resv entry);
    // Locks resv without sleeping, unless contended; true also for the resv that was contended in the attempt
    // before and is locked since. To be followed by add_resv() or, for a lock that is not kept,
    // dma_resv_unlock().
    bool trylock_resv(dma_resv &resv);
    // Takes entry over, whose resv is locked by trylock_resv().
    void add_resv(drm_exec_resv entry);
    // The lock of lock_resv() or add_resv(): unlocks, then drops the owner.
    void unlock_resv(dma_resv &resv);
    bool holds_resv(const dma_resv &resv) const; // by lock_resv() or add_resv()
    const dma_resv *prelocked_resv() const { return prelocked_.resv; }
    // restore() unlocks what lock_resv() and add_resv() have added since, last first.
    std::size_t snapshot() const { return resvs_.size(); }
    void restore(std::size_t snapshot);

    const std::vector<drm_gem_object *> &locked_objects() const { return objects_; } // in locking order
    ww_acquire_ctx &ticket() { return ticket_; }
    u32 attempts() const { return attempts_; } // times cleanup() dropped everything

private:
    static dma_resv *dummy(); // DRM_EXEC_DUMMY: nothing was tried yet
    int lock_obj_plain(drm_gem_object *obj)
    {
        const int ret = dma_resv_lock(*obj->resv, &ticket_);
        if (ret) [[unlikely]]
            return lock_obj_failed(obj, ret);
        drm_gem_object_get(obj);
        objects_.push_back(obj);
        return 0;
    }
    int lock_obj_slowpath(drm_gem_object *obj);
    int lock_obj_failed(drm_gem_object *obj, int ret);
    int lock_contended();
    void drop_prelocked();
    void unlock_all();

    u32 flags_;
    u32 attempts_ = 0;
    std::vector<drm_gem_object *> objects_; // referenced
    std::vector<drm_exec_resv> resvs_;      // locks that belong to none of them, in locking order
    drm_exec_resv contended_;               // no owner, if it is the dummy
    drm_exec_resv prelocked_;               // was contended, is locked, in neither of the tables yet
    ww_acquire_ctx ticket_;
    bool finished_ = false;
};

} // namespace vramlab::kmd
