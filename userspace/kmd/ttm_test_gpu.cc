// SPDX-License-Identifier: MIT
// See ttm_test_gpu.h.
#include "kmd/ttm_test_gpu.h"

#include <cstring>

namespace vramlab::kmd::test {

namespace {

thread_local gpu_test *current_test = nullptr;

constexpr ttm_place evict_places[] = {in_gtt, in_system};

ttm_tt *tt_create(ttm_buffer_object *bo, u32 page_flags)
{
    ttm_tt *tt = new ttm_tt;
    ttm_tt_init(tt, bo, page_flags, ttm_cached, 0);
    return tt;
}

void tt_destroy(ttm_device *, ttm_tt *tt)
{
    ttm_tt_fini(tt);
    delete tt;
}

void evict_flags(ttm_buffer_object *bo, ttm_placement *placement)
{
    if (bo->resource->mem_type == TTM_PL_VRAM)
        *placement = {2, &evict_places[0]};
    else
        *placement = {1, &evict_places[1]};
}

ttm_throttle *throttle_of(ttm_buffer_object *bo)
{
    return ttm_bo_ghost_of(bo) ? nullptr : static_cast<test_bo *>(bo)->throttle;
}

struct counted_fence final : dma_fence {
    explicit counted_fence(u32 &live) : live_(live) { live_++; }
    ~counted_fence() override { live_--; }

private:
    u32 &live_;
};

ttm_trace_id trace_id(const ttm_buffer_object *bo)
{
    return {static_cast<const test_bo *>(bo)->tag, 0};
}

} // namespace

const ttm_device_funcs gpu_test::funcs{.ttm_tt_create = tt_create,
                                       .ttm_tt_populate = nullptr,
                                       .ttm_tt_unpopulate = nullptr,
                                       .ttm_tt_destroy = tt_destroy,
                                       .eviction_valuable = ttm_bo_eviction_valuable,
                                       .evict_flags = evict_flags,
                                       .move = gpu_test::move,
                                       .delete_mem_notify = nullptr,
                                       .swap_notify = nullptr,
                                       .release_notify = nullptr,
                                       .throttle_of = throttle_of,
                                       .now_ns = [](const ttm_device *) { return current_test->now(); },
                                       .trace_id = trace_id};

gpu_test::gpu_test(u64 vram_pages, u64 gtt_pages)
{
    current_test = this;
    trace.sink = &log;
    ttm_device_init(&bdev, &funcs);
    for (auto [man, type, pages] :
         {std::tuple{&vram, TTM_PL_VRAM, vram_pages}, std::tuple{&gtt, TTM_PL_TT, gtt_pages}}) {
        gpu_buddy_init(man->mm, pages * PAGE_SIZE, PAGE_SIZE);
        man->func = kunit::ttm_mock_manager_func();
        man->use_tt = type == TTM_PL_TT;
        ttm_resource_manager_init(man, &bdev, pages * PAGE_SIZE);
        ttm_set_driver_manager(&bdev, type, man);
        ttm_resource_manager_set_used(man, true);
    }
}

gpu_test::~gpu_test()
{
    trace.sink = nullptr;
    signal_all();
    ttm_device_reap(&bdev);
    EXPECT_EQ(live_bos, 0u) << "a test leaves BOs behind";
    EXPECT_EQ(vram.usage, 0u);
    EXPECT_EQ(gtt.usage, 0u);
    EXPECT_EQ(bdev.sysman.usage, 0u);
    EXPECT_EQ(bdev.glob->pages_allocated, 0u);
    EXPECT_EQ(bdev.glob->bo_count, 0u);
    EXPECT_TRUE(list_empty(bdev.unevictable));
    ttm_resource_manager_cleanup(&vram);
    ttm_resource_manager_cleanup(&gtt);
    if (!live_bos) {
        gpu_buddy_fini(vram.mm);
        gpu_buddy_fini(gtt.mm);
        ttm_device_fini(&bdev);
        EXPECT_EQ(live_fences, 0u) << "somebody has kept a reference to a fence";
    }
    current_test = nullptr;
}

test_bo *gpu_test::create(u64 pages, std::vector<ttm_place> places, dma_resv *resv)
{
    test_bo *bo = new test_bo;
    live_bos++;
    bo->size = pages * PAGE_SIZE;
    bo->tag = next_tag_++;
    const ttm_placement placement{static_cast<u32>(places.size()), places.data()};
    const bool locked = resv && dma_resv_is_locked(*resv);
    if (resv && !locked)
        dma_resv_lock(*resv, nullptr);
    last_error =
        ttm_bo_init_reserved(&bdev, bo, ttm_bo_type_device, &placement, 0, &ctx, resv, &gpu_test::bo_destroy);
    if (last_error)
        bo = nullptr;
    if (resv && !locked)
        dma_resv_unlock(*resv);
    else if (bo && !resv)
        unlock(bo);
    return bo;
}

int gpu_test::validate_locked(ttm_buffer_object *bo, const std::vector<ttm_place> &places)
{
    const ttm_placement placement{static_cast<u32>(places.size()), places.data()};
    return ttm_bo_validate(bo, &placement, &ctx);
}

int gpu_test::validate(test_bo *bo, std::vector<ttm_place> places)
{
    lock(bo);
    const int ret = validate_locked(bo, places);
    ttm_bo_unreserve(bo);
    return ret;
}

void gpu_test::add_fence(ttm_buffer_object *bo, dma_fence *fence, dma_resv_usage usage)
{
    lock(bo);
    EXPECT_EQ(dma_resv_reserve_fences(*bo->resv, 1), 0);
    dma_resv_add_fence(*bo->resv, *fence, usage);
    unlock(bo);
}

dma_fence *gpu_test::make_fence(u64 context)
{
    dma_fence *fence = new counted_fence(live_fences);
    fence->context = context;
    fence->seqno = next_seqno_++;
    fence->waiter = this;
    pending.push_back(fence_ref::adopt(fence));
    return fence;
}

void gpu_test::lock(ttm_buffer_object *bo)
{
    ASSERT_EQ(dma_resv_lock(*bo->resv, nullptr), 0);
}

void gpu_test::bulk_move(test_bo *bo, ttm_lru_bulk_move *bulk)
{
    lock(bo);
    ttm_bo_set_bulk_move(bo, bulk);
    unlock(bo);
}

void gpu_test::signal_all()
{
    while (!pending.empty()) {
        const fence_ref fence = pending.front();
        pending.pop_front();
        dma_fence_signal(*fence);
    }
}

void gpu_test::wait_until_signaled(dma_fence &fence)
{
    while (!fence.signaled) {
        ASSERT_FALSE(pending.empty()) << "waits for a fence that nobody signals";
        const fence_ref first = pending.front();
        pending.pop_front();
        dma_fence_signal(*first);
        ttm_device_reap(&bdev);
    }
}

std::string gpu_test::order(const list_head &lru)
{
    std::string s;
    for (const list_head *e = lru.next; e != &lru; e = e->next) {
        const ttm_lru_item *item = static_cast<const ttm_lru_item *>(e);
        if (!s.empty())
            s += ' ';
        if (!ttm_lru_item_is_res(*item)) {
            s += '|';
            continue;
        }
        const ttm_buffer_object *bo = static_cast<const ttm_resource *>(item)->bo;
        if (ttm_bo_ghost_of(bo))
            s += 'g' + std::to_string(bo->size / PAGE_SIZE);
        else
            s += (bo->deleted ? "z" : "") + std::to_string(static_cast<const test_bo *>(bo)->tag);
    }
    return s;
}

u64 gpu_test::count_events(events::event_type type, const char *where) const
{
    u64 n = 0;
    for (const events::event &e : log.events())
        n += e.type == type && (!where || (e.where && !std::strcmp(e.where, where)));
    return n;
}

void gpu_test::bo_destroy(ttm_buffer_object *bo)
{
    current_test->live_bos--;
    delete static_cast<test_bo *>(bo);
}

int gpu_test::move(ttm_buffer_object *bo, bool evict, ttm_operation_ctx *ctx, ttm_resource *new_mem,
                   ttm_place *hop)
{
    const ttm_resource *old_mem = bo->resource;
    const u32 to = new_mem->mem_type;

    if (!old_mem || (old_mem->mem_type == TTM_PL_SYSTEM && (!bo->ttm || to == TTM_PL_TT))) {
        ttm_bo_move_null(bo, new_mem);
        return 0;
    }
    if (old_mem->mem_type == TTM_PL_TT && to != TTM_PL_VRAM) {
        if (int ret = ttm_bo_wait_ctx(bo, ctx))
            return ret;
        ttm_bo_move_null(bo, new_mem);
        return 0;
    }
    if (old_mem->mem_type == TTM_PL_SYSTEM || to == TTM_PL_SYSTEM) {
        *hop = {0, 0, TTM_PL_TT, TTM_PL_FLAG_TEMPORARY};
        return -EMULTIHOP;
    }

    gpu_test *t = current_test;
    const fence_ref fence(t->make_fence(t->copy_context));
    if (!t->async_copies)
        t->signal_all();
    return ttm_bo_move_accel_cleanup(bo, fence.get(), evict, true, new_mem);
}

} // namespace vramlab::kmd::test
