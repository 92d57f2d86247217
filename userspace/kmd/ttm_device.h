// SPDX-License-Identifier: MIT
// Models drivers/gpu/drm/ttm/ttm_device.c and include/drm/ttm/ttm_device.h: what belongs to a device, and the
// operations that its driver brings.
//
// Delayed deletion: the kernel has a work item for each zombie, which sleeps until the BO's fences are
// signalled. Here zombies wait in a list, and ttm_device_reap(), called by the model of the device whenever
// something has happened, does what the work items could have done by then. Ghosts become zombies as soon as
// TTM has made them.
//
// Omits: the workqueue, DMA mappings, the vma offset manager, the address space.
#pragma once

#include "kmd/dma_fence.h"
#include "kmd/ttm_pool.h"
#include "kmd/ttm_resource.h"

#include <deque>
#include <vector>

namespace vramlab::kmd {

struct dma_resv;
struct ttm_buffer_object;
struct ttm_operation_ctx;
struct ttm_throttle;

// What the kernel keeps in struct ttm_global and module parameters, shared by the devices that name it.
struct ttm_global {
    u64 pages_limit = ~u64{0};       // ttm.pages_limit
    u64 dma32_pages_limit = ~u64{0}; // ttm.dma32_pages_limit
    u64 pages_allocated = 0;
    u64 dma32_pages_allocated = 0;
    u32 bo_count = 0;
    list_head device_list; // of ttm_device; swapout takes from the head
};

// How events name a BO: the driver's tag and the label of the VM that it is private to (0: none).
struct ttm_trace_id {
    u64 bo = 0;
    u32 vm = 0;
};

// The mechanisms of kernel/patches; module parameters of ttm in the kernel. All off is mainline.
struct ttm_mechanisms {
    bool retry = false; // drivers pass their drm_exec on
    bool throttle = false;
    bool priority = false;           // order within bulk moves, and drivers let BOs evict lower ones
    bool contig_range = false;       // places that must be contiguous get the cheapest range
    bool throttle_protected = false; // in the weak phase, dmem protection may evict nevertheless
    u64 throttle_strong_ns = 50 * ns_per_ms;
    u64 throttle_weak_ns = 200 * ns_per_ms;
};

// Operations of the driver. May be nullptr: ttm_tt_populate, ttm_tt_unpopulate, delete_mem_notify,
// swap_notify, release_notify, trace_id; throttle_of and now_ns without the mechanism, evict_weight.
// release_notify, delete_mem_notify and eviction_valuable are called for ghosts too, which are no BOs of the
// driver's type: tell them by their destroy().
struct ttm_device_funcs {
    ttm_tt *(*ttm_tt_create)(ttm_buffer_object *bo, u32 page_flags); // nullptr: out of memory
    int (*ttm_tt_populate)(ttm_device *bdev, ttm_tt *tt, ttm_operation_ctx *ctx);
    void (*ttm_tt_unpopulate)(ttm_device *bdev, ttm_tt *tt);
    void (*ttm_tt_destroy)(ttm_device *bdev, ttm_tt *tt);
    bool (*eviction_valuable)(ttm_buffer_object *bo, const ttm_place *place); // place nullptr: any
    void (*evict_flags)(ttm_buffer_object *bo, ttm_placement *placement);     // none: drop the contents
    // 0, -EMULTIHOP with *hop set, or an error. A driver's move notification happens in here.
    int (*move)(ttm_buffer_object *bo, bool evict, ttm_operation_ctx *ctx, ttm_resource *new_mem,
                ttm_place *hop);
    void (*delete_mem_notify)(ttm_buffer_object *bo);
    void (*swap_notify)(ttm_buffer_object *bo);
    void (*release_notify)(ttm_buffer_object *bo);       // the last reference is gone; may add fences
    ttm_throttle *(*throttle_of)(ttm_buffer_object *bo); // whose BO it is; nullptr: nobody's
    u64 (*now_ns)(const ttm_device *bdev);
    // How much dearer than others it is to evict bo, from 1 (ttm_range.h). bo isn't locked, and may be a
    // ghost.
    u32 (*evict_weight)(const ttm_buffer_object *bo);
    ttm_trace_id (*trace_id)(const ttm_buffer_object *bo); // not in the kernel; never called for a ghost
};

// Not in the kernel: another order in which to look for victims, for experiments.
class ttm_walk_policy {
public:
    virtual ~ttm_walk_policy() = default;
    // Brings the candidates, given in LRU order, into the order in which to try them. Whom it drops from the
    // list is no victim; it puts the reference. evictor: for whom room is made, nullptr for evict-all and
    // reclaim.
    virtual void order(std::vector<ttm_buffer_object *> &candidates, const ttm_buffer_object *evictor) = 0;
};

// Random victims, the same for the same seed.
class ttm_random_walk final : public ttm_walk_policy {
public:
    explicit ttm_random_walk(u64 seed) : state_(seed) {}
    void order(std::vector<ttm_buffer_object *> &candidates, const ttm_buffer_object *evictor) override;

private:
    u64 state_;
};

// Not in the kernel: deleted BOs that wait for their fences, one reference to each owned. Each waits for one
// fence at a time, and for fences of one context in order of their numbers, as they are signalled in that
// order: so a look costs as much as there is to do, not as there are BOs.
class ttm_zombie_list {
public:
    void add(ttm_buffer_object *bo);
    bool empty() const { return size_ == 0; }
    u32 size() const { return size_; }
    ttm_buffer_object *oldest() const;
    // Frees what can be freed; those that join meanwhile have their turn.
    void reap();

private:
    struct zombie {
        ttm_buffer_object *bo;
        fence_ref blocker; // unsignalled when last looked at, or none
        u64 order;         // of deletion
    };
    struct waiting {
        u64 context;
        std::deque<zombie> zombies; // by number of the blocker
    };
    void file(zombie z);
    bool collect(std::vector<zombie> &ready);

