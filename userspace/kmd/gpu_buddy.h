// SPDX-License-Identifier: MIT
// Models drivers/gpu/buddy.c and include/linux/gpu_buddy.h: the binary buddy allocator of VRAM, with its
// clear and dirty free trees. Chooses the same blocks as the kernel: free blocks of an order are kept by
// offset in the same red-black trees (gpu_buddy_rbtree.h), since gpu_buddy_reset_clear() goes by a tree's
// shape. Omits: -ENOMEM of block structures (so no undoing of splits), `private` of a block, lockdep,
// gpu_buddy_print().
//
// Blocks are named by block_id and live in an arena of 32-byte entries; siblings are neighbours. A block_id
// stays good until its block is freed or merged away, a reference to a block likewise. Sizes and offsets are
// in bytes.
#pragma once

#include "base/types.h"

#include <memory>
#include <string>
#include <vector>

namespace vramlab::kmd {

inline constexpr u32 GPU_BUDDY_RANGE_ALLOCATION = 1u << 0;      // within [start, end)
inline constexpr u32 GPU_BUDDY_TOPDOWN_ALLOCATION = 1u << 1;    // from high offsets down
inline constexpr u32 GPU_BUDDY_CONTIGUOUS_ALLOCATION = 1u << 2; // one range, or -ENOSPC
inline constexpr u32 GPU_BUDDY_CLEAR_ALLOCATION = 1u << 3;      // prefer cleared blocks
inline constexpr u32 GPU_BUDDY_CLEARED = 1u << 4;      // of gpu_buddy_free_list(): what is freed is cleared
inline constexpr u32 GPU_BUDDY_TRIM_DISABLE = 1u << 5; // keep the power of two

enum gpu_buddy_free_tree : u8 { GPU_BUDDY_CLEAR_TREE, GPU_BUDDY_DIRTY_TREE, GPU_BUDDY_MAX_FREE_TREES };

inline constexpr u32 GPU_BUDDY_MAX_ORDER = 63 - 12; // chunks are at least 4096 bytes

using block_id = u32;
inline constexpr block_id no_block = 0;
inline constexpr block_id block_enxio =
    ~block_id{0}; // ERR_PTR(-ENXIO), of gpu_buddy_allocated_addr_to_block() only

// The bits of a header, as in the kernel: offset 63:12, state 11:10, clear 9, order 5:0.
inline constexpr u64 GPU_BUDDY_HEADER_OFFSET = ~u64{0xfff};
inline constexpr u64 GPU_BUDDY_HEADER_STATE = u64{3} << 10;
inline constexpr u64 GPU_BUDDY_ALLOCATED = u64{1} << 10;
inline constexpr u64 GPU_BUDDY_FREE = u64{2} << 10;
inline constexpr u64 GPU_BUDDY_SPLIT = u64{3} << 10;
inline constexpr u64 GPU_BUDDY_HEADER_CLEAR = u64{1} << 9;
inline constexpr u64 GPU_BUDDY_HEADER_ORDER = 0x3f;

struct gpu_buddy_block {
    u64 header = 0;
    block_id left = no_block; // the right child is left + 1
    block_id parent = no_block;
    // A free block is in a tree, an allocated one in its user's list, a split one in neither.
    struct rb_link {
        u32 parent_color;  // parent << 1 | black
        block_id child[2]; // left, right
    };
    struct list_link {
        block_id prev, next; // no_block at the ends
    };
    union {
        rb_link rb;
        list_link link;
    };
    u8 subtree_max_alignment = 0; // over the tree's subtree of this block

    gpu_buddy_block() : rb{} {}
};
static_assert(sizeof(gpu_buddy_block) == 32);

inline u64 gpu_buddy_block_offset(const gpu_buddy_block &b)
{
    return b.header & GPU_BUDDY_HEADER_OFFSET;
}
inline u32 gpu_buddy_block_order(const gpu_buddy_block &b)
{
    return static_cast<u32>(b.header & GPU_BUDDY_HEADER_ORDER);
}
inline bool gpu_buddy_block_is_allocated(const gpu_buddy_block &b)
{
    return (b.header & GPU_BUDDY_HEADER_STATE) == GPU_BUDDY_ALLOCATED;
}
inline bool gpu_buddy_block_is_free(const gpu_buddy_block &b)
{
    return (b.header & GPU_BUDDY_HEADER_STATE) == GPU_BUDDY_FREE;
}
inline bool gpu_buddy_block_is_split(const gpu_buddy_block &b)
{
    return (b.header & GPU_BUDDY_HEADER_STATE) == GPU_BUDDY_SPLIT;
}
inline bool gpu_buddy_block_is_clear(const gpu_buddy_block &b)
{
    return (b.header & GPU_BUDDY_HEADER_CLEAR) != 0;
}

// A list of allocated blocks, linked through the blocks: the kernel's list_head of blocks. Plain data;
// whoever holds it owns the blocks.
struct gpu_buddy_list {
    block_id first = no_block;
    block_id last = no_block;
    bool empty() const { return first == no_block; }
};

struct gpu_buddy {
    u32 n_roots = 0;
    u32 max_order = 0;
    u64 chunk_size = 0;
    u64 size = 0;
    u64 avail = 0;
    u64 clear_avail = 0;

