// SPDX-License-Identifier: MIT
// Fixture of the gpu_buddy tests: one allocator, checked after each allocation if it is small.
#pragma once

#include "kmd/gpu_buddy.h"

#include <gtest/gtest.h>
#include <vector>

namespace vramlab::kmd {

inline constexpr u64 SZ_4K = 4 * KiB;
inline constexpr u32 max_order_of_tests = 12;

class gpu_buddy_test : public ::testing::Test {
protected:
    void init(u64 size, u64 chunk_size = SZ_4K) { ASSERT_EQ(gpu_buddy_init(mm, size, chunk_size), 0); }
    int alloc(u64 start, u64 end, u64 size, u64 min_block_size, gpu_buddy_list &list, u32 flags = 0)
    {
        const int ret = gpu_buddy_alloc_blocks(mm, start, end, size, min_block_size, list, flags);
        if (mm.max_order <= max_order_of_tests) {
            EXPECT_EQ(gpu_buddy_check(mm), "");
        }
        return ret;
    }
    int alloc(u64 size, gpu_buddy_list &list, u32 flags = 0)
    {
        return alloc(0, mm.size, size, size, list, flags);
    }
    void free_list(gpu_buddy_list &list, u32 flags = 0) { gpu_buddy_free_list(mm, list, flags); }
    void fini()
    {
        EXPECT_EQ(gpu_buddy_check(mm), "");
        EXPECT_NO_THROW(gpu_buddy_fini(mm));
    }

    // The only block of an allocation, taken out of its list.
    block_id alloc_one(u64 size)
    {
        gpu_buddy_list tmp;
        if (alloc(size, tmp) != 0)
            return no_block;
        const block_id id = tmp.first;
        EXPECT_EQ(tmp.first, tmp.last);
        return id;
    }
    std::vector<block_id> blocks(const gpu_buddy_list &list) const
    {
        std::vector<block_id> ids;
        for (block_id b = list.first; b != no_block; b = gpu_buddy_list_next(mm, b))
            ids.push_back(b);
        return ids;
    }
    u64 total(const gpu_buddy_list &list) const
    {
        u64 sum = 0;
        gpu_buddy_for_each_block(mm, list,
                                 [&](const gpu_buddy_block &b) { sum += gpu_buddy_block_size(mm, b); });
        return sum;
    }
    void expect_all(const gpu_buddy_list &list, bool clear) const
    {
        gpu_buddy_for_each_block(
            mm, list, [&](const gpu_buddy_block &b) { EXPECT_EQ(gpu_buddy_block_is_clear(b), clear); });
    }
    void move_tail(gpu_buddy_list &from, block_id id, gpu_buddy_list &to)
    {
        gpu_buddy_list_del(mm, from, id);
        gpu_buddy_list_add_tail(mm, to, id);
    }
    // Every page, alternately to one of n lists.
    template <std::size_t n> void alloc_pages_into(gpu_buddy_list *const (&lists)[n])
    {
        for (u64 i = 0; i < mm.size / mm.chunk_size; i++)
            ASSERT_EQ(gpu_buddy_alloc_blocks(mm, 0, mm.size, mm.chunk_size, mm.chunk_size, *lists[i % n], 0),
                      0);
    }

    gpu_buddy mm;
};

} // namespace vramlab::kmd
