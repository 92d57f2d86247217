// SPDX-License-Identifier: MIT
// Allocation from the free trees, and trimming.
#include "kmd/gpu_buddy_internal.h"

#include <algorithm>

namespace vramlab::kmd {
namespace {

gpu_buddy_free_tree preferred_tree(u32 flags)
{
    return flags & GPU_BUDDY_CLEAR_ALLOCATION ? GPU_BUDDY_CLEAR_TREE : GPU_BUDDY_DIRTY_TREE;
}

gpu_buddy_free_tree other_tree(gpu_buddy_free_tree tree)
{
    return tree == GPU_BUDDY_CLEAR_TREE ? GPU_BUDDY_DIRTY_TREE : GPU_BUDDY_CLEAR_TREE;
}

// fls(): of an int, so of the low 32 bits.
u32 fls(u64 n)
{
    return static_cast<u32>(std::bit_width(static_cast<u32>(n)));
}

// get_maxblock(): the block of at least that order with the highest offset.
block_id max_block(const gpu_buddy &mm, u32 order, gpu_buddy_free_tree tree)
{
    block_id best = no_block;
    for (u32 i = order; i <= mm.max_order; i++) {
        const block_id last = mm.free_trees[tree][i].last;
        if (last != no_block &&
            (best == no_block || gpu_buddy_block_offset(mm[last]) > gpu_buddy_block_offset(mm[best])))
            best = last;
    }
    return best;
}

// The smallest block of at least that order; of those the one with the highest offset.
block_id smallest_block(const gpu_buddy &mm, u32 order, gpu_buddy_free_tree tree)
{
    for (u32 i = order; i <= mm.max_order; i++)
        if (mm.free_trees[tree][i].last != no_block)
            return mm.free_trees[tree][i].last;
    return no_block;
}

block_id alloc_from_freetree(gpu_buddy &mm, u32 order, u32 flags)
{
    const gpu_buddy_free_tree tree = preferred_tree(flags);
    block_id id =
        flags & GPU_BUDDY_TOPDOWN_ALLOCATION ? max_block(mm, order, tree) : smallest_block(mm, order, tree);
    if (id == no_block)
        id = smallest_block(mm, order, other_tree(tree));
    if (id == no_block)
        return no_block;
    while (gpu_buddy_block_order(mm[id]) != order) {
        split_block(mm, id);
        id = mm[id].left + 1;
    }
    return id;
}

// gpu_buddy_find_block_aligned(): the highest block with at least that alignment.
block_id find_block_aligned(const gpu_buddy &mm, gpu_buddy_free_tree tree, u32 order, u32 alignment)
{
    const auto satisfies = [&](block_id id) {
        return id != no_block && mm[id].subtree_max_alignment >= alignment;
    };
    for (block_id id = mm.free_trees[tree][order].root; id != no_block;) {
        const gpu_buddy_block &b = mm[id];
        if (satisfies(b.rb.child[rb_right]))
            id = b.rb.child[rb_right];
        else if (gpu_buddy_block_offset_alignment(b) >= alignment)
            return id;
        else if (satisfies(b.rb.child[rb_left]))
            id = b.rb.child[rb_left];
        else
            break;
    }
    return no_block;
}

// gpu_buddy_offset_aligned_allocation(): a block smaller than its alignment. Note that the kernel goes on
// with the other tree once the first had nothing.
block_id alloc_offset_aligned(gpu_buddy &mm, u64 size, u64 min_block_size, u32 flags)
{
    const u32 alignment = ilog2(min_block_size);
    const u32 order = fls(size >> ilog2(mm.chunk_size)) - 1;
    gpu_buddy_free_tree tree = preferred_tree(flags);
    block_id id = no_block;
    for (u32 i = order; i <= mm.max_order && id == no_block; i++) {
        id = find_block_aligned(mm, tree, i, alignment);
        if (id == no_block) {
            tree = other_tree(tree);
            id = find_block_aligned(mm, tree, i, alignment);
        }
    }
    if (id == no_block)
        return no_block;
    while (gpu_buddy_block_order(mm[id]) > order) {
        split_block(mm, id);
        const block_id right = mm[id].left + 1;
        id = gpu_buddy_block_offset_alignment(mm[right]) >= alignment ? right : mm[id].left;
    }
    return id;
}

// What gpu_buddy_alloc_blocks() was asked for, rounded.
struct request {
    u64 start, end, size, min_block_size;
    u32 flags;
};

block_id alloc_block(gpu_buddy &mm, const request &r, u32 order)
{
    if (r.flags & GPU_BUDDY_RANGE_ALLOCATION)
        return alloc_range_bias(mm, r.start, r.end, order, r.flags);
    if (r.size < r.min_block_size)
        return alloc_offset_aligned(mm, r.size, r.min_block_size, r.flags);
    return alloc_from_freetree(mm, order, r.flags);
}

// One block of at most *order, which is lowered to what it became; no_block if there is none.
block_id alloc_next_block(gpu_buddy &mm, const request &r, u32 *order, u32 min_order)
{
    for (;;) {
        const block_id id = alloc_block(mm, r, *order);
        if (id != no_block)
            return id;
        if (r.size >= r.min_block_size && *order != min_order) {
            --*order;
            continue;
        }
        if (mm.clear_avail == 0 || force_merge(mm, r.start, r.end, *order) != 0)
            return no_block;
        return alloc_block(mm, r, *order);
    }
}

// Gives back what rounding the size up took too much of: from the last block, which must be alone in its list
// for that.
void trim_last(gpu_buddy &mm, gpu_buddy_list &allocated, u64 excess_bytes)
{
    const block_id last = allocated.last;
    gpu_buddy_list tail;
    gpu_buddy_list_del(mm, allocated, last);
    gpu_buddy_list_add_tail(mm, tail, last);
    gpu_buddy_block_trim(mm, nullptr, gpu_buddy_block_size(mm, last) - excess_bytes, tail);
    gpu_buddy_list_splice_tail(mm, tail, allocated);
}

int check_arguments(const gpu_buddy &mm, const request &r)
{
    if (r.size < mm.chunk_size || r.min_block_size < mm.chunk_size || !std::has_single_bit(r.min_block_size))
        return -EINVAL;
    if (!is_aligned(r.start | r.end | r.size, mm.chunk_size) || r.end > mm.size)
        return -EINVAL;
    if (r.start >= mm.size || r.size > mm.size - r.start)
        return -EINVAL;
    return 0;
}

} // namespace

int gpu_buddy_block_trim(gpu_buddy &mm, const u64 *start, u64 new_size, gpu_buddy_list &blocks)
{
    if (blocks.empty() || blocks.first != blocks.last)
        return -EINVAL;
    const block_id id = blocks.first;
    gpu_buddy_block &b = mm[id];
    const u64 block_start = gpu_buddy_block_offset(b);
    const u64 block_size = gpu_buddy_block_size(mm, b);
    const u64 block_end = block_start + block_size;
    bug_on(!gpu_buddy_block_is_allocated(b), "gpu_buddy_block_trim: not allocated");
    if (new_size > block_size || new_size == 0 || !is_aligned(new_size, mm.chunk_size))
        return -EINVAL;
    if (new_size == block_size)
        return 0;
    const u64 new_start = start ? *start : block_start;
    if (new_start < block_start || !is_aligned(new_start, mm.chunk_size) || new_start >= block_end ||
        new_size > block_end - new_start)
        return -EINVAL;

    blocks = {};
    mark_free(mm, id);
    mm.avail += block_size;
    if (gpu_buddy_block_is_clear(b))
        mm.clear_avail += block_size;

    // The block itself must not be merged away.
    const block_id parent = b.parent;
    b.parent = no_block;
    dfs_stack dfs;
    dfs.push(id);
    const int err = alloc_range(mm, dfs, new_start, new_size, blocks, nullptr);
    if (err)
        take_block(mm, id, blocks);
    b.parent = parent;
    return err;
}

int gpu_buddy_alloc_blocks(gpu_buddy &mm, u64 start, u64 end, u64 size, u64 min_block_size,
                           gpu_buddy_list &blocks, u32 flags)
{
    request r{start, end, size, min_block_size, flags};
    if (const int err = check_arguments(mm, r))
        return err;
    if (start + size == end) {
        if (!is_aligned(start | end, min_block_size))
            return -EINVAL;
        return alloc_range(mm, start, size, blocks, nullptr);
    }

    const bool contiguous = flags & GPU_BUDDY_CONTIGUOUS_ALLOCATION;
    const bool try_harder = contiguous && !(flags & GPU_BUDDY_RANGE_ALLOCATION);
    if (contiguous && size > u64{1} << 63) // has no power of two above it
        return try_harder ? alloc_contig_try_harder(mm, size, min_block_size, blocks) : -EINVAL;
    if (contiguous)
        r.size = r.min_block_size = std::bit_ceil(size);
    else if (size >= min_block_size || !std::has_single_bit(size)) // else aligned by offset, without rounding
        r.size = round_up(size, min_block_size);

    u64 pages = r.size >> ilog2(mm.chunk_size);
    u32 order = fls(pages) - 1;
    const u32 min_order = ilog2(r.min_block_size) - ilog2(mm.chunk_size);
    if (order > mm.max_order || r.size > mm.size)
        return try_harder ? alloc_contig_try_harder(mm, size, min_block_size, blocks) : -EINVAL;

    gpu_buddy_list allocated;
    while (pages) {
        order = std::min(order, fls(pages) - 1);
        bug_on(r.size >= r.min_block_size && order < min_order,
               "gpu_buddy_alloc_blocks: order below the minimum");
        const block_id id = alloc_next_block(mm, r, &order, min_order);
        if (id == no_block) {
            // A contiguous allocation is one block, so there is nothing to free.
            if (try_harder)
                return alloc_contig_try_harder(mm, size, min_block_size, blocks);
            free_list_internal(mm, allocated);
            return -ENOSPC;
        }
        take_block(mm, id, allocated);
        pages -= u64{1} << order;
    }
    if (!(flags & GPU_BUDDY_TRIM_DISABLE) && size != r.size)
        trim_last(mm, allocated, r.size - size);
    gpu_buddy_list_splice_tail(mm, allocated, blocks);
    return 0;
}

} // namespace vramlab::kmd
