// SPDX-License-Identifier: MIT
// Consistency of a gpu_buddy, for tests.
#include "kmd/gpu_buddy_internal.h"

namespace vramlab::kmd {
namespace {

struct totals {
    explicit totals(const gpu_buddy &mm) : free_blocks(mm.max_order + 1), used_blocks(mm.max_order + 1) {}
    std::vector<u64> free_blocks, used_blocks; // by order
    u64 free_bytes = 0;
    u64 clear_bytes = 0;
};

const char *check_children(const gpu_buddy &mm, block_id id)
{
    const gpu_buddy_block &b = mm[id];
    const gpu_buddy_block &l = mm[b.left];
    const gpu_buddy_block &r = mm[b.left + 1];
    if (gpu_buddy_block_is_clear(b))
        return "a split block is clear";
    if (l.parent != id || r.parent != id)
        return "a child's parent is wrong";
    if (gpu_buddy_block_order(l) + 1 != gpu_buddy_block_order(b) ||
        gpu_buddy_block_order(r) != gpu_buddy_block_order(l))
        return "a child's order is wrong";
    if (gpu_buddy_block_offset(l) != gpu_buddy_block_offset(b) ||
        gpu_buddy_block_offset(r) != gpu_buddy_block_offset(b) + gpu_buddy_block_size(mm, r))
        return "a child's offset is wrong";
    if (gpu_buddy_block_is_free(l) && gpu_buddy_block_is_free(r) &&
        gpu_buddy_block_is_clear(l) == gpu_buddy_block_is_clear(r))
        return "free siblings were not merged";
    return nullptr;
}

} // namespace

std::string gpu_buddy_check(const gpu_buddy &mm)
{
    totals t(mm);
    dfs_stack dfs;
    dfs.push_roots(mm);
    for (block_id id = dfs.pop(); id != no_block; id = dfs.pop()) {
        const gpu_buddy_block &b = mm[id];
        const u32 order = gpu_buddy_block_order(b);
        if (gpu_buddy_block_is_split(b)) {
            if (const char *wrong = check_children(mm, id))
                return wrong;
            dfs.push_children(b);
        } else if (gpu_buddy_block_is_free(b)) {
            t.free_blocks[order]++;
            t.free_bytes += gpu_buddy_block_size(mm, b);
            if (gpu_buddy_block_is_clear(b))
                t.clear_bytes += gpu_buddy_block_size(mm, b);
        } else if (gpu_buddy_block_is_allocated(b)) {
            t.used_blocks[order]++;
        } else {
            return "a block has no state";
        }
    }
    if (t.free_bytes != mm.avail || t.clear_bytes != mm.clear_avail)
        return "avail or clear_avail is wrong";
    if (t.free_blocks != mm.free_scoreboard || t.used_blocks != mm.used_scoreboard)
        return "a scoreboard is wrong";
    for (u32 order = 0; order <= mm.max_order; order++) {
        u64 clear = 0;
        u64 dirty = 0;
        const std::string wrong = rbtree_check(mm, GPU_BUDDY_CLEAR_TREE, order, &clear) +
                                  rbtree_check(mm, GPU_BUDDY_DIRTY_TREE, order, &dirty);
        if (!wrong.empty())
            return wrong;
        if (clear + dirty != t.free_blocks[order])
            return "a free block is in no tree";
    }
    return "";
}

} // namespace vramlab::kmd
