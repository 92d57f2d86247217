// SPDX-License-Identifier: GPL-2.0 AND MIT
// What TTM's KUnit cases stand on, restated for GoogleTest:
// drivers/gpu/drm/ttm/tests/{ttm_kunit_helpers,ttm_mock_manager}. Tests only.
#pragma once

#include "kmd/gpu_buddy.h"
#include "kmd/ttm_bo.h"

#include <gtest/gtest.h>

#include <deque>
#include <map>
#include <memory>
#include <vector>

namespace vramlab::kmd::kunit {

inline constexpr u64 SZ_4K = 4 * KiB;
inline constexpr u64 SZ_8K = 8 * KiB;
inline constexpr u64 SZ_16K = 16 * KiB;
inline constexpr u64 SZ_512K = 512 * KiB;
inline constexpr u64 SZ_1M = MiB;

inline constexpr u32 TTM_PL_MOCK1 = TTM_PL_PRIV + 1;
inline constexpr u32 TTM_PL_MOCK2 = TTM_PL_PRIV + 2;

extern const ttm_device_funcs
    ttm_dev_funcs; // ttm_tt_simple_create() and so on, mock_move(), mock_evict_flags()
extern const ttm_device_funcs ttm_dev_funcs_bad_evict; // evicts into TTM_PL_MOCK1

void dummy_ttm_bo_destroy(ttm_buffer_object *bo);

// Signals whatever is waited for: stands for the threads that the KUnit cases start to signal a fence.
class signal_when_waited_for final : public fence_waiter {
public:
    void wait_until_signaled(dma_fence &fence) override { dma_fence_signal(fence); }
};

struct ttm_mock_resource : ttm_resource {
    gpu_buddy_list blocks;
    u32 flags = 0; // GPU_BUDDY_*
};

// A buddy allocator under a manager with use_tt set, as the kernel's mock has it.
struct ttm_mock_manager : ttm_resource_manager {
    gpu_buddy mm;
};

const ttm_resource_manager_func *ttm_mock_manager_func();

// Base of the suites. Owns what a case makes, as kunit_kzalloc() does.
class ttm_test : public testing::Test {
protected:
    void TearDown() override;

    ttm_device *ttm_device_kunit_init(u32 alloc_flags = 0, const ttm_device_funcs *funcs = &ttm_dev_funcs,
                                      ttm_global *glob = nullptr);
    // Not initialised at all (drm_gem_private_object_init()).
    ttm_buffer_object *bo_alloc(u64 size_bytes);
    // Fit to be validated, with one reference; on ttm_dev.
    ttm_buffer_object *ttm_bo_kunit_init(u64 size_bytes, dma_resv *resv = nullptr);
    const ttm_place *ttm_place_kunit_init(u32 mem_type, u32 flags);
    const ttm_placement *ttm_placement_kunit_init(std::vector<ttm_place> places);
    ttm_tt *tt_alloc();
    dma_fence *alloc_mock_fence();

    ttm_mock_manager *ttm_mock_manager_init(u32 mem_type, u64 size_bytes);
    void ttm_mock_manager_fini(u32 mem_type);                 // evicts all first
    void ttm_bad_manager_init(u32 mem_type, u64 size_bytes);  // -ENOSPC
    void ttm_busy_manager_init(u32 mem_type, u64 size_bytes); // -EBUSY
    void ttm_bad_manager_fini(u32 mem_type);

    static void lock(ttm_buffer_object *bo) { EXPECT_EQ(dma_resv_lock(*bo->resv, nullptr), 0); }
    static void unlock(ttm_buffer_object *bo) { dma_resv_unlock(*bo->resv); }

    ttm_device *ttm_dev = nullptr; // finalised by TearDown()
    signal_when_waited_for signaller;

private:
    std::deque<ttm_device> devices_;
    std::deque<ttm_buffer_object> bos_;
    std::deque<ttm_tt> tts_;
    std::deque<ttm_place> place_;
    std::deque<std::vector<ttm_place>> places_;
    std::deque<ttm_placement> placements_;
    std::deque<fence_ref> fences_;
    std::deque<std::unique_ptr<ttm_mock_manager>> mock_managers_;
    std::deque<ttm_resource_manager> bad_managers_;
};

// With a device (ttm_test_devices_all_init()).
class ttm_device_all_test : public ttm_test {
protected:
    void SetUp() override { ttm_dev = ttm_device_kunit_init(); }
};

} // namespace vramlab::kmd::kunit
