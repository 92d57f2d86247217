// SPDX-License-Identifier: MIT
// See ttm_bo.h. Models the end of ttm_bo_util.c: walking the LRU lists of a manager, locking one BO after
// another.
#include "kmd/ttm_internal.h"

namespace vramlab::kmd {

// bo's resv is the caller's, who holds it. May it be evicted nevertheless? Priorities are stable then, as
// changing them takes the resv.
static bool ttm_lru_walk_may_evict_own(const ttm_lru_walk_arg *arg, const ttm_buffer_object *bo)
{
    const ttm_operation_ctx *ctx = arg->ctx;
    const ttm_buffer_object *evictor = arg->evictor;

    if (bo->resv != ctx->resv)
        return false;
    if (ctx->allow_res_evict)
        return true;

    return ctx->allow_lower_evict && bo->bdev->mechanisms.priority && evictor && bo->bulk_move &&
           bo->bulk_move == evictor->bulk_move && bo->bulk_priority < evictor->bulk_priority;
}

static bool ttm_lru_walk_trylock(ttm_bo_lru_cursor *curs, ttm_buffer_object *bo)
{
    curs->needs_unlock = false;

    if (dma_resv_trylock(*bo->resv)) {
        curs->needs_unlock = true;
        return true;
    }

    if (ttm_lru_walk_may_evict_own(curs->arg, bo)) {
        dma_resv_assert_held(bo->resv);
        return true;
    }

    return false;
}

// As ttm_lru_walk_trylock(), with the ticket of an exec. A resv that is ours already is the submission's,
// whose BOs are no victims, or was locked for another victim (a VM's private BOs share one).
static bool ttm_lru_walk_trylock_exec(ttm_bo_lru_cursor *curs, ttm_buffer_object *bo)
{
    const ttm_operation_ctx *ctx = curs->arg->ctx;
    drm_exec *exec = ctx->exec;

    curs->needs_unlock = false;

    if (dma_resv_locking_ctx(*bo->resv) == &exec->ticket() && exec->prelocked_resv() != bo->resv)
        return exec->holds_resv(*bo->resv) || ttm_lru_walk_may_evict_own(curs->arg, bo);

    curs->needs_unlock = exec->trylock_resv(*bo->resv);
    return curs->needs_unlock;
}

static void ttm_bo_put_owner(void *bo)
{
    ttm_bo_put(static_cast<ttm_buffer_object *>(bo));
}

static drm_exec_resv ttm_bo_exec_resv(ttm_buffer_object *bo)
{
    ttm_bo_get(bo);
    return {bo->resv, bo, ttm_bo_put_owner};
}

// The sleeping lock, as often as it takes. -EDEADLK goes to the caller, who is told whom to wait for by the
// exec.
static int ttm_lru_walk_lock_exec(ttm_bo_lru_cursor *curs, ttm_buffer_object *bo)
{
    const drm_exec_resv entry = ttm_bo_exec_resv(bo);

    const int ret = curs->arg->ctx->exec->lock_resv(entry);
    if (!ret)
        curs->needs_unlock = true;
    else if (ret != -EDEADLK)
        entry.put(entry.owner);
    return ret;
}

// May sleep, and let others change the lists: the hitch keeps the place.
static int ttm_lru_walk_ticketlock(ttm_bo_lru_cursor *curs, ttm_buffer_object *bo)
{
    ttm_lru_walk_arg *arg = curs->arg;

    int ret = dma_resv_lock(*bo->resv, arg->ticket);
    if (!ret) {
        curs->needs_unlock = true;
        // Only one ticketlock a walk, since they are prone to -EDEADLK: from here on trylock only.
        arg->ticket = nullptr;
    } else if (ret == -EDEADLK) {
        // The caller would have to leave the ww transaction, which it cannot be told.
        ret = -ENOSPC;
        ttm_trace_converted(bo, -EDEADLK, ret, "ttm_lru_walk_ticketlock");
    }

    return ret;
}

static bool may_sleep_for_lock(const ttm_lru_walk_arg *arg)
{
    return (arg->ticket || arg->sleeping_lock || arg->ctx->exec) && !arg->ctx->no_wait_gpu &&
           !arg->trylock_only;
}

static void ttm_bo_lru_cursor_cleanup_bo(ttm_bo_lru_cursor *curs)
{
    ttm_buffer_object *bo = curs->bo;

    if (bo) {
        drm_exec *exec = curs->arg->ctx->exec;
        if (curs->needs_unlock && !exec)
            dma_resv_unlock(*bo->resv);
        else if (curs->needs_unlock && !curs->arg->keep_lock)
            exec->unlock_resv(*bo->resv);
        ttm_bo_put(bo);
        curs->bo = nullptr;
    }
}

void ttm_bo_lru_cursor_fini(ttm_bo_lru_cursor *curs)
{
    ttm_bo_lru_cursor_cleanup_bo(curs);
    ttm_resource_cursor_fini(&curs->res_curs);
}

void ttm_bo_lru_cursor_init(ttm_bo_lru_cursor *curs, ttm_resource_manager *man, ttm_lru_walk_arg *arg)
{
    curs->bo = nullptr;
    curs->needs_unlock = false;
    ttm_resource_cursor_init(&curs->res_curs, man);
    curs->arg = arg;
}

static const char *ttm_bo_lru_cursor_why_locked(const ttm_lru_walk_arg *arg, const ttm_buffer_object *bo,
                                                bool ours)
{
    if (bo->resv == arg->ctx->resv && arg->ctx->allow_lower_evict && bo->bdev->mechanisms.priority)
        return "priority not lower";
    return ours ? "locked by this submission" : "locked";
}

// The part that decides without sleeping. False: bo is to be skipped. Else *bo_locked says whether it is
// locked by now.
static bool ttm_bo_lru_cursor_try(ttm_bo_lru_cursor *curs, ttm_buffer_object *bo, bool *bo_locked)
{
    const drm_exec *exec = curs->arg->ctx->exec;
    *bo_locked = exec ? ttm_lru_walk_trylock_exec(curs, bo) : ttm_lru_walk_trylock(curs, bo);
    if (*bo_locked)
        return true;
    const bool ours = exec && dma_resv_locking_ctx(*bo->resv) == &curs->arg->ctx->exec->ticket();
    if (!ours && may_sleep_for_lock(curs->arg))
        return true;
    if (tracing())
        ttm_trace_skipped(bo, curs->arg->evictor, ttm_bo_lru_cursor_why_locked(curs->arg, bo, ours));
    return false;
}

// Locks, if it is not, and references bo, which then is curs->bo. 1: done, 0: to be skipped, or the error
// that ends the walk.
static int ttm_bo_lru_cursor_lock(ttm_bo_lru_cursor *curs, ttm_buffer_object *bo, u32 mem_type,
                                  bool bo_locked)
{
    drm_exec *exec = curs->arg->ctx->exec;
    int ret = 0;

    if (!ttm_bo_get_unless_zero(bo)) {
        if (curs->needs_unlock && !(exec && exec->prelocked_resv() == bo->resv))
            dma_resv_unlock(*bo->resv);
        return 0;
    }

    curs->arg->keep_lock = false;
    if (!bo_locked)
        ret = exec ? ttm_lru_walk_lock_exec(curs, bo) : ttm_lru_walk_ticketlock(curs, bo);
    else if (exec && curs->needs_unlock)
        exec->add_resv(ttm_bo_exec_resv(bo));

    curs->bo = bo;
    // While it slept the BO may have got another resource.
    if (!ret && bo->resource && bo->resource->mem_type == mem_type)
        return 1;

    if (ret == -EALREADY)
        ttm_trace_skipped(bo, curs->arg->evictor, "locked by this submission");
    ttm_bo_lru_cursor_cleanup_bo(curs);
    return ret == -EALREADY ? 0 : ret;
}

// The ticket whose locks are the walk's own, so that it leaves what they protect. nullptr: there is none, or
// it may evict some of that after all.
static const ww_acquire_ctx *ttm_bo_lru_cursor_passing_ticket(const ttm_lru_walk_arg *arg)
{
    const ttm_buffer_object *evictor = arg->evictor;

    if (!evictor || evictor->bulk_move || arg->ctx->allow_res_evict)
        return nullptr;
    return arg->ctx->exec ? &arg->ctx->exec->ticket() : dma_resv_locking_ctx(*evictor->resv);
}

int ttm_bo_lru_cursor_next(ttm_bo_lru_cursor *curs, ttm_buffer_object **bo)
{
    const bool first = !curs->bo;
    const ttm_operation_ctx *ctx = curs->arg->ctx;
    bool bo_locked = false;

    *bo = nullptr;
    ttm_bo_lru_cursor_cleanup_bo(curs);
    if (first) // ttm_resource_manager_first()
        list_move(curs->res_curs.hitch, curs->res_curs.man->lru[curs->res_curs.priority]);

    // What nobody hears of: a submission with a long list passes all of it in front of each victim.
    const bool quiet = !may_sleep_for_lock(curs->arg) && !(tracing() && trace.skipped);
    const bool skip_locked = quiet && !ctx->exec;
    const dma_resv *evictable = ctx->allow_res_evict || ctx->allow_lower_evict ? ctx->resv : nullptr;
    const ww_acquire_ctx *ticket = quiet ? ttm_bo_lru_cursor_passing_ticket(curs->arg) : nullptr;
    for (;;) {
        const auto want = [&](ttm_resource *r) {
            if (skip_locked && dma_resv_is_locked(*r->bo->resv) && r->bo->resv != evictable)
                return false;
            return ttm_bo_lru_cursor_try(curs, r->bo, &bo_locked);
        };
        ttm_resource *res = ttm_resource_manager_next_where(&curs->res_curs, ttm_lru_pass(ticket), want);
        if (!res)
            return 0;

        const int ret = ttm_bo_lru_cursor_lock(curs, res->bo, res->mem_type, bo_locked);
        if (ret < 0)
            return ret;
        if (ret) {
            *bo = curs->bo;
            return 0;
        }
    }
}

int ttm_bo_lru_cursor_first(ttm_bo_lru_cursor *curs, ttm_buffer_object **bo)
{
    ttm_bo_lru_cursor_cleanup_bo(curs);
    return ttm_bo_lru_cursor_next(curs, bo);
}

// Adds what came of one BO to the progress. True if the walk is over.
static bool ttm_lru_walk_account(s64 lret, s64 target, s64 *progress)
{
    if (lret == -EBUSY || lret == -EALREADY)
        lret = 0;
    *progress = lret < 0 ? lret : *progress + lret;
    return *progress < 0 || *progress >= target;
}

s64 ttm_lru_walk_one(ttm_lru_walk *walk, ttm_resource *res)
{
    ttm_buffer_object *bo = res->bo;
    ttm_bo_lru_cursor cursor;
    bool bo_locked = false;

    cursor.arg = &walk->arg;
    if (!ttm_bo_lru_cursor_try(&cursor, bo, &bo_locked))
        return -EBUSY;
    const int ret = ttm_bo_lru_cursor_lock(&cursor, bo, res->mem_type, bo_locked);
    if (ret < 0)
        return ret;
    if (!ret)
        return -EAGAIN;
    const s64 lret = bo->resource == res ? walk->ops->process_bo(walk, bo) : -EAGAIN;
    ttm_bo_lru_cursor_cleanup_bo(&cursor);
    return lret;
}

s64 ttm_lru_walk_for_evict(ttm_lru_walk *walk, ttm_device *bdev, ttm_resource_manager *man, s64 target)
{
    if (bdev->walk_policy)
        return ttm_lru_walk_with_policy(walk, bdev, man, target);

    ttm_bo_lru_cursor cursor;
    ttm_buffer_object *bo;
    s64 progress = 0;

    ttm_bo_lru_cursor_init(&cursor, man, &walk->arg);
    int ret = ttm_bo_lru_cursor_first(&cursor, &bo);
    while (!ret && bo) {
        if (ttm_lru_walk_account(walk->ops->process_bo(walk, bo), target, &progress))
            break;
        ret = ttm_bo_lru_cursor_next(&cursor, &bo);
    }
    ttm_bo_lru_cursor_fini(&cursor);

    return ret ? ret : progress;
}

// Not in the kernel. The order is decided once, at the beginning: references keep the candidates meanwhile.
s64 ttm_lru_walk_with_policy(ttm_lru_walk *walk, ttm_device *bdev, ttm_resource_manager *man, s64 target)
{
    std::vector<ttm_buffer_object *> candidates;
    u32 mem_type = 0;
    for (list_head &lru : man->lru) {
        for (list_head *e = lru.next; e != &lru; e = e->next) {
            ttm_lru_item *item = static_cast<ttm_lru_item *>(e);
            if (!ttm_lru_item_is_res(*item))
                continue;
            ttm_resource *res = ttm_lru_item_to_res(item);
            mem_type = res->mem_type;
            if (ttm_bo_get_unless_zero(res->bo))
                candidates.push_back(res->bo);
        }
    }
    bdev->walk_policy->order(candidates, walk->arg.evictor);

    ttm_bo_lru_cursor cursor;
    s64 progress = 0;
    int ret = 0;

    ttm_bo_lru_cursor_init(&cursor, man, &walk->arg);
    for (ttm_buffer_object *bo : candidates) {
        if (!bo->resource || bo->resource->mem_type != mem_type || bo->pin_count)
            continue;
        bool bo_locked = false;
        if (!ttm_bo_lru_cursor_try(&cursor, bo, &bo_locked))
            continue;
        ret = ttm_bo_lru_cursor_lock(&cursor, bo, mem_type, bo_locked);
        if (ret < 0)
            break;
        const bool done = ret && ttm_lru_walk_account(walk->ops->process_bo(walk, bo), target, &progress);
        ttm_bo_lru_cursor_cleanup_bo(&cursor);
        if (done)
            break;
    }
    ttm_bo_lru_cursor_fini(&cursor);
    for (ttm_buffer_object *bo : candidates)
        ttm_bo_put(bo);

    return ret < 0 ? ret : progress;
}

// Fisher and Yates with splitmix64; the modulo's bias is below 2^-40 for any number of BOs that there are.
void ttm_random_walk::order(std::vector<ttm_buffer_object *> &candidates, const ttm_buffer_object *)
{
    for (size_t i = candidates.size(); i > 1; i--) {
        u64 z = state_ += 0x9e3779b97f4a7c15;
        z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
        z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
        z ^= z >> 31;
        std::swap(candidates[i - 1], candidates[z % i]);
    }
}

} // namespace vramlab::kmd