    // private:
    struct free_tree {
        block_id root = no_block;
        block_id last = no_block; // highest offset
    };
    std::vector<free_tree> free_trees[GPU_BUDDY_MAX_FREE_TREES]; // by order
    std::vector<u64> free_scoreboard;                            // free blocks by order
    std::vector<u64> used_scoreboard;                            // allocated blocks by order
    block_id first_root = no_block; // roots are first_root .. first_root + n_roots - 1

    static constexpr u32 arena_shift = 10; // blocks in a slab of the arena, log2
    std::vector<std::unique_ptr<gpu_buddy_block[]>> arena;
    block_id arena_used = 1;       // entries ever given out; 0 is no_block
    block_id free_pair = no_block; // freed siblings, linked through `left`

    gpu_buddy_block &operator[](block_id id)
    {
        return arena[id >> arena_shift][id & ((1u << arena_shift) - 1)];
    }
    const gpu_buddy_block &operator[](block_id id) const
    {
        return arena[id >> arena_shift][id & ((1u << arena_shift) - 1)];
    }
};

// 0, or -EINVAL (size below chunk_size, chunk_size below 4096 or no power of two).
int gpu_buddy_init(gpu_buddy &mm, u64 size, u64 chunk_size);
// Every block must be free: else a std::logic_error (the kernel's gpu_buddy_assert()).
void gpu_buddy_fini(gpu_buddy &mm);

// Appends blocks of altogether `size` bytes to the list. 0, -EINVAL (arguments; order too large and not
// contiguous), -ENOSPC. If start + size == end: exactly that range, whatever the flags.
int gpu_buddy_alloc_blocks(gpu_buddy &mm, u64 start, u64 end, u64 size, u64 min_block_size,
                           gpu_buddy_list &blocks, u32 flags);
// Frees what of the list's only block is outside of [*start, *start + new_size); start nullptr: its
// beginning.
int gpu_buddy_block_trim(gpu_buddy &mm, const u64 *start, u64 new_size, gpu_buddy_list &blocks);
void gpu_buddy_reset_clear(gpu_buddy &mm, bool is_clear);
// The block must be allocated and in no list any more.
void gpu_buddy_free_block(gpu_buddy &mm, block_id block);
// no_block if that chunk is free, block_enxio if it is outside.
block_id gpu_buddy_allocated_addr_to_block(const gpu_buddy &mm, u64 addr);
// Frees every block and empties the list. GPU_BUDDY_CLEARED: marks them clear, else dirty.
void gpu_buddy_free_list(gpu_buddy &mm, gpu_buddy_list &blocks, u32 flags);

inline u64 gpu_buddy_block_size(const gpu_buddy &mm, const gpu_buddy_block &b)
{
    return mm.chunk_size << gpu_buddy_block_order(b);
}
inline u64 gpu_buddy_block_offset(const gpu_buddy &mm, block_id b)
{
    return gpu_buddy_block_offset(mm[b]);
}
inline u64 gpu_buddy_block_size(const gpu_buddy &mm, block_id b)
{
    return gpu_buddy_block_size(mm, mm[b]);
}

// linux/list.h on a gpu_buddy_list.
void gpu_buddy_list_add_tail(gpu_buddy &mm, gpu_buddy_list &list, block_id block);
void gpu_buddy_list_del(gpu_buddy &mm, gpu_buddy_list &list, block_id block);
void gpu_buddy_list_splice_tail(gpu_buddy &mm, gpu_buddy_list &from, gpu_buddy_list &to); // empties from
inline block_id gpu_buddy_list_next(const gpu_buddy &mm, block_id block)
{
    return mm[block].link.next;
}

// fn(const gpu_buddy_block &) for each block of the list, in list order. fn must not free it.
template <typename Fn> void gpu_buddy_for_each_block(const gpu_buddy &mm, const gpu_buddy_list &list, Fn &&fn)
{
    for (block_id b = list.first; b != no_block; b = mm[b].link.next)
        fn(mm[b]);
}

// fn(u64 offset_bytes, u64 size_bytes) for each free block by ascending offset: the "free" line of the state.
template <typename Fn> void gpu_buddy_for_each_free(const gpu_buddy &mm, Fn &&fn)
{
    std::vector<block_id> dfs;
    for (u32 i = mm.n_roots; i > 0; i--)
        dfs.push_back(mm.first_root + i - 1);
    while (!dfs.empty()) {
        const gpu_buddy_block &b = mm[dfs.back()];
        dfs.pop_back();
        if (gpu_buddy_block_is_free(b))
            fn(gpu_buddy_block_offset(b), gpu_buddy_block_size(mm, b));
        else if (gpu_buddy_block_is_split(b)) {
            dfs.push_back(b.left + 1);
            dfs.push_back(b.left);
        }
    }
}

// Empty if the trees, scoreboards and sums agree with each other, else what does not. For tests; visits every
// block.
std::string gpu_buddy_check(const gpu_buddy &mm);

} // namespace vramlab::kmd
