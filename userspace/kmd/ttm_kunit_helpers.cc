// SPDX-License-Identifier: GPL-2.0 AND MIT
// See ttm_kunit_helpers.h.
#include "kmd/ttm_kunit_helpers.h"

namespace vramlab::kmd::kunit {

namespace {

const ttm_place sys_place{0, 0, TTM_PL_SYSTEM, TTM_PL_FLAG_FALLBACK};
const ttm_place mock1_place{0, 0, TTM_PL_MOCK1, TTM_PL_FLAG_FALLBACK};
const ttm_place mock2_place{0, 0, TTM_PL_MOCK2, TTM_PL_FLAG_FALLBACK};

ttm_tt *ttm_tt_simple_create(ttm_buffer_object *bo, u32 page_flags)
{
    ttm_tt *tt = new ttm_tt;
    ttm_tt_init(tt, bo, page_flags, ttm_cached, 0);
    return tt;
}

void ttm_tt_simple_destroy(ttm_device *, ttm_tt *tt)
{
    delete tt;
}

int mock_move(ttm_buffer_object *bo, bool, ttm_operation_ctx *ctx, ttm_resource *new_mem, ttm_place *hop)
{
    const ttm_resource *old_mem = bo->resource;

    if (!old_mem || (old_mem->mem_type == TTM_PL_SYSTEM && !bo->ttm)) {
        ttm_bo_move_null(bo, new_mem);
        return 0;
    }
    if (old_mem->mem_type == TTM_PL_VRAM && new_mem->mem_type == TTM_PL_SYSTEM) {
        *hop = {0, 0, TTM_PL_TT, TTM_PL_FLAG_TEMPORARY};
        return -EMULTIHOP;
    }
    if ((old_mem->mem_type == TTM_PL_SYSTEM && new_mem->mem_type == TTM_PL_TT) ||
        (old_mem->mem_type == TTM_PL_TT && new_mem->mem_type == TTM_PL_SYSTEM)) {
        ttm_bo_move_null(bo, new_mem);
        return 0;
    }
    return ttm_bo_move_memcpy(bo, ctx, new_mem);
}

void mock_evict_flags(ttm_buffer_object *bo, ttm_placement *placement)
{
    switch (bo->resource->mem_type) {
    case TTM_PL_VRAM:
    case TTM_PL_SYSTEM:
        *placement = {1, &sys_place};
        break;
    case TTM_PL_TT:
        *placement = {1, &mock2_place};
        break;
    default: // dropped
        break;
    }
}

void bad_evict_flags(ttm_buffer_object *, ttm_placement *placement)
{
    *placement = {1, &mock1_place};
}

constexpr ttm_device_funcs make_funcs(void (*evict_flags)(ttm_buffer_object *, ttm_placement *))
{
    ttm_device_funcs f{};
    f.ttm_tt_create = ttm_tt_simple_create;
    f.ttm_tt_destroy = ttm_tt_simple_destroy;
    f.move = mock_move;
    f.eviction_valuable = ttm_bo_eviction_valuable;
    f.evict_flags = evict_flags;
    return f;
}

int ttm_mock_manager_alloc(ttm_resource_manager *man, ttm_buffer_object *bo, const ttm_place *place,
                           ttm_resource **res)
{
    ttm_mock_manager *manager = static_cast<ttm_mock_manager *>(man);
    ttm_mock_resource *mock_res = new ttm_mock_resource;

    ttm_resource_init(bo, place, mock_res);
    if (place->flags & TTM_PL_FLAG_TOPDOWN)
        mock_res->flags |= GPU_BUDDY_TOPDOWN_ALLOCATION;
    if (place->flags & TTM_PL_FLAG_CONTIGUOUS)
        mock_res->flags |= GPU_BUDDY_CONTIGUOUS_ALLOCATION;

    const int err = gpu_buddy_alloc_blocks(manager->mm, 0, man->size, ttm_resource_size(mock_res), PAGE_SIZE,
                                           mock_res->blocks, mock_res->flags);
    if (err) {
        gpu_buddy_free_list(manager->mm, mock_res->blocks, 0);
        ttm_resource_fini(man, mock_res);
        delete mock_res;
        return err;
    }
    *res = mock_res;
    return 0;
}

void ttm_mock_manager_free(ttm_resource_manager *man, ttm_resource *res)
{
    ttm_mock_resource *mock_res = static_cast<ttm_mock_resource *>(res);

    gpu_buddy_free_list(static_cast<ttm_mock_manager *>(man)->mm, mock_res->blocks, 0);
    ttm_resource_fini(man, res);
    delete mock_res;
}

int ttm_bad_manager_alloc(ttm_resource_manager *, ttm_buffer_object *, const ttm_place *, ttm_resource **)
{
    return -ENOSPC;
}
int ttm_busy_manager_alloc(ttm_resource_manager *, ttm_buffer_object *, const ttm_place *, ttm_resource **)
{
    return -EBUSY;
}
void ttm_bad_manager_free(ttm_resource_manager *, ttm_resource *) {}
bool ttm_bad_manager_compatible(ttm_resource_manager *, ttm_resource *, const ttm_place *, u64)
{
    return true;
}

const ttm_resource_manager_func ttm_mock_manager_funcs{ttm_mock_manager_alloc, ttm_mock_manager_free, nullptr,
                                                       nullptr};
const ttm_resource_manager_func ttm_bad_manager_funcs{ttm_bad_manager_alloc, ttm_bad_manager_free, nullptr,
                                                      ttm_bad_manager_compatible};
const ttm_resource_manager_func ttm_bad_busy_manager_funcs{ttm_busy_manager_alloc, ttm_bad_manager_free,
                                                           nullptr, ttm_bad_manager_compatible};

} // namespace

const ttm_device_funcs ttm_dev_funcs = make_funcs(mock_evict_flags);
const ttm_device_funcs ttm_dev_funcs_bad_evict = make_funcs(bad_evict_flags);

const ttm_resource_manager_func *ttm_mock_manager_func()
{
    return &ttm_mock_manager_funcs;
}

void dummy_ttm_bo_destroy(ttm_buffer_object *) {}

void ttm_test::TearDown()
{
    if (ttm_dev)
        ttm_device_fini(ttm_dev);
}

ttm_device *ttm_test::ttm_device_kunit_init(u32 alloc_flags, const ttm_device_funcs *funcs, ttm_global *glob)
{
    ttm_device *bdev = &devices_.emplace_back();
    EXPECT_EQ(ttm_device_init(bdev, funcs, alloc_flags, glob), 0);
    return bdev;
}

ttm_buffer_object *ttm_test::bo_alloc(u64 size_bytes)
{
    ttm_buffer_object *bo = &bos_.emplace_back();
    bo->size = size_bytes;
    return bo;
}

ttm_buffer_object *ttm_test::ttm_bo_kunit_init(u64 size_bytes, dma_resv *resv)
{
    ttm_buffer_object *bo = bo_alloc(size_bytes);
    if (resv)
        bo->resv = resv;
    bo->bdev = ttm_dev;
    bo->destroy = dummy_ttm_bo_destroy;
    bo->kref = 1;
    return bo;
}

const ttm_place *ttm_test::ttm_place_kunit_init(u32 mem_type, u32 flags)
{
    return &place_.emplace_back(ttm_place{0, 0, mem_type, flags});
}

const ttm_placement *ttm_test::ttm_placement_kunit_init(std::vector<ttm_place> places)
{
    const std::vector<ttm_place> &kept = places_.emplace_back(std::move(places));
    return &placements_.emplace_back(ttm_placement{static_cast<u32>(kept.size()), kept.data()});
}

ttm_tt *ttm_test::tt_alloc()
{
    return &tts_.emplace_back();
}

dma_fence *ttm_test::alloc_mock_fence()
{
    dma_fence *fence = new dma_fence;
    fence->waiter = &signaller;
    fences_.push_back(fence_ref::adopt(fence));
    return fence;
}

ttm_mock_manager *ttm_test::ttm_mock_manager_init(u32 mem_type, u64 size_bytes)
{
    ttm_mock_manager *manager = mock_managers_.emplace_back(std::make_unique<ttm_mock_manager>()).get();
    EXPECT_EQ(gpu_buddy_init(manager->mm, size_bytes, PAGE_SIZE), 0);
    manager->func = &ttm_mock_manager_funcs;
    manager->use_tt = true;
    ttm_resource_manager_init(manager, ttm_dev, size_bytes);
    ttm_set_driver_manager(ttm_dev, mem_type, manager);
    ttm_resource_manager_set_used(manager, true);
    return manager;
}

void ttm_test::ttm_mock_manager_fini(u32 mem_type)
{
    ttm_mock_manager *manager = static_cast<ttm_mock_manager *>(ttm_manager_type(ttm_dev, mem_type));
    ASSERT_EQ(ttm_resource_manager_evict_all(ttm_dev, manager), 0);
    ttm_resource_manager_set_used(manager, false);
    gpu_buddy_fini(manager->mm);
    ttm_set_driver_manager(ttm_dev, mem_type, nullptr);
}

void ttm_test::ttm_bad_manager_init(u32 mem_type, u64 size_bytes)
{
    ttm_resource_manager *man = &bad_managers_.emplace_back();
    man->func = &ttm_bad_manager_funcs;
    ttm_resource_manager_init(man, ttm_dev, size_bytes);
    ttm_set_driver_manager(ttm_dev, mem_type, man);
    ttm_resource_manager_set_used(man, true);
}

void ttm_test::ttm_busy_manager_init(u32 mem_type, u64 size_bytes)
{
    ttm_bad_manager_init(mem_type, size_bytes);
    ttm_manager_type(ttm_dev, mem_type)->func = &ttm_bad_busy_manager_funcs;
}

void ttm_test::ttm_bad_manager_fini(u32 mem_type)
{
    ttm_resource_manager_set_used(ttm_manager_type(ttm_dev, mem_type), false);
    ttm_set_driver_manager(ttm_dev, mem_type, nullptr);
}

} // namespace vramlab::kmd::kunit
