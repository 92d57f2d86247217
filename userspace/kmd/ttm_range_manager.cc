// SPDX-License-Identifier: MIT
// See ttm_range_manager.h. The holes and their order are those of drm_mm.c: by size, of equal ones the
// youngest first (insert_hole_size(), best_hole()), and by address.
#include "kmd/ttm_range_manager.h"

#include "kmd/ttm_internal.h"
#include "kmd/ttm_range.h"

#include <algorithm>
#include <map>

namespace vramlab::kmd {

namespace {

struct hole {
    u64 end; // pages
    u64 serial;
};

struct ttm_range_mgr_node : ttm_resource {
    u64 start_page = 0;
    u64 num_pages = 0;
    ttm_range_hint hint;
};

class ttm_range_manager : public ttm_resource_manager {
public:
    explicit ttm_range_manager(u64 size_pages) { add_hole(0, size_pages); }

    // Outside of what is claimed for others than `bo`.
    bool insert(ttm_range_mgr_node &node, const ttm_buffer_object *bo, u64 range_start, u64 range_end,
                bool high);
    void remove(const ttm_range_mgr_node &node);
    ttm_range_extent extent_at(u64 page) const;

    std::vector<const ttm_range_claim *> claims; // under way, with ranges that are disjoint

private:
    bool insert_in_range(ttm_range_mgr_node &node, u64 alignment, u64 range_start, u64 range_end, bool high);

    std::map<u64, hole> holes_addr_;                // by start
    std::map<std::pair<u64, u64>, u64> holes_size_; // (size, ~serial) to start
    std::map<u64, ttm_range_mgr_node *> nodes_;     // by start
    u64 next_serial_ = 0;

