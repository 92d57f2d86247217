// SPDX-License-Identifier: MIT
// Models drivers/gpu/drm/ttm/{ttm_bo,ttm_bo_util}.c, ttm_bo_internal.h and include/drm/ttm/ttm_bo.h: buffer
// objects, their placement, eviction, moves, swapout and delayed deletion. Names, errors and the order of
// decisions are the kernel's.
//
// Errors: 0 or negative. -ERESTARTSYS and -EINTR never occur, as nobody sends signals. Waits have no timeout
// (the kernel's is 15 s). Locks are those of kmd/dma_resv.h: functions that take a ticket or sleep may let
// other tasks run.
//
// Omits: CPU mappings (kmap, vmap, faults, io_mem_*, the vma offset manager), the shrinker's backup path, sg
// tables.
#pragma once

#include "kmd/dma_resv.h"
#include "kmd/drm_exec.h"
#include "kmd/ttm_device.h"
#include "kmd/ttm_resource.h"
#include "kmd/ttm_throttle.h"
#include "kmd/ttm_tt.h"

namespace vramlab::kmd {

enum ttm_bo_type : u8 { ttm_bo_type_device, ttm_bo_type_kernel, ttm_bo_type_sg };

// Base of the drivers' BOs. Members below size are under the resv, LRU membership as in ttm_resource.h.
//
// Life: ttm_bo_init_reserved() makes it with one reference, which is the GEM object's (drm_gem_object::free
// of the driver ends in ttm_bo_fini()). After the last one it becomes a zombie until its fences are
// signalled, then destroy() frees it.
struct ttm_buffer_object : drm_gem_object {
    u32 kref = 0;   // references of TTM's users, beside GEM's
    dma_resv _resv; // the BO's own; resv points here or at a VM's
    u64 size = 0;   // bytes
    ttm_device *bdev = nullptr;
    void (*destroy)(ttm_buffer_object *) = nullptr; // also tells whose BO it is: a ghost has TTM's own
    ttm_resource *resource = nullptr;               // current placement, owned
    ttm_tt *ttm = nullptr;                          // owned
    ttm_lru_bulk_move *bulk_move = nullptr;
    u32 page_alignment = 0;
    u16 pin_count = 0;
    ttm_bo_type type = ttm_bo_type_device;
    u8 priority = 0;
    bool deleted : 1 = false; // a zombie
    u8 bulk_priority : 4 = 0; // within bulk_move; changes by ttm_bo_set_bulk_priority()

