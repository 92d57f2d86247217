// SPDX-License-Identifier: MIT
#include "kmd/gpu_buddy_rbtree.h"

#include <algorithm>
#include <bit>

namespace vramlab::kmd {
namespace {

constexpr u32 black = 1;

class rbtree {
public:
    rbtree(gpu_buddy &mm, const gpu_buddy_block &b)
        : mm_(mm), tree_(mm.free_trees[get_block_tree(b)][gpu_buddy_block_order(b)])
    {
    }

    void insert(block_id id);
    void erase(block_id id);

private:
    block_id parent(block_id id) const { return mm_[id].rb.parent_color >> 1; }
    block_id child(block_id id, u32 dir) const { return mm_[id].rb.child[dir]; }
    bool is_black(block_id id) const { return id == no_block || (mm_[id].rb.parent_color & black); }
    bool is_red(block_id id) const { return !is_black(id); }
    void set_parent(block_id id, block_id p) const
    {
        u32 &pc = mm_[id].rb.parent_color;
        pc = p << 1 | (pc & black);
    }
    void set_black(block_id id) const { mm_[id].rb.parent_color |= black; }
    void set_red(block_id id) const { mm_[id].rb.parent_color &= ~black; }
    u32 side(block_id p, block_id id) const { return child(p, rb_left) == id ? rb_left : rb_right; }

    void replace_child(block_id p, block_id old_id, block_id new_id)
    {
        if (p == no_block)
            tree_.root = new_id;
        else
            mm_[p].rb.child[side(p, old_id)] = new_id;
    }
    // From the node itself and its children. False if nothing changed.
    bool update_max(block_id id) const
    {
        gpu_buddy_block &b = mm_[id];
        u32 max = gpu_buddy_block_offset_alignment(b);
        for (const block_id c : b.rb.child)
            if (c != no_block)
                max = std::max<u32>(max, mm_[c].subtree_max_alignment);
        const bool changed = b.subtree_max_alignment != max;
        b.subtree_max_alignment = static_cast<u8>(max);
        return changed;
    }
    void update_max_upwards(block_id id) const
    {
        while (id != no_block && update_max(id))
            id = parent(id);
    }

    void rotate(block_id top, u32 dir);
    void fix_red_red(block_id id);
    block_id unlink(block_id id);
    void fix_black_height(block_id p, block_id id);

