// SPDX-License-Identifier: MIT
// Shared by the files of the TTM model, not for others: checks, and the events that stand for tracepoints.
#pragma once

#include "kmd/trace.h"
#include "kmd/ttm_bo.h"
#include "kmd/ttm_range.h"

namespace vramlab::kmd {

// Throws std::logic_error: WARN_ON and BUG_ON of the kernel are bugs of a driver or of the model.
[[noreturn]] void ttm_bug(const char *what);
inline void ttm_warn_on(bool condition, const char *what)
{
    if (condition) [[unlikely]]
        ttm_bug(what);
}
inline void dma_resv_assert_held(const dma_resv *resv)
{
    ttm_warn_on(!dma_resv_is_locked(*resv), "dma_resv_assert_held");
}

// ttm_bo.c
void ttm_bo_cleanup_memtype_use(ttm_buffer_object *bo);
int ttm_bo_handle_move_mem(ttm_buffer_object *bo, ttm_resource *mem, bool evict, ttm_operation_ctx *ctx,
                           ttm_place *hop);
int ttm_bo_bounce_temp_buffer(ttm_buffer_object *bo, ttm_operation_ctx *ctx, ttm_place *hop);
int ttm_bo_evict(ttm_buffer_object *bo, ttm_operation_ctx *ctx);

// ttm_bo_alloc.cc: what ttm_bo_alloc_resource() and the eviction for it share.
struct ttm_bo_alloc_state {
    dmem_cgroup_pool_state *charge_pool = nullptr; // what the resource is charged to
    dmem_cgroup_pool_state *limit_pool = nullptr;  // whose limit was hit
    bool in_evict = false;
    bool yields = false;      // throttled: protection evicts nobody either
    bool may_try_low = false; // BOs below their dmem low may be evicted as well
};
// ttm_bo_evict.cc: the cgroup rules for what is charged to css. nullptr: it may be evicted, else why not.
// *hit_low: it could be with try_low.
const char *ttm_bo_evict_protected(const ttm_bo_alloc_state &state, const ttm_device *bdev,
                                   dmem_cgroup_pool_state *css, bool try_low, bool *hit_low);
int ttm_bo_alloc_at_place(ttm_buffer_object *bo, const ttm_place *place, bool force_space, ttm_resource **res,
                          ttm_bo_alloc_state *alloc_state);
int ttm_bo_evict_alloc(ttm_device *bdev, ttm_resource_manager *man, const ttm_place *place,
                       ttm_buffer_object *evictor, ttm_operation_ctx *ctx, ww_acquire_ctx *ticket,
                       ttm_resource **res, ttm_bo_alloc_state *state);
int ttm_bo_alloc_resource(ttm_buffer_object *bo, const ttm_placement *placement, ttm_operation_ctx *ctx,
                          bool force_space, ttm_resource **res);

// ttm_bo_util.cc
int ttm_buffer_object_transfer(ttm_buffer_object *bo, ttm_buffer_object **new_obj);

// A search of a list for the holder of a ticket, in which what that has locked is of no interest: begins
// behind what is known to be so (ttm_lru_passed), and remembers how far that goes. No ticket: does nothing.
class ttm_lru_pass {
public:
    explicit ttm_lru_pass(const ww_acquire_ctx *ticket) : ticket_(ticket) {}
    // Where to look first.
    list_head *begin(ttm_resource_cursor *cursor)
    {
        list_head *head = &cursor->man->lru[cursor->priority];
        passed_ = &cursor->man->passed[cursor->priority];
        adjoining_ = ticket_ && cursor->hitch.prev == head;
        if (!adjoining_)
            return cursor->hitch.next;
        if (!passed_->last || passed_->stamp != ticket_->stamp || passed_->released != ticket_->released) {
            *passed_ = {nullptr, ticket_->stamp, ticket_->released};
            return cursor->hitch.next;
        }
        return passed_->last->next;
    }
    void skipped(const ttm_resource *res)
    {
        if (!adjoining_)
            return;
        if (dma_resv_locking_ctx(*res->bo->resv) == ticket_)
            passed_->last = res;
        else
            adjoining_ = false;
    }

private:
    const ww_acquire_ctx *ticket_;
    ttm_lru_passed *passed_ = nullptr;
    bool adjoining_ = false; // everything so far was locked by it
};

// ttm_resource_manager.cc: ttm_resource_manager_next() to the next resource that want(res) is true for. Those
// in between are passed without moving the cursor, which nobody could tell: nothing else runs. want() must
// not change the lists.
void ttm_resource_cursor_check_bulk(ttm_resource_cursor *cursor, ttm_resource *next);
template <typename Want>
ttm_resource *ttm_resource_manager_next_where(ttm_resource_cursor *cursor, ttm_lru_pass pass, Want &&want)
{
    ttm_resource_manager *man = cursor->man;

    for (;;) {
        list_head *head = &man->lru[cursor->priority];
        for (list_head *e = pass.begin(cursor); e != head; e = e->next) {
            ttm_lru_item *lru = static_cast<ttm_lru_item *>(e);
            if (!ttm_lru_item_is_res(*lru))
                continue;
            ttm_resource *res = ttm_lru_item_to_res(lru);
            if (!want(res)) {
                pass.skipped(res);
                continue;
            }
            ttm_resource_cursor_check_bulk(cursor, res);
            list_move(cursor->hitch, *lru);
            return res;
        }

        if (++cursor->priority >= TTM_MAX_BO_PRIORITY)
            return nullptr;

        list_move(cursor->hitch, man->lru[cursor->priority]);
        cursor->bulk = nullptr;
        list_del_init(*cursor);
    }
}

// ttm_bo_evict.cc: an eviction for an allocation, or for a cgroup.
struct ttm_bo_evict_walk : ttm_lru_walk {
    const ttm_place *place = nullptr;     // nullptr: cgroup drain
    ttm_buffer_object *evictor = nullptr; // for whom; likewise
    ttm_resource **res = nullptr;         // what it got; likewise
    u64 evicted = 0;                      // successful evictions
    bool try_low = false;                 // also BOs below their dmem low
    bool hit_low = false;                 // some were left alone for that
    bool charging = false;                // the charge is all that is wanted
    bool in_range = false;                // of a range that was chosen: also what is deleted goes, whose ever
    ttm_bo_alloc_state *alloc_state = nullptr;
};
// bo is locked. 1: it is evicted, 0 or -EBUSY: it is left, or another error.
s64 ttm_bo_evict_one(ttm_bo_evict_walk *walk, ttm_buffer_object *bo);
// The passes of an eviction that goes by the LRU: 1 if walk->res was allocated (or charged, if that is all
// that is wanted), 0 if there is nothing left to evict.
s64 ttm_bo_evict_lru(ttm_bo_evict_walk *walk, ttm_device *bdev, ttm_resource_manager *man,
                     ww_acquire_ctx *ticket);
// ttm_bo_evict_range.cc: the same for a place that has to be one range.
s64 ttm_bo_evict_contiguous(ttm_bo_evict_walk *walk, ttm_device *bdev, ttm_resource_manager *man,
                            ww_acquire_ctx *ticket);

// ttm_bo_walk.cc: what a walk would do with the BO of res alone. What process_bo() returns; -EBUSY or an
// error of the lock; -EAGAIN if the BO has another resource by the time that it is locked.
s64 ttm_lru_walk_one(ttm_lru_walk *walk, ttm_resource *res);
// ttm_bo_walk.cc: the walk in the order of ttm_device::walk_policy.
s64 ttm_lru_walk_with_policy(ttm_lru_walk *walk, ttm_device *bdev, ttm_resource_manager *man, s64 target);

// Events. Domains are the masks of base/request.h: bit of the memory type, 0 for none. All of them do nothing
// without a sink; callers on hot paths ask tracing() first.
inline u64 ttm_trace_domain(const ttm_resource *res)
{
    return res ? u64{1} << res->mem_type : 0;
}
events::event ttm_trace_event(events::event_type type,
                              const ttm_buffer_object *bo); // bo, vm; a ghost counts as its BO
void ttm_trace_converted(const ttm_buffer_object *bo, int from, int to, const char *where);
void ttm_trace_skipped(const ttm_buffer_object *bo, const ttm_buffer_object *evictor, const char *reason);

} // namespace vramlab::kmd
