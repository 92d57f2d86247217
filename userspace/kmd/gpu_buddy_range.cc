// SPDX-License-Identifier: MIT
// Allocation by address: exact ranges, a block within a range, and contiguous ranges made of several blocks.
#include "kmd/gpu_buddy_internal.h"

#include <algorithm>

namespace vramlab::kmd {
namespace {

// Of the whole block: a part of it may be taken, if at all.
bool block_incompatible(const gpu_buddy_block &b, u32 flags)
{
    return ((flags & GPU_BUDDY_CLEAR_ALLOCATION) != 0) != gpu_buddy_block_is_clear(b);
}

// __alloc_range_bias(). A split block is never clear, so without the fallback only unsplit clear roots serve
// for a clear allocation: as in the kernel.
block_id alloc_range_bias_pass(gpu_buddy &mm, u64 start, u64 end, u32 order, u32 flags, bool fallback)
{
    const u64 req_size = mm.chunk_size << order;
    const byte_range want{start, end - 1};
    dfs_stack dfs;
    dfs.push_roots(mm);
    for (block_id id = dfs.pop(); id != no_block; id = dfs.pop()) {
        const gpu_buddy_block &b = mm[id];
        if (gpu_buddy_block_order(b) < order)
            continue;
        const byte_range r = range_of(mm, b);
        if (!overlaps(want, r) || gpu_buddy_block_is_allocated(b))
            continue;
        if (r.start < want.start || r.end > want.end) {
            const u64 adjusted_start = std::max(r.start, want.start);
            const u64 adjusted_end = std::min(r.end, want.end);
            if (round_down(adjusted_end + 1, req_size) <= round_up(adjusted_start, req_size))
                continue;
        }
        if (!fallback && block_incompatible(b, flags))
            continue;
        if (contains(want, r) && order == gpu_buddy_block_order(b)) {
            if (gpu_buddy_block_is_free(b))
                return id;
            continue;
        }
        if (!gpu_buddy_block_is_split(b))
            split_block(mm, id);
        dfs.push_children(b);
    }
    return no_block;
}

// __alloc_contig_aligned_retry()
int alloc_contig_aligned(gpu_buddy &mm, u64 unaligned_offset, u64 size, u64 min_block_size,
                         gpu_buddy_list &blocks)
{
    return alloc_range(mm, round_down(unaligned_offset, min_block_size), size, blocks, nullptr);
}

} // namespace

void take_block(gpu_buddy &mm, block_id id, gpu_buddy_list &blocks)
{
    mark_allocated(mm, id);
    const gpu_buddy_block &b = mm[id];
    mm.avail -= gpu_buddy_block_size(mm, b);
    if (gpu_buddy_block_is_clear(b))
        mm.clear_avail -= gpu_buddy_block_size(mm, b);
    gpu_buddy_list_add_tail(mm, blocks, id);
}

int alloc_range(gpu_buddy &mm, dfs_stack &dfs, u64 start, u64 size, gpu_buddy_list &blocks,
                u64 *total_allocated_on_err)
{
    const byte_range want{start, start + size - 1};
    gpu_buddy_list allocated;
    u64 total_allocated = 0;
    bool ok = true;
    for (block_id id = dfs.pop(); id != no_block; id = dfs.pop()) {
        const gpu_buddy_block &b = mm[id];
        const byte_range r = range_of(mm, b);
        if (!overlaps(want, r))
            continue;
        if (gpu_buddy_block_is_allocated(b)) {
            ok = false;
            break;
        }
        if (contains(want, r)) {
            if (gpu_buddy_block_is_free(b)) {
                total_allocated += gpu_buddy_block_size(mm, b);
                take_block(mm, id, allocated);
                continue;
            }
            // Split, so something below is allocated, unless clear and dirty halves keep it apart.
            if (mm.clear_avail == 0) {
                ok = false;
                break;
            }
        }
        if (!gpu_buddy_block_is_split(b))
            split_block(mm, id);
        dfs.push_children(b);
    }
    if (ok && total_allocated >= size) {
        gpu_buddy_list_splice_tail(mm, allocated, blocks);
        return 0;
    }
    if (total_allocated_on_err) {
        gpu_buddy_list_splice_tail(mm, allocated, blocks);
        *total_allocated_on_err = total_allocated;
    } else {
        free_list_internal(mm, allocated);
    }
    return -ENOSPC;
}

int alloc_range(gpu_buddy &mm, u64 start, u64 size, gpu_buddy_list &blocks, u64 *total_allocated_on_err)
{
    dfs_stack dfs;
    dfs.push_roots(mm);
    return alloc_range(mm, dfs, start, size, blocks, total_allocated_on_err);
}

block_id alloc_range_bias(gpu_buddy &mm, u64 start, u64 end, u32 order, u32 flags)
{
    const block_id id = alloc_range_bias_pass(mm, start, end, order, flags, false);
    return id != no_block ? id : alloc_range_bias_pass(mm, start, end, order, flags, true);
}

// From each free block of the power of two below the size, highest first: to the right of it and, with what
// is missing, to the left. The list is emptied between attempts, whatever the caller had in it: as in the
// kernel.
int alloc_contig_try_harder(gpu_buddy &mm, u64 size, u64 min_block_size, gpu_buddy_list &blocks)
{
    const u32 order = ilog2(size) - ilog2(mm.chunk_size);
    if (order == 0)
        return -ENOSPC;
    for (const auto &trees : mm.free_trees) {
        for (block_id iter = trees[order].last; iter != no_block; iter = rb_prev(mm, iter)) {
            const u64 rhs_offset = gpu_buddy_block_offset(mm[iter]);
            u64 filled = 0;
            const int err = alloc_range(mm, rhs_offset, size, blocks, &filled);
            if (!err && is_aligned(rhs_offset, min_block_size))
                return 0;
            u64 offset = rhs_offset;
            if (err) {
                if (size - filled > rhs_offset) {
                    free_list_internal(mm, blocks);
                    continue;
                }
                offset = rhs_offset - (size - filled);
            }
            free_list_internal(mm, blocks);
            if (alloc_contig_aligned(mm, offset, size, min_block_size, blocks) == 0)
                return 0;
            free_list_internal(mm, blocks);
        }
    }
    return -ENOSPC;
}

} // namespace vramlab::kmd