    gpu_buddy &mm_;
    gpu_buddy::free_tree &tree_;
};

// top goes down to the side dir, its child of the other side takes its place. Colours stay with the nodes.
void rbtree::rotate(block_id top, u32 dir)
{
    const block_id up = child(top, !dir);
    const block_id inner = child(up, dir);
    const block_id p = parent(top);
    mm_[top].rb.child[!dir] = inner;
    if (inner != no_block)
        set_parent(inner, top);
    mm_[up].rb.child[dir] = top;
    replace_child(p, top, up);
    set_parent(up, p);
    set_parent(top, up);
    mm_[up].subtree_max_alignment = mm_[top].subtree_max_alignment;
    update_max(top);
}

void rbtree::insert(block_id id)
{
    gpu_buddy_block &b = mm_[id];
    const u64 offset = gpu_buddy_block_offset(b);
    const u32 alignment = gpu_buddy_block_offset_alignment(b);
    block_id p = no_block;
    u32 dir = rb_left;
    bool last = true;
    for (block_id cur = tree_.root; cur != no_block; cur = child(p, dir)) {
        p = cur;
        gpu_buddy_block &node = mm_[cur];
        node.subtree_max_alignment = static_cast<u8>(std::max<u32>(node.subtree_max_alignment, alignment));
        dir = offset < gpu_buddy_block_offset(node) ? rb_left : rb_right;
        last &= dir == rb_right;
    }
    b.rb = {.parent_color = p << 1, .child = {no_block, no_block}};
    b.subtree_max_alignment = static_cast<u8>(alignment);
    if (p == no_block)
        tree_.root = id;
    else
        mm_[p].rb.child[dir] = id;
    if (last)
        tree_.last = id;
    fix_red_red(id);
}

// id is red, and so may its parent be.
void rbtree::fix_red_red(block_id id)
{
    for (;;) {
        block_id p = parent(id);
        if (p == no_block) {
            set_black(id);
            return;
        }
        if (is_black(p))
            return;
        const block_id gp = parent(p);
        const u32 dir = side(gp, p);
        const block_id uncle = child(gp, !dir);
        if (is_red(uncle)) {
            set_black(uncle);
            set_black(p);
            set_red(gp);
            id = gp;
            continue;
        }
        if (id == child(p, !dir)) {
            rotate(p, dir);
            p = id;
        }
        rotate(gp, !dir);
        set_black(p);
        set_red(gp);
        return;
    }
}

// Takes id out of the tree. Returns the node below which a black one is missing, or no_block.
block_id rbtree::unlink(block_id id)
{
    const gpu_buddy_block::rb_link rb = mm_[id].rb;
    const block_id p = rb.parent_color >> 1;
    if (rb.child[rb_left] == no_block || rb.child[rb_right] == no_block) {
        const block_id c = rb.child[rb_left] == no_block ? rb.child[rb_right] : rb.child[rb_left];
        replace_child(p, id, c);
        block_id rebalance = no_block;
        if (c != no_block)
            mm_[c].rb.parent_color = rb.parent_color; // c was red, id black
        else if (rb.parent_color & black)
            rebalance = p;
        update_max_upwards(p);
        return rebalance;
    }

    block_id successor = rb.child[rb_right];
    while (child(successor, rb_left) != no_block)
        successor = child(successor, rb_left);
    const block_id c = child(successor, rb_right);
    const bool was_black = is_black(successor);
    block_id lowest = parent(successor); // parent of what the successor leaves behind
    if (lowest == id) {
        lowest = successor;
    } else {
        mm_[lowest].rb.child[rb_left] = c;
        mm_[successor].rb.child[rb_right] = rb.child[rb_right];
        set_parent(rb.child[rb_right], successor);
    }
    mm_[successor].rb.child[rb_left] = rb.child[rb_left];
    set_parent(rb.child[rb_left], successor);
    replace_child(p, id, successor);
    mm_[successor].rb.parent_color = rb.parent_color;
    mm_[successor].subtree_max_alignment = mm_[id].subtree_max_alignment;
    block_id rebalance = no_block;
    if (c != no_block)
        mm_[c].rb.parent_color = lowest << 1 | black;
    else if (was_black)
        rebalance = lowest;
    update_max_upwards(lowest);
    update_max_upwards(successor);
    return rebalance;
}

void rbtree::erase(block_id id)
{
    if (tree_.last == id)
        tree_.last = rb_prev(mm_, id);
    const block_id rebalance = unlink(id);
    if (rebalance != no_block)
        fix_black_height(rebalance, no_block);
}

// Paths through id, a child of p (or none), have one black node too few.
void rbtree::fix_black_height(block_id p, block_id id)
{
    for (;;) {
        const u32 dir = side(p, id);
        block_id sibling = child(p, !dir);
        if (is_red(sibling)) {
            rotate(p, dir);
            set_black(sibling);
            set_red(p);
            sibling = child(p, !dir);
        }
        if (is_black(child(sibling, !dir))) {
            if (is_black(child(sibling, dir))) {
                set_red(sibling);
                if (is_red(p)) {
                    set_black(p);
                    return;
                }
                id = p;
                p = parent(id);
                if (p == no_block)
                    return;
                continue;
            }
            const block_id inner = child(sibling, dir);
            rotate(sibling, !dir);
            set_black(inner);
            set_red(sibling);
            sibling = inner;
        }
        rotate(p, dir);
        if (is_red(p))
            set_red(sibling);
        else
            set_black(sibling);
        set_black(p);
        set_black(child(sibling, !dir));
        return;
    }
}

struct subtree_facts {
    u32 black_height = 0;
    u64 count = 0;
    const char *wrong = nullptr;
};

subtree_facts check_subtree(const gpu_buddy &mm, block_id id, block_id parent, u64 low, u64 high)
{
    if (id == no_block)
        return {.black_height = 1};
    const gpu_buddy_block &b = mm[id];
    const u64 offset = gpu_buddy_block_offset(b);
    const bool is_black = b.rb.parent_color & black;
    if (b.rb.parent_color >> 1 != parent)
        return {.wrong = "wrong parent"};
    if (offset < low || offset > high)
        return {.wrong = "out of order"};
    if (!is_black && (parent == no_block || !(mm[parent].rb.parent_color & black)))
        return {.wrong = "red below red"};
    u32 max = gpu_buddy_block_offset_alignment(b);
    for (const block_id c : b.rb.child)
        if (c != no_block)
            max = std::max<u32>(max, mm[c].subtree_max_alignment);
    if (max != b.subtree_max_alignment)
        return {.wrong = "wrong subtree_max_alignment"};
    const subtree_facts l = check_subtree(mm, b.rb.child[rb_left], id, low, offset ? offset - 1 : 0);
    const subtree_facts r = check_subtree(mm, b.rb.child[rb_right], id, offset + 1, high);
    if (l.wrong || r.wrong)
        return l.wrong ? l : r;
    if (l.black_height != r.black_height)
        return {.wrong = "black heights differ"};
    return {.black_height = l.black_height + is_black, .count = l.count + r.count + 1};
}

} // namespace

u32 gpu_buddy_block_offset_alignment(const gpu_buddy_block &b)
{
    const u64 offset = gpu_buddy_block_offset(b);
    return offset ? static_cast<u32>(std::countr_zero(offset)) : 64 + 1;
}

void rbtree_insert(gpu_buddy &mm, block_id id)
{
    rbtree(mm, mm[id]).insert(id);
}

void rbtree_remove(gpu_buddy &mm, block_id id)
{
    rbtree(mm, mm[id]).erase(id);
}

block_id rb_prev(const gpu_buddy &mm, block_id id)
{
    block_id cur = mm[id].rb.child[rb_left];
    if (cur != no_block) {
        while (mm[cur].rb.child[rb_right] != no_block)
            cur = mm[cur].rb.child[rb_right];
        return cur;
    }
    cur = mm[id].rb.parent_color >> 1;
    while (cur != no_block && mm[cur].rb.child[rb_left] == id) {
        id = cur;
        cur = mm[id].rb.parent_color >> 1;
    }
    return cur;
}

block_id rb_first_postorder(const gpu_buddy &mm, block_id id)
{
    while (id != no_block) {
        const auto &c = mm[id].rb.child;
        const block_id next = c[rb_left] != no_block ? c[rb_left] : c[rb_right];
        if (next == no_block)
            break;
        id = next;
    }
    return id;
}

block_id rb_next_postorder(const gpu_buddy &mm, block_id id)
{
    const block_id p = mm[id].rb.parent_color >> 1;
    if (p != no_block && mm[p].rb.child[rb_left] == id && mm[p].rb.child[rb_right] != no_block)
        return rb_first_postorder(mm, mm[p].rb.child[rb_right]);
    return p;
}

std::string rbtree_check(const gpu_buddy &mm, gpu_buddy_free_tree tree, u32 order, u64 *count)
{
    const gpu_buddy::free_tree &t = mm.free_trees[tree][order];
    const subtree_facts f = check_subtree(mm, t.root, no_block, 0, ~u64{0});
    *count = f.count;
    block_id last = t.root;
    while (last != no_block && mm[last].rb.child[rb_right] != no_block)
        last = mm[last].rb.child[rb_right];
    if (f.wrong)
        return f.wrong;
    return last == t.last ? "" : "wrong last block";
}

} // namespace vramlab::kmd