    std::vector<waiting> waiting_;
    std::vector<zombie> unblocked_; // new ones, and those whose resv somebody holds
    u64 order_ = 0;
    u32 size_ = 0;
    bool reaping_ = false;
};

struct ttm_device : list_head { // the link in ttm_global::device_list
    u32 alloc_flags = 0;
    const ttm_device_funcs *funcs = nullptr;
    ttm_resource_manager sysman;
    ttm_resource_manager *man_drv[TTM_NUM_MEM_TYPES] = {};
    ttm_pool pool;
    list_head unevictable; // pinned or swapped out
    ttm_global *glob = nullptr;
    ttm_global own_glob;

    ttm_zombie_list zombies;

    ttm_mechanisms mechanisms;

    // Experiments; the defaults are mainline.
    ttm_walk_policy *walk_policy = nullptr; // nullptr: the LRU
    bool ignore_protection = false;         // dmem min and low have no effect on eviction
};

inline ttm_resource_manager *ttm_manager_type(ttm_device *bdev, u32 mem_type)
{
    return bdev->man_drv[mem_type];
}
inline void ttm_set_driver_manager(ttm_device *bdev, u32 type, ttm_resource_manager *manager)
{
    bdev->man_drv[type] = manager;
}

// glob nullptr: the device has one of its own. alloc_flags: TTM_ALLOCATION_*. Returns 0.
int ttm_device_init(ttm_device *bdev, const ttm_device_funcs *funcs, u32 alloc_flags = 0,
                    ttm_global *glob = nullptr);
// Waits for the fences of zombies and frees them. The LRU lists must be empty.
void ttm_device_fini(ttm_device *bdev);
// Frees zombies and ghosts whose fences are signalled and whose resv nobody holds, until none is left that
// can be. Never sleeps.
void ttm_device_reap(ttm_device *bdev);

// Pages swapped out (> 0: one BO), 0: nothing to swap out, or an error.
int ttm_device_swapout(ttm_device *bdev, ttm_operation_ctx *ctx);
int ttm_global_swapout(ttm_global *glob, ttm_operation_ctx *ctx);
int ttm_device_prepare_hibernation(ttm_device *bdev);
void ttm_device_clear_dma_mappings(ttm_device *bdev);

// ttm_sys_manager.c
void ttm_sys_man_init(ttm_device *bdev);

} // namespace vramlab::kmd
