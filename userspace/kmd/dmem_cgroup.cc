// SPDX-License-Identifier: GPL-2.0 OR MIT
#include "kmd/dmem_cgroup.h"

#include "kmd/trace.h"

#include <algorithm>
#include <stdexcept>
#include <utility>

namespace vramlab::kmd {
namespace {

constexpr u32 DMEM_MAX_RECLAIM_RETRIES = 16;

dmem_cgroup_pool_state *pool_of(page_counter &c)
{
    static_assert(offsetof(dmem_cgroup_pool_state, cnt) == 0);
    return reinterpret_cast<dmem_cgroup_pool_state *>(&c);
}

dmem_cgroup_pool_state *pool_parent(const dmem_cgroup_pool_state *pool)
{
    return pool->parent;
}

const dmem_cgroup_pool_state *topmost(const dmem_cgroup_pool_state *pool)
{
    while (const dmem_cgroup_pool_state *parent = pool_parent(pool))
        pool = parent;
    return pool;
}

// get_cg_pool_locked(): with those of all ancestors, made if missing.
dmem_cgroup_pool_state *get_cg_pool(dmemcg_state &cg, dmem_cgroup_region &region)
{
    if (cg.pool) {
        if (cg.pool->region != &region)
            throw std::logic_error("dmem_cgroup: one region only");
        return cg.pool.get();
    }
    dmem_cgroup_pool_state *parent = cg.parent ? get_cg_pool(*cg.parent, region) : nullptr;
    cg.pool = std::make_unique<dmem_cgroup_pool_state>();
    cg.pool->region = &region;
    cg.pool->cs = &cg;
    cg.pool->parent = parent;
    cg.pool->cnt.parent = parent ? &parent->cnt : nullptr;
    return cg.pool.get();
}

// css_for_each_descendant_pre() as far as `until`. True if that was reached.
bool calculate_below(const dmem_cgroup_pool_state &limit, dmemcg_state &cg,
                     const dmem_cgroup_pool_state *until)
{
    if (cg.pool) {
        page_counter_calculate_protection(limit.cnt, cg.pool->cnt, true);
        if (cg.pool.get() == until)
            return true;
    }
    return std::any_of(cg.children.begin(), cg.children.end(),
                       [&](dmemcg_state *child) { return calculate_below(limit, *child, until); });
}

// Whoever comes before test in the tree is calculated too, as in the kernel: values of others go stale
// otherwise, and a test that is not below limit sees them.
void dmem_cgroup_calculate_protection(const dmem_cgroup_pool_state &limit, const dmem_cgroup_pool_state &test)
{
    calculate_below(limit, *limit.cs, &test);
}

// Whether test is protected at all, with its protection below root calculated.
bool protection_applies(const dmem_cgroup_pool_state *root, const dmem_cgroup_pool_state *test)
{
    if (root == test || !pool_parent(test))
        return false;
    dmem_cgroup_calculate_protection(root ? *root : *topmost(test), *test);
    return true;
}

u32 depth(const dmemcg_state *cg)
{
    u32 n = 0;
    for (; cg->parent; cg = cg->parent)
        n++;
    return n;
}

void drop(dmem_cgroup_pool_state *pool)
{
    if (pool->refs == 0)
        throw std::logic_error("dmem_cgroup: reference dropped twice");
    pool->refs--;
}

} // namespace

dmemcg_state::dmemcg_state(std::string n, dmemcg_state *p) : name(std::move(n)), parent(p)
{
    if (parent)
        parent->children.push_back(this);
}

dmemcg_state::~dmemcg_state()
{
    if (parent)
        std::erase(parent->children, this);
}

std::unique_ptr<dmem_cgroup_region> dmem_cgroup_register_region(const dmem_cgroup_init &init,
                                                                std::string_view name)
{
    if (init.size == 0)
        return nullptr;
    if (!init.root || init.root->parent)
        throw std::logic_error("dmem_cgroup_register_region: needs the root of a hierarchy");
    auto region = std::make_unique<dmem_cgroup_region>();
    region->size = init.size;
    region->name = name;
    region->ops = init.ops;
    region->reclaim_priv = init.reclaim_priv;
    region->root = init.root;
    return region;
}

int dmem_cgroup_try_charge(dmem_cgroup_region *region, u64 size, dmem_cgroup_pool_state **ret_pool,
                           dmem_cgroup_pool_state **ret_limit_pool)
{
    *ret_pool = nullptr;
    if (ret_limit_pool)
        *ret_limit_pool = nullptr;
    if (!region)
        return 0;

    dmem_cgroup_pool_state *pool =
        get_cg_pool(dmem_cgroup_current ? *dmem_cgroup_current : *region->root, *region);
    page_counter *fail = nullptr;
    if (!page_counter_try_charge(pool->cnt, size, &fail)) {
        if (ret_limit_pool) {
            *ret_limit_pool = pool_of(*fail);
            (*ret_limit_pool)->refs++;
        }
        emit({.c = size,
              .where = "dmem_cgroup_try_charge",
              .error = -EAGAIN,
              .type = events::event_type::charge_failed});
        return -EAGAIN;
    }
    pool->refs++;
    *ret_pool = pool;
    return 0;
}

void dmem_cgroup_uncharge(dmem_cgroup_pool_state *pool, u64 size)
{
    if (!pool)
        return;
    page_counter_uncharge(pool->cnt, size);
    drop(pool);
}

void dmem_cgroup_pool_state_put(dmem_cgroup_pool_state *pool)
{
    if (pool)
        drop(pool);
}

bool dmem_cgroup_state_evict_valuable(dmem_cgroup_pool_state *limit_pool, dmem_cgroup_pool_state *test_pool,
                                      bool ignore_low, bool *ret_hit_low)
{
    if (limit_pool == test_pool) // also both nullptr
        return true;
    if (!test_pool)
        // The kernel looks for limit_pool above NULL and finds nothing, or follows NULL.
        return limit_pool && !limit_pool->cs->parent;

    const dmem_cgroup_pool_state *limit = limit_pool;
    if (limit) {
        if (!limit->cs->parent)
            return true;
        const dmem_cgroup_pool_state *pool = test_pool;
        while (pool && pool != limit)
            pool = pool_parent(pool);
        if (!pool)
            return false;
    } else {
        limit = topmost(test_pool);
    }

    dmem_cgroup_calculate_protection(*limit, *test_pool);
    const page_counter &test = test_pool->cnt;
    const u64 used = page_counter_read(test);
    if (used <= test.emin)
        return false;
    if (ignore_low || used > test.elow)
        return true;
    *ret_hit_low = true;
    return false;
}

bool dmem_cgroup_below_min(dmem_cgroup_pool_state *root, dmem_cgroup_pool_state *test)
{
    return protection_applies(root, test) && page_counter_read(test->cnt) <= test->cnt.emin;
}

bool dmem_cgroup_below_low(dmem_cgroup_pool_state *root, dmem_cgroup_pool_state *test)
{
    return protection_applies(root, test) && page_counter_read(test->cnt) <= test->cnt.elow;
}

dmem_cgroup_pool_state *dmem_cgroup_get_common_ancestor(dmem_cgroup_pool_state *a, dmem_cgroup_pool_state *b)
{
    if (!a || !b)
        return nullptr;
    dmemcg_state *x = a->cs;
    dmemcg_state *y = b->cs;
    u32 depth_x = depth(x);
    u32 depth_y = depth(y);
    for (; depth_x > depth_y; depth_x--)
        x = x->parent;
    for (; depth_y > depth_x; depth_y--)
        y = y->parent;
    for (; x != y; x = x->parent, y = y->parent) {
        if (!x->parent)
            return nullptr;
    }
    dmem_cgroup_pool_state *pool = get_cg_pool(*x, *a->region);
    pool->refs++;
    return pool;
}

void dmem_cgroup_set_min(dmem_cgroup_region &region, dmemcg_state &cg, u64 min_bytes)
{
    page_counter_set_min(get_cg_pool(cg, region)->cnt, std::min(min_bytes, PAGE_COUNTER_MAX));
}

void dmem_cgroup_set_low(dmem_cgroup_region &region, dmemcg_state &cg, u64 low_bytes)
{
    page_counter_set_low(get_cg_pool(cg, region)->cnt, std::min(low_bytes, PAGE_COUNTER_MAX));
}

// set_resource_max()
void dmem_cgroup_set_max(dmem_cgroup_region &region, dmemcg_state &cg, u64 max_bytes, bool nonblock)
{
    dmem_cgroup_pool_state *pool = get_cg_pool(cg, region);
    // At once, so that whoever allocates during reclaim is limited already.
    const u64 limit = pool->cnt.max = std::min(max_bytes, PAGE_COUNTER_MAX);
    if (nonblock || !region.ops || !region.ops->reclaim)
        return;
    for (u32 retries = DMEM_MAX_RECLAIM_RETRIES;;) {
        const u64 usage = page_counter_read(pool->cnt);
        if (usage <= limit)
            break;
        const int ret = region.ops->reclaim(pool, usage - limit, region.reclaim_priv);
        if (ret && (ret != -ENOSPC || retries-- == 0))
            break;
    }
}

u64 dmem_cgroup_usage(const dmemcg_state &cg)
{
    return cg.pool ? page_counter_read(cg.pool->cnt) : 0;
}

} // namespace vramlab::kmd
