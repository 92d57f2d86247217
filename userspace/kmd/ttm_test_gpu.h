// SPDX-License-Identifier: MIT
// A small driver on TTM for the tests of its model: VRAM (a buddy allocator, no ttm), GTT (counted) and
// SYSTEM, moves by a copy engine whose fences are signalled by hand or by waiting, evictions from VRAM to GTT
// or else SYSTEM, like amdgpu's. Tests only.
#pragma once

#include "kmd/dmem_cgroup.h"
#include "kmd/trace.h"
#include "kmd/ttm_kunit_helpers.h"

#include <deque>
#include <memory>
#include <string>
#include <vector>

namespace vramlab::kmd::test {

inline constexpr ttm_place in_system{0, 0, TTM_PL_SYSTEM, 0};
inline constexpr ttm_place in_gtt{0, 0, TTM_PL_TT, 0};
inline constexpr ttm_place in_vram{0, 0, TTM_PL_VRAM, 0};
inline constexpr ttm_place in_gtt_fallback{0, 0, TTM_PL_TT, TTM_PL_FLAG_FALLBACK};
inline constexpr ttm_place in_vram_desired{0, 0, TTM_PL_VRAM, TTM_PL_FLAG_DESIRED};

struct test_bo : ttm_buffer_object {
    u64 tag = 0;
    ttm_throttle *throttle = nullptr;
};

class gpu_test : public testing::Test, protected fence_waiter {
public:
    u64 now() const { return now_ns; } // for the driver's operations

protected:
    // Sizes in pages.
    explicit gpu_test(u64 vram_pages = 64, u64 gtt_pages = 256);
    ~gpu_test() override;

    // A BO with a tag (from 1 upwards), placed and unlocked, or nullptr and the error in last_error.
    test_bo *create(u64 pages, std::vector<ttm_place> places, dma_resv *resv = nullptr);
    int validate(test_bo *bo,
                 std::vector<ttm_place> places); // locks and unlocks, no ticket; not if the resv is held
    int validate_locked(ttm_buffer_object *bo, const std::vector<ttm_place> &places);
    void destroy(test_bo *bo) { ttm_bo_fini(bo); }
    void add_fence(ttm_buffer_object *bo, dma_fence *fence, dma_resv_usage usage);
    dma_fence *make_fence(u64 context);
    void lock(ttm_buffer_object *bo);
    void unlock(ttm_buffer_object *bo) { dma_resv_unlock(*bo->resv); }
    void bulk_move(test_bo *bo, ttm_lru_bulk_move *bulk); // locks
    void signal_all();

    // Tags of a list, head first; zombies as "z<tag>", ghosts as "g<pages>".
    static std::string order(const list_head &lru);
    std::string lru(u32 mem_type, u32 priority = 0)
    {
        return order(ttm_manager_type(&bdev, mem_type)->lru[priority]);
    }
    static u32 where(const ttm_buffer_object *bo) { return bo->resource ? bo->resource->mem_type : ~0u; }
    u64 count_events(events::event_type type, const char *where = nullptr) const;

    ttm_device bdev;
    kunit::ttm_mock_manager vram; // use_tt cleared
    kunit::ttm_mock_manager gtt;
    ttm_operation_ctx ctx; // of validate() and create()
    int last_error = 0;
    u32 live_bos = 0;
    u32 live_fences = 0;           // of make_fence()
    std::deque<fence_ref> pending; // copies under way, oldest first
    bool async_copies = false;     // else a copy's fence is signalled at once
    u64 copy_context = 1;
    u64 now_ns = 0;
    events::event_log log;

private:
    void wait_until_signaled(dma_fence &fence) override; // signals pending copies up to it, and reaps
    static void bo_destroy(ttm_buffer_object *bo);
    static int move(ttm_buffer_object *bo, bool evict, ttm_operation_ctx *ctx, ttm_resource *new_mem,
                    ttm_place *hop);
    static const ttm_device_funcs funcs;

    u64 next_tag_ = 1;
    u64 next_seqno_ = 1;
};

} // namespace vramlab::kmd::test
