// SPDX-License-Identifier: MIT
// See ttm_device.h.
#include "kmd/ttm_device.h"

#include "kmd/ttm_internal.h"

#include <algorithm>

namespace vramlab::kmd {

int ttm_device_init(ttm_device *bdev, const ttm_device_funcs *funcs, u32 alloc_flags, ttm_global *glob)
{
    bdev->glob = glob ? glob : &bdev->own_glob;
    bdev->alloc_flags = alloc_flags;
    bdev->funcs = funcs;
    ttm_sys_man_init(bdev);
    ttm_pool_init(&bdev->pool, alloc_flags);
    list_add_tail(*bdev, bdev->glob->device_list);
    return 0;
}

void ttm_device_fini(ttm_device *bdev)
{
    list_del_init(*bdev);

    // drain_workqueue(). Reaping a ghost may make its BO a zombie in turn.
    while (const ttm_buffer_object *bo = bdev->zombies.oldest()) {
        dma_resv_wait(bdev->zombies.oldest()->_resv, dma_resv_usage::bookkeep);
        ttm_device_reap(bdev);
        ttm_warn_on(bdev->zombies.oldest() == bo, "ttm_device_fini: locked zombie");
    }

    ttm_resource_manager *man = ttm_manager_type(bdev, TTM_PL_SYSTEM);
    ttm_resource_manager_set_used(man, false);
    ttm_set_driver_manager(bdev, TTM_PL_SYSTEM, nullptr);
    ttm_pool_fini(&bdev->pool);
}

void ttm_zombie_list::add(ttm_buffer_object *bo)
{
    unblocked_.push_back({bo, {}, order_++});
    size_++;
}

ttm_buffer_object *ttm_zombie_list::oldest() const
{
    const zombie *first = nullptr;
    const auto look = [&](const zombie &z) {
        if (!first || z.order < first->order)
            first = &z;
    };
    for (const zombie &z : unblocked_)
        look(z);
    for (const waiting &w : waiting_)
        for (const zombie &z : w.zombies)
            look(z);
    return first ? first->bo : nullptr;
}

// Where it waits for its blocker.
void ttm_zombie_list::file(zombie z)
{
    const u64 context = z.blocker->context;
    auto w = std::find_if(waiting_.begin(), waiting_.end(),
                          [&](const waiting &o) { return o.context == context; });
    if (w == waiting_.end()) {
        waiting_.push_back({context, {}});
        w = waiting_.end() - 1;
    }
    const auto later = [](u64 seqno, const zombie &o) { return seqno < o.blocker->seqno; };
    w->zombies.insert(std::upper_bound(w->zombies.begin(), w->zombies.end(), z.blocker->seqno, later),
                      std::move(z));
}

// Takes out whatever waits for nothing that is known, by order of deletion.
bool ttm_zombie_list::collect(std::vector<zombie> &ready)
{
    ready.swap(unblocked_);
    for (waiting &w : waiting_) {
        while (!w.zombies.empty() && dma_fence_is_signaled(*w.zombies.front().blocker)) {
            ready.push_back(std::move(w.zombies.front()));
            w.zombies.pop_front();
        }
    }
    std::sort(ready.begin(), ready.end(), [](const zombie &a, const zombie &b) { return a.order < b.order; });
    return !ready.empty();
}

// Each step is what one work item, ttm_bo_delayed_delete(), does once its waits are over.
void ttm_zombie_list::reap()
{
    if (!size_ || reaping_)
        return;

    reaping_ = true;
    std::vector<zombie> ready;
    std::vector<zombie> locked;
    while (collect(ready)) {
        for (zombie &z : ready) {
            z.blocker = {};
            dma_resv_for_each_fence(z.bo->_resv, dma_resv_usage::bookkeep, [&](dma_fence &f, dma_resv_usage) {
                if (!z.blocker)
                    z.blocker = fence_ref(&f);
            });
            if (z.blocker) {
                file(std::move(z));
            } else if (!dma_resv_trylock(*z.bo->resv)) {
                locked.push_back(std::move(z));
            } else {
                size_--;
                ttm_bo_cleanup_memtype_use(z.bo);
                dma_resv_unlock(*z.bo->resv);
                ttm_bo_put(z.bo);
            }
        }
        ready.clear();
    }
    unblocked_ = std::move(locked);
    reaping_ = false;
}

void ttm_device_reap(ttm_device *bdev)
{
    bdev->zombies.reap();
}

int ttm_device_prepare_hibernation(ttm_device *bdev)
{
    ttm_operation_ctx ctx;
    int ret;

    do {
        ret = ttm_device_swapout(bdev, &ctx);
    } while (ret > 0);
    return ret;
}

int ttm_global_swapout(ttm_global *glob, ttm_operation_ctx *ctx)
{
    int ret = 0;

    for (list_head *e = glob->device_list.next; e != &glob->device_list; e = e->next) {
        ret = ttm_device_swapout(static_cast<ttm_device *>(e), ctx);
        if (ret > 0) {
            list_move_tail(*e, glob->device_list);
            break;
        }
    }
    return ret;
}

int ttm_device_swapout(ttm_device *bdev, ttm_operation_ctx *ctx)
{
    for (u32 i = TTM_PL_SYSTEM; i < TTM_NUM_MEM_TYPES; ++i) {
        ttm_resource_manager *man = ttm_manager_type(bdev, i);
        if (!man || !man->use_tt)
            continue;

        s64 lret = ttm_bo_swapout(bdev, ctx, man, 1);
        if (lret)
            return static_cast<int>(lret);
    }
    return 0;
}

static void ttm_device_clear_lru_dma_mappings(list_head *list)
{
    ttm_resource *res;

    while ((res = ttm_lru_first_res_or_null(list))) {
        ttm_buffer_object *bo = res->bo;
        ttm_warn_on(!ttm_bo_get_unless_zero(bo), "ttm_device_clear_lru_dma_mappings: BO being released");

        ttm_lru_forget_passed(ttm_manager_type(bo->bdev, res->mem_type));
        list_del_init(*bo->resource);
        if (bo->ttm)
            ttm_tt_unpopulate(bo->bdev, bo->ttm);
        ttm_bo_put(bo);
    }
}

void ttm_device_clear_dma_mappings(ttm_device *bdev)
{
    ttm_device_clear_lru_dma_mappings(&bdev->unevictable);

    for (u32 i = TTM_PL_SYSTEM; i < TTM_NUM_MEM_TYPES; ++i) {
        ttm_resource_manager *man = ttm_manager_type(bdev, i);
        if (!man || !man->use_tt)
            continue;

        for (list_head &lru : man->lru)
            ttm_device_clear_lru_dma_mappings(&lru);
    }
}

} // namespace vramlab::kmd
