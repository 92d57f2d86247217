// SPDX-License-Identifier: MIT
// Private to gpu_buddy*.cc. The free trees of gpu_buddy: red-black trees of blocks by offset, augmented with
// the greatest alignment in each subtree. Models what drivers/gpu/buddy.c does with lib/rbtree.c: the
// textbook algorithm with the successor as replacement, so that trees have the same shape after the same
// operations.
#pragma once

#include "kmd/gpu_buddy.h"

namespace vramlab::kmd {

inline constexpr u32 rb_left = 0;
inline constexpr u32 rb_right = 1;

inline gpu_buddy_free_tree get_block_tree(const gpu_buddy_block &b)
{
    return gpu_buddy_block_is_clear(b) ? GPU_BUDDY_CLEAR_TREE : GPU_BUDDY_DIRTY_TREE;
}

// log2 of the alignment of the block's offset; 65 for offset 0.
u32 gpu_buddy_block_offset_alignment(const gpu_buddy_block &b);

// Into, and out of, the tree of the block's clear bit and order.
void rbtree_insert(gpu_buddy &mm, block_id id);
void rbtree_remove(gpu_buddy &mm, block_id id);

block_id rb_prev(const gpu_buddy &mm, block_id id); // by offset
block_id rb_first_postorder(const gpu_buddy &mm, block_id root);
block_id rb_next_postorder(const gpu_buddy &mm, block_id id);

// Empty, or what is wrong with the tree.
std::string rbtree_check(const gpu_buddy &mm, gpu_buddy_free_tree tree, u32 order, u64 *count);

} // namespace vramlab::kmd
