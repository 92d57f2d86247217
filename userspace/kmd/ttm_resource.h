// SPDX-License-Identifier: MIT
// Models drivers/gpu/drm/ttm/ttm_resource.c and include/drm/ttm/ttm_resource.h: resource managers, their LRU
// lists, bulk moves, restartable cursors, charging. Names, errors and the order of decisions are the
// kernel's.
//
// Locking: ttm_device::lru_lock is held where the kernel says so by nobody else running: a task gives way
// only in sleeping locks of a resv, which the kernel never takes under it.
//
// Omits: bus placement (struct ttm_bus_placement), kmap iterators, debugfs.
#pragma once

#include "kmd/dma_fence.h"
#include "kmd/list.h"
#include "kmd/ttm_placement.h"

#include <array>

namespace vramlab::kmd {

struct dmem_cgroup_pool_state;
struct dmem_cgroup_region;
struct ttm_buffer_object;
struct ttm_device;
struct ttm_range_claim;
struct ttm_resource;
struct ttm_resource_cursor;
struct ttm_resource_manager;

// How many fence contexts may pipeline evictions of one manager.
inline constexpr u32 TTM_NUM_MOVE_FENCES = 8;

enum ttm_lru_item_type : u8 { TTM_LRU_RESOURCE, TTM_LRU_HITCH };

// Node of an LRU list: a resource, or the mark of a cursor.
struct ttm_lru_item : list_head {
    ttm_lru_item_type type;

    explicit ttm_lru_item(ttm_lru_item_type t) : type(t) {}
};

inline bool ttm_lru_item_is_res(const ttm_lru_item &item)
{
    return item.type == TTM_LRU_RESOURCE;
}

// Operations of a manager; nullptr where the comment says "may be".
struct ttm_resource_manager_func {
    // Calls ttm_resource_init() first and ttm_resource_fini() on failure. 0, -ENOSPC, or another error that
    // ends the operation.
    int (*alloc)(ttm_resource_manager *man, ttm_buffer_object *bo, const ttm_place *place,
                 ttm_resource **res);
    // Calls ttm_resource_fini() and releases the memory of res.
    void (*free)(ttm_resource_manager *man, ttm_resource *res);
    // May be nullptr: then every resource intersects, and is compatible.
    bool (*intersects)(ttm_resource_manager *man, ttm_resource *res, const ttm_place *place, u64 size_bytes);
    bool (*compatible)(ttm_resource_manager *man, ttm_resource *res, const ttm_place *place, u64 size_bytes);
    // For places that must be contiguous (ttm_range.h). May be nullptr, all of them: then the LRU says what
    // is evicted. claim_range() chooses by ttm_range_choose() and claims; 0, -ENOSPC, or another error that
    // ends the operation. Only an allocation for the claim's BO gets what is claimed.
    int (*claim_range)(ttm_resource_manager *man, ttm_range_claim *claim) = nullptr;
    void (*unclaim_range)(ttm_resource_manager *man, ttm_range_claim *claim) = nullptr;
    ttm_resource *(*range_first)(ttm_resource_manager *man, const ttm_range_claim *claim) = nullptr;
};

// Not in the kernel, and of no consequence but for time: all resources from the head of an LRU list up to
// `last` are locked by one ticket that has released nothing since, so that no walk for it has to look at them
// again. Whoever puts a resource in front of `last`, takes `last` away, or gives one of them another BO or
// resv, forgets (ttm_lru_forget_passed()); additions at the tail don't matter.
struct ttm_lru_passed {
    const ttm_resource *last = nullptr; // nullptr: nothing is known
    u64 stamp = 0;                      // of the ticket
    u64 released = 0;                   // by the ticket, then
};

// Base of the drivers' managers. One for each memory type in use, owned by the driver.
struct ttm_resource_manager {
    bool use_type = false;
    bool use_tt = false;       // memory is the ttm_tt's
    bool use_throttle = false; // evictions from here throttle the owner (ttm_throttle.h)
    u64 size = 0;              // in the manager's units
    u64 usage = 0;             // bytes of all resources, LRU or not
    ttm_device *bdev = nullptr;
    const ttm_resource_manager_func *func = nullptr;
    std::array<dma_fence *, TTM_NUM_MOVE_FENCES> eviction_fences{}; // owned references; one a fence context
    std::array<list_head, TTM_MAX_BO_PRIORITY> lru;                 // of ttm_lru_item; head is evicted first
    std::array<ttm_lru_passed, TTM_MAX_BO_PRIORITY> passed{};       // of each
    dmem_cgroup_region *cg = nullptr;                               // what is charged; may be nullptr
};

// Of all of its lists; what walks know is gone then, and is found again.
inline void ttm_lru_forget_passed(ttm_resource_manager *man)
{
    man->passed = {};
}

// Base of the drivers' resources. Belongs to a BO (ttm_buffer_object::resource) or is under way to one.
struct ttm_resource : ttm_lru_item {
    u8 mem_type : 4 = 0;
    u8 bulk_level : 4 = 0;                 // of ttm_lru_bulk_move_pos, if it is in one
    u16 placement = 0;                     // TTM_PL_FLAG_*
    u32 start = 0;                         // pages
    ttm_buffer_object *bo = nullptr;       // whose size is the resource's (ttm_resource_size())
    dmem_cgroup_pool_state *css = nullptr; // charged with the BO's size

