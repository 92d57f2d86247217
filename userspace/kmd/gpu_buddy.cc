// SPDX-License-Identifier: MIT
// The tree of blocks: init and fini, splitting, freeing, merging.
#include "kmd/gpu_buddy.h"

#include "kmd/gpu_buddy_internal.h"

namespace vramlab::kmd {
namespace {

void clear_reset(gpu_buddy_block &b)
{
    b.header &= ~GPU_BUDDY_HEADER_CLEAR;
}

void mark_cleared(gpu_buddy_block &b)
{
    b.header |= GPU_BUDDY_HEADER_CLEAR;
}

void set_state(gpu_buddy_block &b, u64 state)
{
    b.header = (b.header & ~GPU_BUDDY_HEADER_STATE) | state;
}

// n entries of the arena, in a row.
block_id arena_extend(gpu_buddy &mm, u32 n)
{
    const block_id first = mm.arena_used;
    bug_on(first > 0x7fff'ffff - n, "gpu_buddy: more blocks than the model holds");
    mm.arena_used += n;
    while (u64{mm.arena.size()} << gpu_buddy::arena_shift < mm.arena_used)
        mm.arena.push_back(std::make_unique<gpu_buddy_block[]>(1u << gpu_buddy::arena_shift));
    return first;
}

void block_init(gpu_buddy &mm, block_id id, block_id parent, u32 order, u64 offset)
{
    gpu_buddy_block &b = mm[id];
    b = {};
    b.header = offset | order;
    b.parent = parent;
}

block_id get_buddy(const gpu_buddy &mm, block_id id)
{
    const block_id parent = mm[id].parent;
    if (parent == no_block)
        return no_block;
    const block_id left = mm[parent].left;
    return id == left ? left + 1 : left;
}

void remove_free(gpu_buddy &mm, block_id id)
{
    rbtree_remove(mm, id);
    mm.free_scoreboard[gpu_buddy_block_order(mm[id])]--;
}

// fn(root, start, size of it and all roots behind, order). Both callers of __force_merge() over whole roots
// pass that size.
template <typename Fn> void for_each_root(gpu_buddy &mm, Fn &&fn)
{
    u64 rest = mm.size;
    for (u32 i = 0; i < mm.n_roots; i++) {
        const block_id root = mm.first_root + i;
        const u32 order = ilog2(rest) - ilog2(mm.chunk_size);
        fn(root, gpu_buddy_block_offset(mm[root]), rest, order);
        rest -= mm.chunk_size << order;
    }
}

} // namespace

void mark_allocated(gpu_buddy &mm, block_id id)
{
    gpu_buddy_block &b = mm[id];
    set_state(b, GPU_BUDDY_ALLOCATED);
    mm.used_scoreboard[gpu_buddy_block_order(b)]++;
    remove_free(mm, id);
}

void mark_free(gpu_buddy &mm, block_id id)
{
    gpu_buddy_block &b = mm[id];
    if (gpu_buddy_block_is_allocated(b))
        mm.used_scoreboard[gpu_buddy_block_order(b)]--;
    set_state(b, GPU_BUDDY_FREE);
    mm.free_scoreboard[gpu_buddy_block_order(b)]++;
    rbtree_insert(mm, id);
}

void split_block(gpu_buddy &mm, block_id id)
{
    bug_on(!gpu_buddy_block_is_free(mm[id]) || gpu_buddy_block_order(mm[id]) == 0, "gpu_buddy: cannot split");
    block_id left = mm.free_pair;
    if (left != no_block)
        mm.free_pair = mm[left].left;
    else
        left = arena_extend(mm, 2);

    gpu_buddy_block &b = mm[id];
    const u32 order = gpu_buddy_block_order(b) - 1;
    const u64 offset = gpu_buddy_block_offset(b);
    block_init(mm, left, id, order, offset);
    block_init(mm, left + 1, id, order, offset + (mm.chunk_size << order));
    b.left = left;

    set_state(b, GPU_BUDDY_SPLIT);
    remove_free(mm, id);
    if (gpu_buddy_block_is_clear(b)) {
        mark_cleared(mm[left]);
        mark_cleared(mm[left + 1]);
        clear_reset(b);
    }
    mark_free(mm, left);
    mark_free(mm, left + 1);
}

u32 gpu_buddy_merge_and_free(gpu_buddy &mm, block_id id, bool force)
{
    for (block_id parent = mm[id].parent; parent != no_block; parent = mm[id].parent) {
        const gpu_buddy_block &b = mm[id];
        const block_id buddy = get_buddy(mm, id);
        if (!gpu_buddy_block_is_free(mm[buddy]))
            break;
        if (!force) {
            if (gpu_buddy_block_is_clear(b) != gpu_buddy_block_is_clear(mm[buddy]))
                break;
            if (gpu_buddy_block_is_clear(b))
                mark_cleared(mm[parent]);
        }
        remove_free(mm, buddy);
        if (force && gpu_buddy_block_is_clear(mm[buddy]))
            mm.clear_avail -= gpu_buddy_block_size(mm, buddy);
        if (gpu_buddy_block_is_allocated(b))
            mm.used_scoreboard[gpu_buddy_block_order(b)]--;

        const block_id left = mm[parent].left;
        mm[left].left = mm.free_pair;
        mm.free_pair = left;
        mm[parent].left = no_block;
        id = parent;
    }
    mark_free(mm, id);
    return gpu_buddy_block_order(mm[id]);
}

int force_merge(gpu_buddy &mm, u64 start, u64 end, u32 min_order)
{
    if (min_order == 0)
        return -ENOMEM;
    if (min_order > mm.max_order)
        return -EINVAL;
    for (const auto &trees : mm.free_trees) {
        for (u32 i = min_order; i-- > 0;) {
            for (block_id iter = trees[i].last; iter != no_block;) {
                const block_id block = iter;
                iter = rb_prev(mm, iter);
                if (mm[block].parent == no_block || !contains({start, end}, range_of(mm, mm[block])))
                    continue;
                const block_id buddy = get_buddy(mm, block);
                if (!gpu_buddy_block_is_free(mm[buddy]))
                    continue;
                bug_on(gpu_buddy_block_is_clear(mm[block]) == gpu_buddy_block_is_clear(mm[buddy]),
                       "gpu_buddy: free siblings that should have been merged");
                // The buddy leaves the tree too.
                if (iter == buddy)
                    iter = rb_prev(mm, iter);
                remove_free(mm, block);
                if (gpu_buddy_block_is_clear(mm[block]))
                    mm.clear_avail -= gpu_buddy_block_size(mm, block);
                if (gpu_buddy_merge_and_free(mm, block, true) >= min_order)
                    return 0;
            }
        }
    }
    return -ENOMEM;
}

int gpu_buddy_init(gpu_buddy &mm, u64 size, u64 chunk_size)
{
    if (size < chunk_size || chunk_size < 4096 || !std::has_single_bit(chunk_size))
        return -EINVAL;
    size = round_down(size, chunk_size);
    mm = {};
    mm.size = size;
    mm.avail = size;
    mm.chunk_size = chunk_size;
    mm.max_order = ilog2(size) - ilog2(chunk_size);
    mm.n_roots = static_cast<u32>(std::popcount(size));
    for (auto &trees : mm.free_trees)
        trees.assign(mm.max_order + 1, {});
    mm.free_scoreboard.assign(mm.max_order + 1, 0);
    mm.used_scoreboard.assign(mm.max_order + 1, 0);

    mm.first_root = arena_extend(mm, mm.n_roots);
    u64 offset = 0;
    for (block_id root = mm.first_root; size; root++) {
        const u32 order = ilog2(size) - ilog2(chunk_size);
        block_init(mm, root, no_block, order, offset);
        mark_free(mm, root);
        offset += chunk_size << order;
        size -= chunk_size << order;
    }
    return 0;
}

void gpu_buddy_fini(gpu_buddy &mm)
{
    bool all_free = mm.avail == mm.size;
    for_each_root(mm, [&](block_id root, u64 start, u64 rest, u32 order) {
        force_merge(mm, start, start + rest, order);
        all_free &= gpu_buddy_block_is_free(mm[root]);
    });
    for (const u64 used : mm.used_scoreboard)
        all_free &= used == 0;
    mm = {};
    bug_on(!all_free, "gpu_buddy_fini: blocks are still allocated");
}

// What is not reached stays as it was: the walk goes by the shape that a tree has while blocks are taken out
// of it.
void gpu_buddy_reset_clear(gpu_buddy &mm, bool is_clear)
{
    for_each_root(
        mm, [&](block_id, u64 start, u64 rest, u32 order) { force_merge(mm, start, start + rest, order); });

    for (const auto &tree : mm.free_trees[is_clear ? GPU_BUDDY_DIRTY_TREE : GPU_BUDDY_CLEAR_TREE]) {
        block_id next = no_block;
        for (block_id id = rb_first_postorder(mm, tree.root); id != no_block; id = next) {
            next = rb_next_postorder(mm, id);
            gpu_buddy_block &b = mm[id];
            rbtree_remove(mm, id);
            if (is_clear) {
                mark_cleared(b);
                mm.clear_avail += gpu_buddy_block_size(mm, b);
            } else {
                clear_reset(b);
                mm.clear_avail -= gpu_buddy_block_size(mm, b);
            }
            rbtree_insert(mm, id);
        }
    }
}

void gpu_buddy_free_block(gpu_buddy &mm, block_id id)
{
    const gpu_buddy_block &b = mm[id];
    bug_on(!gpu_buddy_block_is_allocated(b), "gpu_buddy_free_block: not allocated");
    mm.avail += gpu_buddy_block_size(mm, b);
    if (gpu_buddy_block_is_clear(b))
        mm.clear_avail += gpu_buddy_block_size(mm, b);
    gpu_buddy_merge_and_free(mm, id, false);
}

void free_list_internal(gpu_buddy &mm, gpu_buddy_list &blocks)
{
    for (block_id id = blocks.first, next = no_block; id != no_block; id = next) {
        next = mm[id].link.next;
        gpu_buddy_free_block(mm, id);
    }
    blocks = {};
}

void gpu_buddy_free_list(gpu_buddy &mm, gpu_buddy_list &blocks, u32 flags)
{
    for (block_id id = blocks.first, next = no_block; id != no_block; id = next) {
        next = mm[id].link.next;
        if (flags & GPU_BUDDY_CLEARED)
            mark_cleared(mm[id]);
        else
            clear_reset(mm[id]);
        gpu_buddy_free_block(mm, id);
    }
    blocks = {};
}

block_id gpu_buddy_allocated_addr_to_block(const gpu_buddy &mm, u64 addr)
{
    const byte_range chunk{addr, addr + mm.chunk_size - 1};
    dfs_stack dfs;
    dfs.push_roots(mm);
    for (block_id id = dfs.pop(); id != no_block; id = dfs.pop()) {
        const gpu_buddy_block &b = mm[id];
        if (!overlaps(chunk, range_of(mm, b)))
            continue;
        if (gpu_buddy_block_is_allocated(b))
            return id;
        if (gpu_buddy_block_is_free(b))
            return no_block;
        dfs.push_children(b);
    }
    return block_enxio;
}

void gpu_buddy_list_add_tail(gpu_buddy &mm, gpu_buddy_list &list, block_id id)
{
    mm[id].link = {.prev = list.last, .next = no_block};
    (list.last == no_block ? list.first : mm[list.last].link.next) = id;
    list.last = id;
}

void gpu_buddy_list_del(gpu_buddy &mm, gpu_buddy_list &list, block_id id)
{
    const gpu_buddy_block::list_link link = mm[id].link;
    (link.prev == no_block ? list.first : mm[link.prev].link.next) = link.next;
    (link.next == no_block ? list.last : mm[link.next].link.prev) = link.prev;
}

void gpu_buddy_list_splice_tail(gpu_buddy &mm, gpu_buddy_list &from, gpu_buddy_list &to)
{
    if (from.empty())
        return;
    mm[from.first].link.prev = to.last;
    (to.last == no_block ? to.first : mm[to.last].link.next) = from.first;
    to.last = from.last;
    from = {};
}

} // namespace vramlab::kmd
