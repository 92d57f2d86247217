// SPDX-License-Identifier: MIT
#include "kmd/ttm_range.h"

#include "kmd/ttm_internal.h"

#include <algorithm>
#include <deque>

namespace vramlab::kmd {

// Whether an eviction could get the lock of a BO.
static bool ttm_range_can_lock(const ttm_range_claim &claim, const dma_resv &resv)
{
    const ttm_operation_ctx *ctx = claim.ctx;

    if (&resv == ctx->resv && ctx->allow_res_evict)
        return true;
    if (claim.ticket && dma_resv_locking_ctx(resv) == claim.ticket)
        return ctx->exec && (ctx->exec->holds_resv(resv) || ctx->exec->prelocked_resv() == &resv);
    return (claim.ticket && !ctx->no_wait_gpu) || !dma_resv_is_locked(resv);
}

// What evicting a BO costs, or that it can't be evicted.
static void ttm_range_evaluate(const ttm_range_claim &claim, const ttm_resource *res, ttm_range_hint *hint)
{
    ttm_buffer_object *bo = res->bo;
    const ttm_bo_alloc_state &state = *claim.alloc_state;
    bool low = false;

    hint->cost = {};
    hint->never = bo == claim.bo || bo->pin_count || !ttm_range_can_lock(claim, *bo->resv) ||
                  std::find(claim.failed.begin(), claim.failed.end(), res) != claim.failed.end();
    if (hint->never || bo->deleted)
        return;

    if (ttm_bo_evict_protected(state, bo->bdev, res->css, false, &low)) {
        hint->never = !low || !state.may_try_low ||
                      ttm_bo_evict_protected(state, bo->bdev, res->css, true, &low) != nullptr;
        if (hint->never)
            return;
    }

    const u32 weight = bo->bdev->funcs->evict_weight ? bo->bdev->funcs->evict_weight(bo) : 1;
    const bool busy = !dma_resv_test_signaled(*bo->resv, dma_resv_usage::bookkeep);
    (low ? hint->cost.low_bytes : hint->cost.bytes) = ttm_resource_size(res) *
                                                      std::clamp(weight, 1u, TTM_RANGE_WEIGHT_MAX) *
                                                      (busy ? TTM_RANGE_WEIGHT_BUSY : 1);
}

namespace {

// The extents that intersect [start, start + pages), which moves upwards.
class window {
public:
    window(const ttm_range_claim &claim, ttm_resource_manager *man, ttm_range_extent_at extent_at, u64 first)
        : claim_(claim), man_(man), extent_at_(extent_at), lead_(first)
    {
    }
    ~window() { move(lead_, lead_); } // leaves no counts behind

    // start: not before the last one.
    void move(u64 start, u64 end)
    {
        while (lead_ < end) {
            const ttm_range_extent e = extent_at_(man_, lead_);
            add(e);
            extents_.push_back(e);
            lead_ = e.end;
        }
        for (; !extents_.empty() && extents_.front().end <= start; extents_.pop_front())
            drop(extents_.front());
    }
    u64 first_end() const { return extents_.front().end; } // of the extent that the start is in
    bool possible() const { return !never_; }
    const ttm_range_cost &cost() const { return cost_; }

private:
    void add(const ttm_range_extent &e)
    {
        if (!e.res || e.hint->extents++)
            return;
        ttm_range_evaluate(claim_, e.res, e.hint);
        cost_.low_bytes += e.hint->cost.low_bytes;
        cost_.bytes += e.hint->cost.bytes;
        never_ += e.hint->never;
    }
    void drop(const ttm_range_extent &e)
    {
        if (!e.res || --e.hint->extents)
            return;
        cost_.low_bytes -= e.hint->cost.low_bytes;
        cost_.bytes -= e.hint->cost.bytes;
        never_ -= e.hint->never;
    }

    const ttm_range_claim &claim_;
    ttm_resource_manager *man_;
    ttm_range_extent_at extent_at_;
    u64 lead_; // counted up to here
    // Those counted. The kernel looks each up again when it is left behind, which takes time here, not there.
    std::deque<ttm_range_extent> extents_;
    ttm_range_cost cost_;
    u32 never_ = 0;
};

} // namespace

static bool ttm_range_claimed(u64 start, u64 end, const std::vector<const ttm_range_claim *> &others)
{
    return std::any_of(others.begin(), others.end(), [&](const ttm_range_claim *c) {
        return start < c->range.lpfn && c->range.fpfn < end;
    });
}

// Where the next range that may be better begins: where an extent or a claim is left behind.
static u64 next_start(u64 start, u64 extent_end, const std::vector<const ttm_range_claim *> &others)
{
    for (const ttm_range_claim *c : others)
        if (c->range.lpfn > start)
            extent_end = std::min(extent_end, c->range.lpfn);
    return extent_end;
}

int ttm_range_choose(ttm_range_claim *claim, ttm_resource_manager *man, u64 size_pages,
                     const std::vector<const ttm_range_claim *> &others, ttm_range_extent_at extent_at)
{
    const u64 pages = (claim->bo->size + PAGE_SIZE - 1) >> PAGE_SHIFT;
    const u64 alignment = std::max<u64>(claim->bo->page_alignment, 1);
    const u64 limit = claim->place->lpfn ? std::min(claim->place->lpfn, size_pages) : size_pages;
    const auto align = [&](u64 page) { return (page + alignment - 1) / alignment * alignment; };
    u64 start = align(claim->place->fpfn);
    window w(*claim, man, extent_at, start);
    bool found = false;

    while (start + pages <= limit) {
        w.move(start, start + pages);
        if (w.possible() && (!found || w.cost() < claim->cost) &&
            !ttm_range_claimed(start, start + pages, others)) {
            found = true;
            claim->cost = w.cost();
            claim->range = *claim->place;
            claim->range.fpfn = start;
            claim->range.lpfn = start + pages;
        }
        start = align(next_start(start, w.first_end(), others));
    }
    return found ? 0 : -ENOSPC;
}

ttm_resource *ttm_range_first(const ttm_range_claim *claim, ttm_resource_manager *man,
                              ttm_range_extent_at extent_at)
{
    for (u64 page = claim->range.fpfn; page < claim->range.lpfn;) {
        const ttm_range_extent e = extent_at(man, page);
        if (e.res)
            return e.res;
        page = e.end;
    }
    return nullptr;
}

} // namespace vramlab::kmd