    ttm_resource() : ttm_lru_item(TTM_LRU_RESOURCE) {}
};

inline ttm_resource *ttm_lru_item_to_res(ttm_lru_item *item)
{
    return static_cast<ttm_resource *>(item);
}

// Priorities within a bulk move (kernel/patches; mainline has one).
inline constexpr u32 TTM_NUM_BULK_PRIORITIES = 16;

// Sorted by level: the priority that the BO had when its resource was inserted. Within a level, least
// recently used first.
struct ttm_lru_bulk_move_pos {
    ttm_resource *first = nullptr;
    ttm_resource *last = nullptr;
    std::array<ttm_resource *, TTM_NUM_BULK_PRIORITIES> last_of{}; // by level
    u16 used = 0;                                                  // bitmap of levels that have any
};

// Ranges of LRU lists that move to the tail at once. All BOs of it share one resv.
struct ttm_lru_bulk_move {
    ttm_lru_bulk_move_pos pos[TTM_NUM_MEM_TYPES][TTM_MAX_BO_PRIORITY];
    list_head cursor_list; // cursors in any of the ranges
};

// Not in the kernel: the link of a cursor in ttm_lru_bulk_move::cursor_list.
struct ttm_cursor_bulk_link : list_head {};

// A position in a manager's LRU lists that survives any change of them.
struct ttm_resource_cursor : ttm_cursor_bulk_link {
    ttm_resource_manager *man = nullptr;
    ttm_lru_item hitch{TTM_LRU_HITCH}; // in front of the next resource
    ttm_lru_bulk_move *bulk = nullptr; // to compare only: it may be gone
    u32 mem_type = 0;                  // valid if bulk
    u32 priority = 0;
};

void ttm_resource_cursor_init(ttm_resource_cursor *cursor, ttm_resource_manager *man);
void ttm_resource_cursor_fini(ttm_resource_cursor *cursor); // idempotent

void ttm_resource_manager_set_used(ttm_resource_manager *man, bool used);
inline bool ttm_resource_manager_used(const ttm_resource_manager *man)
{
    return man->use_type;
}
// Drops the eviction fences.
void ttm_resource_manager_cleanup(ttm_resource_manager *man);
void ttm_resource_manager_init(ttm_resource_manager *man, ttm_device *bdev, u64 size);
void ttm_resource_manager_set_dmem_region(ttm_resource_manager *man, dmem_cgroup_region *region);
// The reclaim operation of a dmem region; priv is the manager. 0 if anything was freed, -ENOSPC, or a fatal
// error.
int ttm_resource_manager_dmem_reclaim(dmem_cgroup_pool_state *pool, u64 target_bytes, void *priv);
// Until the manager is empty, then waits for the eviction fences.
int ttm_resource_manager_evict_all(ttm_device *bdev, ttm_resource_manager *man);
u64 ttm_resource_manager_usage(const ttm_resource_manager *man);

void ttm_lru_bulk_move_init(ttm_lru_bulk_move *bulk);
void ttm_lru_bulk_move_tail(ttm_lru_bulk_move *bulk);
void ttm_lru_bulk_move_fini(ttm_device *bdev, ttm_lru_bulk_move *bulk);

void ttm_resource_add_bulk_move(ttm_resource *res, ttm_buffer_object *bo);
void ttm_resource_del_bulk_move(ttm_resource *res, ttm_buffer_object *bo);
void ttm_resource_del_bulk_move_unevictable(ttm_resource *res, ttm_buffer_object *bo);
// The BO's priority within its bulk move has changed.
void ttm_resource_update_bulk_move(ttm_resource *res, ttm_buffer_object *bo);
void ttm_resource_move_to_lru_tail(ttm_resource *res);

void ttm_resource_init(ttm_buffer_object *bo, const ttm_place *place, ttm_resource *res);
void ttm_resource_fini(ttm_resource_manager *man, ttm_resource *res);

// 0, -EAGAIN (a limit was hit: *ret_limit_pool, unless nullptr, is set and referenced) or another error.
int ttm_resource_try_charge(ttm_buffer_object *bo, const ttm_place *place, dmem_cgroup_pool_state **ret_pool,
                            dmem_cgroup_pool_state **ret_limit_pool);
// Takes over charge_pool on success.
int ttm_resource_alloc(ttm_buffer_object *bo, const ttm_place *place, ttm_resource **res,
                       dmem_cgroup_pool_state *charge_pool);
// Uncharges, frees and clears *res; nothing if that is nullptr.
void ttm_resource_free(ttm_buffer_object *bo, ttm_resource **res);
bool ttm_resource_intersects(ttm_device *bdev, ttm_resource *res, const ttm_place *place, u64 size_bytes);
bool ttm_resource_compatible(ttm_resource *res, const ttm_placement *placement, bool evicting);
void ttm_resource_set_bo(ttm_resource *res, ttm_buffer_object *bo);

// The kernel's ttm_resource::size, in bytes. A BO never changes its own.
u64 ttm_resource_size(const ttm_resource *res);

ttm_resource *ttm_resource_manager_first(ttm_resource_cursor *cursor);
ttm_resource *ttm_resource_manager_next(ttm_resource_cursor *cursor);
ttm_resource *ttm_lru_first_res_or_null(list_head *head);

} // namespace vramlab::kmd
