// SPDX-License-Identifier: MIT
// For tests of priorities within bulk moves: BOs of a VM. Tests only.
#pragma once

#include "kmd/ttm_test_gpu.h"

namespace vramlab::kmd::test {

class bulk_priority_test : public gpu_test {
protected:
    bulk_priority_test() : gpu_test(64, 256)
    {
        bdev.mechanisms.priority = true;
        for (ttm_lru_bulk_move &b : bulk)
            ttm_lru_bulk_move_init(&b);
    }
    test_bo *create_in(u32 priority, ttm_place place = in_vram, u64 pages = 8)
    {
        test_bo *bo = create(pages, {place}, &resv);
        EXPECT_NE(bo, nullptr);
        dma_resv_lock(resv, nullptr);
        ttm_bo_set_bulk_priority(bo, priority);
        ttm_bo_set_bulk_move(bo, &bulk[0]);
        dma_resv_unlock(resv);
        bos.push_back(bo);
        return bo;
    }
    // As a submission validates a private BO.
    int trade(test_bo *bo)
    {
        ttm_operation_ctx c;
        c.resv = &resv;
        c.allow_lower_evict = true;
        const ttm_placement placement{1, &in_vram};
        dma_resv_lock(resv, nullptr);
        const int ret = ttm_bo_validate(bo, &placement, &c);
        dma_resv_unlock(resv);
        return ret;
    }
    void clear()
    {
        for (test_bo *bo : bos) {
            dma_resv_lock(*bo->resv, nullptr);
            ttm_bo_set_bulk_move(bo, nullptr);
            dma_resv_unlock(*bo->resv);
            destroy(bo);
        }
        bos.clear();
    }
    ~bulk_priority_test() override { clear(); }

    dma_resv resv;
    ttm_lru_bulk_move bulk[2];
    std::vector<test_bo *> bos;
};

} // namespace vramlab::kmd::test
