// SPDX-License-Identifier: MIT
// Private to gpu_buddy*.cc: the static functions of drivers/gpu/buddy.c that its parts share.
#pragma once

#include "kmd/gpu_buddy.h"
#include "kmd/gpu_buddy_rbtree.h"

#include <bit>
#include <stdexcept>

namespace vramlab::kmd {

// Blocks to visit, depth first: the kernel's list through tmp_link, of which both ends serve as a stack.
struct dfs_stack {
    static constexpr u32 depth_max = 2 * (GPU_BUDDY_MAX_ORDER + 1);
    block_id ids[depth_max];
    u32 n = 0;

    void push(block_id id) { ids[n++] = id; }
    block_id pop() { return n ? ids[--n] : no_block; }
    void push_children(const gpu_buddy_block &b)
    {
        push(b.left + 1);
        push(b.left);
    }
    void push_roots(const gpu_buddy &mm)
    {
        for (u32 i = mm.n_roots; i > 0; i--)
            push(mm.first_root + i - 1);
    }
};

struct byte_range {
    u64 start, end; // both included
};

inline byte_range range_of(const gpu_buddy &mm, const gpu_buddy_block &b)
{
    const u64 start = gpu_buddy_block_offset(b);
    return {start, start + gpu_buddy_block_size(mm, b) - 1};
}
inline bool overlaps(const byte_range &a, const byte_range &b)
{
    return a.start <= b.end && a.end >= b.start;
}
inline bool contains(const byte_range &a, const byte_range &b)
{
    return a.start <= b.start && a.end >= b.end;
}

inline u32 ilog2(u64 n)
{
    return static_cast<u32>(std::bit_width(n)) - 1;
}
inline bool is_aligned(u64 n, u64 power_of_two)
{
    return (n & (power_of_two - 1)) == 0;
}
inline u64 round_down(u64 n, u64 power_of_two)
{
    return n & ~(power_of_two - 1);
}
inline u64 round_up(u64 n, u64 power_of_two)
{
    return ((n - 1) | (power_of_two - 1)) + 1;
}

inline void bug_on(bool condition, const char *what)
{
    if (condition) [[unlikely]]
        throw std::logic_error(what);
}

// Changes of state, with the scoreboards and trees but without avail.
void mark_allocated(gpu_buddy &mm, block_id id);
void mark_free(gpu_buddy &mm, block_id id);
void split_block(gpu_buddy &mm, block_id id);
// Frees and merges upwards as long as the sibling is free and, unless force_merge, both are clear or both
// dirty. Returns the order of what came of it.
u32 gpu_buddy_merge_and_free(gpu_buddy &mm, block_id id, bool force_merge);
// __force_merge(): merges clear with dirty siblings within the range until there is a block of min_order. 0,
// or an error if there is none.
int force_merge(gpu_buddy &mm, u64 start, u64 end, u32 min_order);

// mark_allocated(), the sums and the list.
void take_block(gpu_buddy &mm, block_id id, gpu_buddy_list &blocks);
// gpu_buddy_free_list_internal(): clear bits stay as they are.
void free_list_internal(gpu_buddy &mm, gpu_buddy_list &blocks);

// __alloc_range(): everything of [start, start + size) below the blocks on the stack. With
// total_allocated_on_err, -ENOSPC leaves what was allocated in the list.
int alloc_range(gpu_buddy &mm, dfs_stack &dfs, u64 start, u64 size, gpu_buddy_list &blocks,
                u64 *total_allocated_on_err);
int alloc_range(gpu_buddy &mm, u64 start, u64 size, gpu_buddy_list &blocks, u64 *total_allocated_on_err);
// __gpu_buddy_alloc_range_bias(): a free block of that order within [start, end), or no_block.
block_id alloc_range_bias(gpu_buddy &mm, u64 start, u64 end, u32 order, u32 flags);
// __alloc_contig_try_harder(): a range of several blocks around the free ones just below the size.
int alloc_contig_try_harder(gpu_buddy &mm, u64 size, u64 min_block_size, gpu_buddy_list &blocks);

} // namespace vramlab::kmd