    ttm_buffer_object() { resv = &_resv; }
};

struct ttm_operation_ctx {
    bool interruptible = false;
    bool no_wait_gpu = false;
    bool gfp_retry_mayfail = false;
    bool allow_res_evict = false; // BOs with this resv may be evicted though it is held
    // Likewise, but of the same bulk move as the BO that needs room, and with a lower priority.
    bool allow_lower_evict = false;
    dma_resv *resv = nullptr;
    ttm_throttle *throttle = nullptr; // for whom; nullptr: nobody, or reclaim
    // The caller's transaction, or nullptr: mainline. With one, evictions lock under its ticket and return
    // -EDEADLK as it is; the caller then drops everything and starts over.
    drm_exec *exec = nullptr;
    u64 bytes_moved = 0;
};

inline void ttm_bo_get(ttm_buffer_object *bo)
{
    bo->kref++;
}
inline ttm_buffer_object *ttm_bo_get_unless_zero(ttm_buffer_object *bo)
{
    if (!bo->kref)
        return nullptr;
    bo->kref++;
    return bo;
}
void ttm_bo_put(ttm_buffer_object *bo);
inline void ttm_bo_fini(ttm_buffer_object *bo)
{
    ttm_bo_put(bo);
}

// 0, -EBUSY (no_wait and locked), -EDEADLK, -EALREADY (held by the ticket). A ticket with no_wait is -EBUSY.
int ttm_bo_reserve(ttm_buffer_object *bo, bool interruptible, bool no_wait, ww_acquire_ctx *ticket);
// The resv is held.
void ttm_bo_move_to_lru_tail(ttm_buffer_object *bo);
inline void ttm_bo_move_to_lru_tail_unlocked(ttm_buffer_object *bo)
{
    ttm_bo_move_to_lru_tail(bo);
}
void ttm_bo_unreserve(ttm_buffer_object *bo);
void ttm_bo_set_bulk_move(ttm_buffer_object *bo, ttm_lru_bulk_move *bulk);
// Where in its bulk move bo is; less than TTM_NUM_BULK_PRIORITIES. The resv is held.
void ttm_bo_set_bulk_priority(ttm_buffer_object *bo, u32 priority);
void ttm_bo_pin(ttm_buffer_object *bo);
void ttm_bo_unpin(ttm_buffer_object *bo);

// Moves bo to the first place that has room, then evicting, unless it is in a compatible one. -ENOMEM: no
// space; -EINVAL: pinned; -EBUSY: ctx->no_wait_gpu. On failure the BO is where it was, or in a hop's place.
// No placement: its memory is dropped.
int ttm_bo_validate(ttm_buffer_object *bo, const ttm_placement *placement, ttm_operation_ctx *ctx);
int ttm_bo_mem_space(ttm_buffer_object *bo, const ttm_placement *placement, ttm_resource **res,
                     ttm_operation_ctx *ctx);
int ttm_bo_wait_ctx(ttm_buffer_object *bo, ttm_operation_ctx *ctx);
bool ttm_bo_eviction_valuable(ttm_buffer_object *bo, const ttm_place *place);

// bo->size is set by the caller. If resv is nullptr the BO's own is locked and stays so on success; else it
// is held by the caller. On failure destroy() has been called: bo is gone.
int ttm_bo_init_reserved(ttm_device *bdev, ttm_buffer_object *bo, ttm_bo_type type,
                         const ttm_placement *placement, u32 alignment_pages, ttm_operation_ctx *ctx,
                         dma_resv *resv, void (*destroy)(ttm_buffer_object *));
int ttm_bo_init_validate(ttm_device *bdev, ttm_buffer_object *bo, ttm_bo_type type,
                         const ttm_placement *placement, u32 alignment_pages, bool interruptible,
                         dma_resv *resv, void (*destroy)(ttm_buffer_object *));

// -ENOENT: the lists are empty.
int ttm_bo_evict_first(ttm_device *bdev, ttm_resource_manager *man, ttm_operation_ctx *ctx);
// Bytes freed (may be fewer than asked for) or a fatal error.
s64 ttm_bo_evict_cgroup(ttm_device *bdev, ttm_resource_manager *man, dmem_cgroup_pool_state *limit_pool,
                        s64 target_bytes, ttm_operation_ctx *ctx);
// Pages swapped out or an error.
s64 ttm_bo_swapout(ttm_device *bdev, ttm_operation_ctx *ctx, ttm_resource_manager *man, s64 target_pages);
int ttm_bo_populate(ttm_buffer_object *bo, ttm_operation_ctx *ctx);
int ttm_bo_setup_export(ttm_buffer_object *bo, ttm_operation_ctx *ctx);
void ttm_bo_tt_destroy(ttm_buffer_object *bo);

// ttm_bo_util.c: what a driver's move() calls.
void ttm_bo_assign_mem(ttm_buffer_object *bo, ttm_resource *new_mem);
void ttm_bo_move_null(ttm_buffer_object *bo, ttm_resource *new_mem);
int ttm_bo_move_memcpy(ttm_buffer_object *bo, ttm_operation_ctx *ctx, ttm_resource *dst_mem);
int ttm_bo_move_accel_cleanup(ttm_buffer_object *bo, dma_fence *fence, bool evict, bool pipeline,
                              ttm_resource *new_mem);
void ttm_bo_move_sync_cleanup(ttm_buffer_object *bo, ttm_resource *new_mem);
int ttm_bo_pipeline_gutting(ttm_buffer_object *bo);

// The BO whose old memory a ghost holds, nullptr if bo is no ghost. Drivers must not cast a ghost to their
// own type.
const ttm_buffer_object *ttm_bo_ghost_of(const ttm_buffer_object *bo);

struct ttm_lru_walk;

struct ttm_lru_walk_ops {
    // bo is locked and referenced. Progress (>= 0), -EBUSY: skipped, other errors end the walk.
    s64 (*process_bo)(ttm_lru_walk *walk, ttm_buffer_object *bo);
};

struct ttm_lru_walk_arg {
    ttm_operation_ctx *ctx = nullptr;
    ww_acquire_ctx *ticket = nullptr;
    bool trylock_only = false;
    bool sleeping_lock = false; // sleep without a ticket as well
    // With an exec: what process_bo() sets if the lock of its BO is to be kept for the exec to restore.
    bool keep_lock = false;
    const ttm_buffer_object *evictor = nullptr; // for whom room is made, if for anybody
};

struct ttm_lru_walk {
    const ttm_lru_walk_ops *ops = nullptr;
    ttm_lru_walk_arg arg;
};

s64 ttm_lru_walk_for_evict(ttm_lru_walk *walk, ttm_device *bdev, ttm_resource_manager *man, s64 target);

// Iterates over the BOs of a manager's LRU lists, each locked and referenced until the next step.
struct ttm_bo_lru_cursor {
    ttm_resource_cursor res_curs;
    ttm_buffer_object *bo = nullptr;
    bool needs_unlock = false;
    ttm_lru_walk_arg *arg = nullptr;
};
void ttm_bo_lru_cursor_init(ttm_bo_lru_cursor *curs, ttm_resource_manager *man, ttm_lru_walk_arg *arg);
void ttm_bo_lru_cursor_fini(ttm_bo_lru_cursor *curs);
// *bo is nullptr at the end; an error of a lock is returned (the kernel's ERR_PTR).
int ttm_bo_lru_cursor_first(ttm_bo_lru_cursor *curs, ttm_buffer_object **bo);
int ttm_bo_lru_cursor_next(ttm_bo_lru_cursor *curs, ttm_buffer_object **bo);

} // namespace vramlab::kmd