    void add_hole(u64 start, u64 end);
    u64 rm_hole(std::map<u64, hole>::iterator it);
};

void ttm_range_manager::add_hole(u64 start, u64 end)
{
    const u64 serial = next_serial_++;
    holes_addr_.emplace(start, hole{end, serial});
    holes_size_.emplace(std::pair{end - start, ~serial}, start);
}

// Returns its end.
u64 ttm_range_manager::rm_hole(std::map<u64, hole>::iterator it)
{
    const u64 end = it->second.end;
    holes_size_.erase({end - it->first, ~it->second.serial});
    holes_addr_.erase(it);
    return end;
}

// Where in a hole, all ones if nowhere. The body of drm_mm_insert_node_in_range().
u64 fit(u64 hole_start, u64 hole_end, u64 size, u64 alignment, u64 range_start, u64 range_end, bool high)
{
    constexpr u64 nowhere = ~u64{0};
    const u64 lowest = std::max(hole_start, range_start);
    const u64 adj_end = std::min(hole_end, range_end);
    u64 adj_start = lowest;

    if (adj_end <= adj_start || adj_end - adj_start < size)
        return nowhere;
    if (high)
        adj_start = adj_end - size;
    const u64 rem = alignment > 1 ? adj_start % alignment : 0;
    if (!rem)
        return adj_start;
    if (high && adj_start < rem)
        return nowhere; // would wrap; below the hole anyway
    adj_start -= rem;
    if (!high)
        adj_start += alignment;
    if (adj_start < lowest || adj_end <= adj_start || adj_end - adj_start < size)
        return nowhere;
    return adj_start;
}

bool ttm_range_manager::insert(ttm_range_mgr_node &node, const ttm_buffer_object *bo, u64 range_start,
                               u64 range_end, bool high)
{
    const u64 alignment = bo->page_alignment;

    for (;;) {
        const ttm_range_claim *next = nullptr; // the lowest one in the way
        for (const ttm_range_claim *c : claims)
            if (c->bo != bo && c->range.lpfn > range_start && (!next || c->range.fpfn < next->range.fpfn))
                next = c;
        if (!next || next->range.fpfn >= range_end)
            return insert_in_range(node, alignment, range_start, range_end, high);
        if (next->range.fpfn > range_start &&
            insert_in_range(node, alignment, range_start, next->range.fpfn, high))
            return true;
        if (next->range.lpfn >= range_end)
            return false;
        range_start = next->range.lpfn;
    }
}

bool ttm_range_manager::insert_in_range(ttm_range_mgr_node &node, u64 alignment, u64 range_start,
                                        u64 range_end, bool high)
{
    const u64 size_pages = node.num_pages;
    if (!size_pages || range_end < range_start || range_end - range_start < size_pages)
        return false;

    u64 start = ~u64{0};
    auto found = holes_addr_.end();
    if (high) {
        while (found != holes_addr_.begin() && start == ~u64{0}) {
            --found;
            start = fit(found->first, found->second.end, size_pages, alignment, range_start, range_end, true);
        }
    } else {
        for (auto it = holes_size_.lower_bound({size_pages, 0}); it != holes_size_.end() && start == ~u64{0};
             ++it) {
            found = holes_addr_.find(it->second);
            start =
                fit(found->first, found->second.end, size_pages, alignment, range_start, range_end, false);
        }
    }
    if (start == ~u64{0})
        return false;

    const u64 hole_start = found->first;
    const u64 hole_end = rm_hole(found);
    if (start > hole_start)
        add_hole(hole_start, start);
    if (start + size_pages < hole_end)
        add_hole(start + size_pages, hole_end);
    node.start_page = start;
    nodes_.emplace(start, &node);
    return true;
}

void ttm_range_manager::remove(const ttm_range_mgr_node &node)
{
    u64 start = node.start_page;
    u64 end = start + node.num_pages;
    nodes_.erase(start);

    auto after = holes_addr_.find(end);
    if (after != holes_addr_.end())
        end = rm_hole(after);
    auto before = holes_addr_.lower_bound(start);
    if (before != holes_addr_.begin() && (--before)->second.end == start) {
        start = before->first;
        rm_hole(before);
    }
    add_hole(start, end);
}

ttm_range_extent ttm_range_manager::extent_at(u64 page) const
{
    const auto hole = holes_addr_.upper_bound(page);
    if (hole != holes_addr_.begin() && std::prev(hole)->second.end > page)
        return {.start = std::prev(hole)->first, .end = std::prev(hole)->second.end};
    ttm_range_mgr_node *node = std::prev(nodes_.upper_bound(page))->second;
    return {.start = node->start_page,
            .end = node->start_page + node->num_pages,
            .res = node,
            .hint = &node->hint};
}

u64 pages_of(u64 size_bytes)
{
    return (size_bytes + PAGE_SIZE - 1) >> PAGE_SHIFT;
}

int ttm_range_man_alloc(ttm_resource_manager *man, ttm_buffer_object *bo, const ttm_place *place,
                        ttm_resource **res)
{
    ttm_range_manager *rman = static_cast<ttm_range_manager *>(man);
    ttm_range_mgr_node *node = new ttm_range_mgr_node;

    ttm_resource_init(bo, place, node);
    node->num_pages = pages_of(ttm_resource_size(node));

    if (!rman->insert(*node, bo, place->fpfn, place->lpfn ? place->lpfn : man->size,
                      (place->flags & TTM_PL_FLAG_TOPDOWN) != 0)) {
        ttm_resource_fini(man, node);
        delete node;
        return -ENOSPC;
    }

    node->start = static_cast<u32>(node->start_page);
    *res = node;
    return 0;
}

void ttm_range_man_free(ttm_resource_manager *man, ttm_resource *res)
{
    ttm_range_mgr_node *node = static_cast<ttm_range_mgr_node *>(res);

    static_cast<ttm_range_manager *>(man)->remove(*node);
    ttm_resource_fini(man, res);
    delete node;
}

bool ttm_range_man_intersects(ttm_resource_manager *, ttm_resource *res, const ttm_place *place,
                              u64 size_bytes)
{
    const ttm_range_mgr_node *node = static_cast<ttm_range_mgr_node *>(res);

    return !(place->fpfn >= node->start_page + pages_of(size_bytes) ||
             (place->lpfn && place->lpfn <= node->start_page));
}

bool ttm_range_man_compatible(ttm_resource_manager *, ttm_resource *res, const ttm_place *place,
                              u64 size_bytes)
{
    const ttm_range_mgr_node *node = static_cast<ttm_range_mgr_node *>(res);

    return !(node->start_page < place->fpfn ||
             (place->lpfn && node->start_page + pages_of(size_bytes) > place->lpfn));
}

ttm_range_extent ttm_range_man_extent_at(ttm_resource_manager *man, u64 page)
{
    return static_cast<ttm_range_manager *>(man)->extent_at(page);
}

int ttm_range_man_claim(ttm_resource_manager *man, ttm_range_claim *claim)
{
    ttm_range_manager *rman = static_cast<ttm_range_manager *>(man);

    const int ret = ttm_range_choose(claim, man, man->size, rman->claims, ttm_range_man_extent_at);
    if (!ret)
        rman->claims.push_back(claim);
    return ret;
}

void ttm_range_man_unclaim(ttm_resource_manager *man, ttm_range_claim *claim)
{
    std::erase(static_cast<ttm_range_manager *>(man)->claims, claim);
}

ttm_resource *ttm_range_man_first(ttm_resource_manager *man, const ttm_range_claim *claim)
{
    return ttm_range_first(claim, man, ttm_range_man_extent_at);
}

const ttm_resource_manager_func ttm_range_manager_func = {
    .alloc = ttm_range_man_alloc,
    .free = ttm_range_man_free,
    .intersects = ttm_range_man_intersects,
    .compatible = ttm_range_man_compatible,
    .claim_range = ttm_range_man_claim,
    .unclaim_range = ttm_range_man_unclaim,
    .range_first = ttm_range_man_first,
};

} // namespace

int ttm_range_man_init(ttm_device *bdev, u32 type, bool use_tt, u64 size_pages)
{
    ttm_range_manager *rman = new ttm_range_manager(size_pages);

    rman->use_tt = use_tt;
    rman->func = &ttm_range_manager_func;
    ttm_resource_manager_init(rman, bdev, size_pages);
    ttm_set_driver_manager(bdev, type, rman);
    ttm_resource_manager_set_used(rman, true);
    return 0;
}

// The kernel asserts here that the LRU lists are empty, although it empties them only afterwards.
int ttm_range_man_fini(ttm_device *bdev, u32 type)
{
    ttm_range_manager *rman = static_cast<ttm_range_manager *>(ttm_manager_type(bdev, type));
    if (!rman)
        return 0;

    rman->use_type = false;
    const int ret = ttm_resource_manager_evict_all(bdev, rman);
    if (ret)
        return ret;

    ttm_resource_manager_cleanup(rman);
    ttm_set_driver_manager(bdev, type, nullptr);
    delete rman;
    return 0;
}

} // namespace vramlab::kmd
