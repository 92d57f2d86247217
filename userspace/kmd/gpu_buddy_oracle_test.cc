// SPDX-License-Identifier: MIT
// Do random operations keep every promise of gpu_buddy, by a map of chunks that knows nothing of trees?
#include "kmd/gpu_buddy_test_helpers.h"

#include <algorithm>
#include <bit>
#include <random>

namespace vramlab::kmd {
namespace {

struct allocation {
    gpu_buddy_list blocks;
    u64 size = 0;
};

class gpu_buddy_oracle : public gpu_buddy_test, public ::testing::WithParamInterface<u32> {
protected:
    u64 below(u64 n) { return n ? prng() % n : 0; }
    bool chance(u32 percent) { return prng() % 100 < percent; }

    void step();
    void allocate();
    void release(std::size_t i);
    void trim(std::size_t i);
    void check_blocks(const allocation &a, u64 start, u64 end, u64 min_block_size, u32 flags);
    void check_map();
    u64 largest_free_run() const;
    u64 largest_free_block_run(u64 align) const;

    std::mt19937 prng{GetParam()};
    std::vector<char> used; // by chunk
    std::vector<allocation> allocations;
};

INSTANTIATE_TEST_SUITE_P(seeds, gpu_buddy_oracle, ::testing::Range(1u, 25u));

// Chunks in the longest free run.
u64 gpu_buddy_oracle::largest_free_run() const
{
    u64 best = 0;
    u64 run = 0;
    for (const char c : used) {
        run = c ? 0 : run + 1;
        best = std::max(best, run);
    }
    return best;
}

// Whether there is a free, naturally aligned run of that many chunks (a power of two).
u64 gpu_buddy_oracle::largest_free_block_run(u64 align) const
{
    u64 found = 0;
    for (u64 i = 0; i + align <= used.size(); i += align)
        found += std::none_of(used.begin() + static_cast<s64>(i), used.begin() + static_cast<s64>(i + align),
                              [](char c) { return c != 0; });
    return found;
}

void gpu_buddy_oracle::check_blocks(const allocation &a, u64 start, u64 end, u64 min_block_size, u32 flags)
{
    u64 sum = 0;
    u64 next = ~u64{0};
    bool contiguous = true;
    gpu_buddy_for_each_block(mm, a.blocks, [&](const gpu_buddy_block &b) {
        const u64 offset = gpu_buddy_block_offset(b);
        const u64 size = gpu_buddy_block_size(mm, b);
        EXPECT_TRUE(gpu_buddy_block_is_allocated(b));
        EXPECT_GE(offset, start);
        EXPECT_LE(offset + size, end);
        contiguous &= next == ~u64{0} || next == offset;
        next = offset + size;
        for (u64 c = offset / mm.chunk_size; c < next / mm.chunk_size; c++) {
            ASSERT_EQ(used[c], 0) << "handed out twice";
            used[c] = 1;
        }
        sum += size;
    });
    EXPECT_EQ(sum, a.size);
    EXPECT_EQ(gpu_buddy_block_offset(mm, a.blocks.first) % min_block_size, 0u);
    if (flags & GPU_BUDDY_CONTIGUOUS_ALLOCATION) {
        EXPECT_TRUE(contiguous);
    }
}

void gpu_buddy_oracle::allocate()
{
    const u64 chunks = mm.size / mm.chunk_size;
    u64 start = 0;
    u64 end = chunks;
    u32 flags = 0;
    for (const u32 flag :
         {GPU_BUDDY_TOPDOWN_ALLOCATION, GPU_BUDDY_CONTIGUOUS_ALLOCATION, GPU_BUDDY_CLEAR_ALLOCATION})
        if (chance(30))
            flags |= flag;
    if (chance(25)) {
        flags |= GPU_BUDDY_RANGE_ALLOCATION;
        start = below(chunks);
        end = start + 1 + below(chunks - start);
    }
    allocation a;
    a.size = (1 + below(std::min<u64>(end - start, u64{1} << below(9)))) * mm.chunk_size;
    u64 min_block_size = mm.chunk_size << (chance(30) ? below(5) : 0);
    if (flags & GPU_BUDDY_RANGE_ALLOCATION)
        min_block_size = mm.chunk_size;
    start *= mm.chunk_size;
    end *= mm.chunk_size;
    const u64 pages = a.size / mm.chunk_size;
    const bool exact = start + a.size == end;

    const int ret = alloc(start, end, a.size, min_block_size, a.blocks, flags);
    if (ret) {
        EXPECT_TRUE(a.blocks.empty());
        // Whenever must it not fail? Single chunks anywhere always serve, whole aligned blocks serve
        // contiguous requests.
        if (!(flags & GPU_BUDDY_RANGE_ALLOCATION) && !exact && min_block_size == mm.chunk_size) {
            if (flags & GPU_BUDDY_CONTIGUOUS_ALLOCATION) {
                EXPECT_EQ(largest_free_block_run(std::bit_ceil(pages)), 0u) << pages;
            } else {
                EXPECT_GT(pages * mm.chunk_size, mm.avail);
            }
        }
        return;
    }
    if (flags & GPU_BUDDY_CONTIGUOUS_ALLOCATION) {
        EXPECT_GE(largest_free_run(), pages);
    }
    // A contiguous allocation forgets about an alignment above its own size.
    if (flags & GPU_BUDDY_CONTIGUOUS_ALLOCATION)
        min_block_size = std::min(min_block_size, std::bit_ceil(a.size));
    check_blocks(a, start, end, exact ? mm.chunk_size : min_block_size, flags);
    allocations.push_back(a);
}

void gpu_buddy_oracle::release(std::size_t i)
{
    gpu_buddy_for_each_block(mm, allocations[i].blocks, [&](const gpu_buddy_block &b) {
        const u64 first = gpu_buddy_block_offset(b) / mm.chunk_size;
        std::fill_n(used.begin() + static_cast<s64>(first), gpu_buddy_block_size(mm, b) / mm.chunk_size,
                    char{0});
    });
    free_list(allocations[i].blocks, chance(40) ? GPU_BUDDY_CLEARED : 0);
    std::swap(allocations[i], allocations.back());
    allocations.pop_back();
}

void gpu_buddy_oracle::trim(std::size_t i)
{
    allocation &a = allocations[i];
    if (a.blocks.first != a.blocks.last)
        return;
    const u64 offset = gpu_buddy_block_offset(mm, a.blocks.first);
    const u64 chunks = a.size / mm.chunk_size;
    const u64 new_chunks = 1 + below(chunks);
    const u64 start = offset + below(chunks - new_chunks + 1) * mm.chunk_size;
    std::fill_n(used.begin() + static_cast<s64>(offset / mm.chunk_size), chunks, char{0});
    EXPECT_EQ(gpu_buddy_block_trim(mm, &start, new_chunks * mm.chunk_size, a.blocks), 0);
    a.size = new_chunks * mm.chunk_size;
    if (new_chunks != chunks)
        check_blocks(a, start, start + a.size, mm.chunk_size, GPU_BUDDY_CONTIGUOUS_ALLOCATION);
    else
        std::fill_n(used.begin() + static_cast<s64>(offset / mm.chunk_size), chunks, char{1});
}

void gpu_buddy_oracle::check_map()
{
    ASSERT_EQ(gpu_buddy_check(mm), "");
    const u64 used_chunks = static_cast<u64>(std::count(used.begin(), used.end(), char{1}));
    EXPECT_EQ(mm.avail, mm.size - used_chunks * mm.chunk_size);
    std::vector<char> free_map(used.size(), 1);
    u64 last_end = 0;
    gpu_buddy_for_each_free(mm, [&](u64 offset, u64 size) {
        EXPECT_GE(offset, last_end) << "by ascending offset";
        last_end = offset + size;
        std::fill_n(free_map.begin() + static_cast<s64>(offset / mm.chunk_size), size / mm.chunk_size,
                    char{0});
    });
    EXPECT_EQ(free_map, used);
}

void gpu_buddy_oracle::step()
{
    if (allocations.empty() || chance(55))
        allocate();
    else if (chance(15))
        trim(below(allocations.size()));
    else if (chance(2))
        gpu_buddy_reset_clear(mm, chance(50));
    else
        release(below(allocations.size()));
}

TEST_P(gpu_buddy_oracle, random_operations)
{
    const u64 chunk_size = SZ_4K << below(3);
    init((1 + below(700)) * chunk_size, chunk_size);
    used.assign(mm.size / mm.chunk_size, 0);
    for (u32 i = 0; i < 400 && !HasFailure(); i++) {
        step();
        check_map();
    }
    while (!allocations.empty())
        release(allocations.size() - 1);
    check_map();
    fini();
}

} // namespace
} // namespace vramlab::kmd
