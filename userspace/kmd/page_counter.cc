// SPDX-License-Identifier: GPL-2.0 OR MIT
#include "kmd/page_counter.h"

#include <algorithm>
#include <stdexcept>

namespace vramlab::kmd {
namespace {

// One of min and low: tells the parent how much of its children's usage is protected.
void propagate(u64 usage, u64 limit, u64 &protected_usage, u64 &parent_children_usage)
{
    const u64 now = std::min(usage, limit);
    parent_children_usage += now - protected_usage;
    protected_usage = now;
}

// propagate_protected_usage()
void propagate_protected_usage(page_counter &c)
{
    if (!c.parent)
        return;
    propagate(c.usage, c.min, c.min_usage, c.parent->children_min_usage);
    propagate(c.usage, c.low, c.low_usage, c.parent->children_low_usage);
}

// page_counter_cancel()
void cancel(page_counter &c, u64 size_bytes)
{
    if (c.usage < size_bytes)
        throw std::logic_error("page_counter: underflow");
    c.usage -= size_bytes;
    propagate_protected_usage(c);
}

// mul_u64_u64_div_u64()
u64 mul_div(u64 a, u64 b, u64 c)
{
    __extension__ using u128 = unsigned __int128;
    return static_cast<u64>(u128{a} * b / c);
}

struct level {
    u64 usage;
    u64 parent_usage;
    u64 setting;
    u64 parent_effective;
    u64 siblings_protected; // usage under protection of all children of the parent
};

// effective_protection(): claims that together exceed the parent's protection are scaled down; what they
// leave of it is shared out by unprotected usage.
u64 effective_protection(const level &l, bool recursive_protection)
{
    const u64 claimed = std::min(l.usage, l.setting);
    if (l.siblings_protected > l.parent_effective)
        return mul_div(claimed, l.parent_effective, l.siblings_protected);
    if (!recursive_protection || l.parent_effective <= l.siblings_protected ||
        l.parent_usage <= l.siblings_protected || l.usage <= claimed)
        return claimed;
    const u64 parent_unclaimed = l.parent_effective - l.siblings_protected;
    const u64 parent_unprotected = l.parent_usage - l.siblings_protected;
    const u64 unprotected = std::min(l.usage - claimed, parent_unprotected);
    return claimed + mul_div(parent_unclaimed, unprotected, parent_unprotected);
}

void set_protection(page_counter &counter)
{
    for (page_counter *c = &counter; c; c = c->parent)
        propagate_protected_usage(*c);
}

} // namespace

bool page_counter_try_charge(page_counter &counter, u64 size_bytes, page_counter **fail)
{
    for (page_counter *c = &counter; c; c = c->parent) {
        if (c->usage + size_bytes > c->max) {
            *fail = c;
            for (page_counter *undo = &counter; undo != c; undo = undo->parent)
                cancel(*undo, size_bytes);
            return false;
        }
        c->usage += size_bytes;
        propagate_protected_usage(*c);
        c->watermark = std::max(c->watermark, c->usage);
    }
    return true;
}

void page_counter_uncharge(page_counter &counter, u64 size_bytes)
{
    for (page_counter *c = &counter; c; c = c->parent)
        cancel(*c, size_bytes);
}

void page_counter_set_min(page_counter &c, u64 size_bytes)
{
    c.min = size_bytes;
    set_protection(c);
}

void page_counter_set_low(page_counter &c, u64 size_bytes)
{
    c.low = size_bytes;
    set_protection(c);
}

void page_counter_calculate_protection(const page_counter &root, page_counter &c, bool recursive_protection)
{
    // Stale values of an unused counter stay: nothing of it can be evicted.
    if (&root == &c || c.usage == 0)
        return;
    const page_counter *parent = c.parent;
    if (parent == &root) {
        c.emin = c.min;
        c.elow = c.low;
        return;
    }
    const auto effective = [&](u64 setting, u64 parent_effective, u64 siblings_protected) {
        return effective_protection({c.usage, parent->usage, setting, parent_effective, siblings_protected},
                                    recursive_protection);
    };
    c.emin = effective(c.min, parent->emin, parent->children_min_usage);
    c.elow = effective(c.low, parent->elow, parent->children_low_usage);
}

} // namespace vramlab::kmd
