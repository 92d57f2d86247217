// SPDX-License-Identifier: MIT
// Is the range that is chosen the cheapest there is, and what becomes of a choice that turns out wrong?
#include "kmd/ttm_range.h"

#include "base/rng.h"
#include "kmd/ttm_internal.h"
#include "kmd/ttm_range_manager.h"
#include "kmd/ttm_test_gpu.h"

#include <optional>
#include <set>

namespace vramlab::kmd::test {
namespace {

// ---- the choice, against exhaustive search

// Extents that nobody allocates: BOs of any number of them, in any order.
struct layout final : ttm_resource_manager {
    struct part {
        u64 end;
        int owner; // -1: free
    };
    struct owner {
        ttm_buffer_object bo;
        ttm_resource res;
        ttm_range_hint hint;
        bool never = false; // what the test knows of it
        u64 cost = 0;
        bool low = false;
    };
    std::vector<part> parts; // by address, from page 0
    std::vector<owner> owners;

    static ttm_range_extent extent_at(ttm_resource_manager *man, u64 page)
    {
        layout &l = *static_cast<layout *>(man);
        u64 start = 0;
        for (const part &p : l.parts) {
            if (page < p.end) {
                owner *o = p.owner < 0 ? nullptr : &l.owners[static_cast<size_t>(p.owner)];
                return {start, p.end, o ? &o->res : nullptr, o ? &o->hint : nullptr};
            }
            start = p.end;
        }
        throw std::out_of_range("no such page");
    }
};

struct best {
    u64 start;
    ttm_range_cost cost;
};

class choice : public gpu_test {
protected:
    // Every start, every page of it.
    static std::optional<best> exhaustive(const layout &l, const ttm_range_claim &claim, u64 total,
                                          const std::vector<const ttm_range_claim *> &others)
    {
        std::vector<int> page_owner;
        for (const layout::part &p : l.parts)
            page_owner.resize(p.end, p.owner);
        const u64 pages = claim.bo->size / PAGE_SIZE;
        const u64 limit = claim.place->lpfn ? std::min(claim.place->lpfn, total) : total;
        std::optional<best> found;
        for (u64 start = claim.place->fpfn; start + pages <= limit; start++) {
            if (start % std::max(claim.bo->page_alignment, 1u))
                continue;
            std::set<int> met;
            bool possible = true;
            for (u64 p = start; p < start + pages; p++) {
                met.insert(page_owner[p]);
                for (const ttm_range_claim *o : others)
                    possible = possible && (p < o->range.fpfn || p >= o->range.lpfn);
            }
            ttm_range_cost cost;
            for (const int o : met) {
                if (o < 0)
                    continue;
                const layout::owner &w = l.owners[static_cast<size_t>(o)];
                possible = possible && !w.never;
                (w.low ? cost.low_bytes : cost.bytes) += w.cost;
            }
            if (possible && (!found || cost < found->cost))
                found = best{start, cost};
        }
        return found;
    }

    void draw(layout &l, rng &r, u64 total, u32 pinned_percent)
    {
        l.owners = std::vector<layout::owner>(r.between(1, 12));
        for (u64 end = 0; end < total;) {
            end = std::min(total, end + r.between(1, 9));
            l.parts.push_back({end, r.below(8) ? static_cast<int>(r.below(l.owners.size())) : -1});
        }
        for (layout::owner &o : l.owners) {
            o.res.bo = &o.bo;
            o.bo.bdev = &bdev;
            o.bo.size = r.between(1, 40) * PAGE_SIZE;
            o.cost = o.bo.size;
            if (r.below(100) < pinned_percent)
                o.bo.pin_count = 1;
            if (r.below(4) == 0) {
                add_fence(&o.bo, make_fence(r.between(1, 3)), dma_resv_usage::bookkeep);
                o.cost *= TTM_RANGE_WEIGHT_BUSY;
            }
            if (r.below(8) == 0) {
                o.bo.deleted = true;
                o.cost = 0;
            }
            o.never = o.bo.pin_count != 0;
            if (r.below(10) == 0) {
                lock(&o.bo); // there is no ticket to wait with
                o.never = true;
            }
        }
    }
};

TEST_F(choice, is_the_exhaustive_minimum)
{
    u32 found = 0, none = 0;
    for (u64 seed = 1; seed <= 3000; seed++) {
        rng r(seed);
        const u64 total = r.between(20, 200);
        layout l;
        draw(l, r, total, static_cast<u32>(r.below(30)));
        ttm_buffer_object evictor;
        evictor.size = r.between(1, 24) * PAGE_SIZE;
        evictor.page_alignment = r.below(3) ? 1 : static_cast<u32>(r.between(1, 8));
        ttm_place place{r.below(3) ? 0 : r.below(total / 4), r.below(3) ? 0 : r.between(total / 2, total),
                        TTM_PL_VRAM, TTM_PL_FLAG_CONTIGUOUS};
        ttm_bo_alloc_state state;
        state.may_try_low = true; // nobody is in a cgroup here
        ttm_range_claim claim, other;
        claim.bo = &evictor;
        claim.place = &place;
        claim.ctx = &ctx;
        claim.alloc_state = &state;
        std::vector<const ttm_range_claim *> others;
        if (r.below(3) == 0) {
            other.range.fpfn = r.below(total - 4);
            other.range.lpfn = other.range.fpfn + 4;
            others.push_back(&other);
        }
        if (r.below(3) == 0) { // what failed before
            layout::owner &o = l.owners[r.below(l.owners.size())];
            claim.failed[1] = &o.res;
            o.never = true;
        }

        const int ret = ttm_range_choose(&claim, &l, total, others, layout::extent_at);
        const std::optional<best> expected = exhaustive(l, claim, total, others);
        ASSERT_EQ(ret, expected ? 0 : -ENOSPC) << "seed " << seed;
        if (expected) {
            found++;
            ASSERT_EQ(claim.cost, expected->cost) << "seed " << seed;
            ASSERT_EQ(claim.range.fpfn, expected->start) << "seed " << seed;
            ASSERT_EQ(claim.range.lpfn, expected->start + evictor.size / PAGE_SIZE);
            ASSERT_EQ(claim.range.flags, place.flags);
            const ttm_resource *first = ttm_range_first(&claim, &l, layout::extent_at);
            for (u64 p = claim.range.fpfn; p < claim.range.lpfn; p++)
                if (ttm_resource *at = layout::extent_at(&l, p).res) {
                    ASSERT_EQ(first, at) << "seed " << seed;
                    break;
                }
        } else {
            none++;
        }
        for (layout::owner &o : l.owners) {
            ASSERT_EQ(o.hint.extents, 0u) << "seed " << seed;
            if (dma_resv_is_locked(*o.bo.resv))
                unlock(&o.bo);
        }
        signal_all();
    }
    EXPECT_GT(found, 1000u);
    EXPECT_GT(none, 200u);
}

// ---- what TTM makes of it

constexpr u32 mem_type = TTM_PL_PRIV;
constexpr ttm_place somewhere{0, 0, mem_type, 0};
constexpr ttm_place one_range{0, 0, mem_type, TTM_PL_FLAG_CONTIGUOUS};

class range_eviction : public gpu_test {
public:
    // Also for the driver's operations below.
    test_bo *make(u64 pages, ttm_place place = somewhere)
    {
        test_bo *bo = create(pages, {place});
        if (bo)
            bos.push_back(bo);
        return bo;
    }
    void use(const ttm_device_funcs *operations) { bdev.funcs = operations; }
    const ttm_device_funcs *const usual = bdev.funcs;

protected:
    range_eviction()
    {
        ttm_range_man_init(&bdev, mem_type, false, 16);
        bdev.mechanisms.contig_range = true;
    }
    ~range_eviction() override
    {
        bdev.funcs = usual;
        EXPECT_EQ(ttm_range_man_fini(&bdev, mem_type), 0);
        for (test_bo *bo : bos)
            destroy(bo);
    }
    // 16 pages of these sizes, from the bottom.
    std::vector<test_bo *> fill(std::vector<u64> sizes)
    {
        std::vector<test_bo *> all;
        for (const u64 pages : sizes)
            all.push_back(make(pages));
        log.clear();
        return all;
    }
    u64 evictions() const { return count_events(events::event_type::evict_begin); }
    u64 searches() const { return count_events(events::event_type::range_chosen); }
    static bool there(const test_bo *bo) { return where(bo) == mem_type; }
    void pin(test_bo *bo)
    {
        lock(bo);
        ttm_bo_pin(bo);
        unlock(bo);
    }
    void unpin(test_bo *bo)
    {
        lock(bo);
        ttm_bo_unpin(bo);
        unlock(bo);
    }

    std::vector<test_bo *> bos;
};

TEST_F(range_eviction, what_is_in_the_cheapest_range_goes_and_nothing_else)
{
    const auto bo = fill({6, 1, 2, 7});
    test_bo *image = make(3, one_range);
    ASSERT_NE(image, nullptr);
    EXPECT_EQ(image->resource->start, 6u);
    EXPECT_TRUE(there(bo[0]));
    EXPECT_FALSE(there(bo[1]));
    EXPECT_FALSE(there(bo[2]));
    EXPECT_TRUE(there(bo[3]));
    EXPECT_EQ(searches(), 1u);
}

TEST_F(range_eviction, off_it_goes_by_the_lru)
{
    bdev.mechanisms.contig_range = false;
    const auto bo = fill({6, 1, 2, 7});
    ASSERT_NE(make(3, one_range), nullptr);
    EXPECT_FALSE(there(bo[0]));
    EXPECT_EQ(evictions(), 1u);
    EXPECT_EQ(searches(), 0u);
}

TEST_F(range_eviction, places_that_need_not_be_one_range_go_by_the_lru)
{
    fill({6, 1, 2, 7});
    ASSERT_NE(make(3), nullptr);
    EXPECT_EQ(searches(), 0u);
}

TEST_F(range_eviction, of_equal_ranges_the_lowest)
{
    const auto bo = fill({4, 4, 4, 4});
    EXPECT_EQ(make(4, one_range)->resource->start, 0u);
    EXPECT_FALSE(there(bo[0]));
}

TEST_F(range_eviction, pinned_and_locked_bos_are_in_the_way)
{
    const auto bo = fill({2, 6, 2, 6});
    pin(bo[0]);
    lock(bo[2]);
    test_bo *image = make(2, one_range);
    unlock(bo[2]);
    ASSERT_NE(image, nullptr);
    EXPECT_EQ(image->resource->start, 2u);
    EXPECT_EQ(searches(), 1u) << "what can be seen without a lock is not tried";
    unpin(bo[0]);
}

TEST_F(range_eviction, busy_and_dear_bos_cost_more)
{
    static const test_bo *dear;
    ttm_device_funcs changed = *usual;
    changed.evict_weight = [](const ttm_buffer_object *bo) { return bo == dear ? 3u : 1u; };
    bdev.funcs = &changed;
    const auto bo = fill({3, 4, 4, 5});
    dear = bo[1];
    add_fence(bo[0], make_fence(5), dma_resv_usage::bookkeep); // 6 pages
    test_bo *image = make(3, one_range);                       // 12 pages, or 4
    EXPECT_EQ(image->resource->start, 7u);
    EXPECT_FALSE(there(bo[2]));
    EXPECT_EQ(evictions(), 1u);
}

TEST_F(range_eviction, what_is_deleted_costs_nothing_and_is_waited_for)
{
    const auto bo = fill({4, 4, 7, 1});
    add_fence(bo[2], make_fence(5), dma_resv_usage::bookkeep);
    destroy(bo[2]);
    std::erase(bos, bo[2]);
    test_bo *image = make(7, one_range);
    ASSERT_NE(image, nullptr);
    EXPECT_EQ(image->resource->start, 8u);
    EXPECT_EQ(evictions(), 0u);
}

// A choice is a hint: who turns out not to be evictable is avoided from then on.
TEST_F(range_eviction, another_range_for_each_that_cannot_be_had)
{
    static std::set<const ttm_buffer_object *> stubborn;
    ttm_device_funcs changed = *usual;
    changed.eviction_valuable = [](ttm_buffer_object *bo, const ttm_place *place) {
        return !stubborn.contains(bo) && ttm_bo_eviction_valuable(bo, place);
    };
    bdev.funcs = &changed;
    const auto bo = fill({2, 2, 2, 2, 2, 2, 2, 2});
    stubborn = {bo[0], bo[1], bo[2]};
    EXPECT_EQ(make(2, one_range)->resource->start, 6u);
    EXPECT_EQ(searches(), 4u);
    EXPECT_EQ(evictions(), 1u);

    log.clear();
    stubborn.insert(bo.begin(), bo.end());
    pin(bos.back()); // the image
    EXPECT_EQ(make(2, one_range), nullptr);
    EXPECT_EQ(searches(), 8u);
    EXPECT_EQ(evictions(), 0u);
    unpin(bos.back());
    stubborn.clear();
}

TEST_F(range_eviction, gives_up_after_eight_searches)
{
    ttm_device_funcs changed = *usual;
    changed.eviction_valuable = [](ttm_buffer_object *, const ttm_place *) { return false; };
    const auto bo = fill({1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1});
    bdev.funcs = &changed;
    EXPECT_EQ(make(1, one_range), nullptr);
    EXPECT_EQ(searches(), TTM_RANGE_SEARCHES);
    bdev.funcs = usual;
}

// While a victim moves others come and take what is free. Not what is claimed.
TEST_F(range_eviction, what_is_claimed_is_not_taken_meanwhile)
{
    static range_eviction *self;
    static test_bo *thief;
    self = this;
    thief = nullptr;
    const auto bo = fill({8, 2, 2, 4});
    destroy(bo[1]); // a hole of 2, which is in the range
    std::erase(bos, bo[1]);
    ttm_device_funcs changed = *usual;
    changed.evict_flags = [](ttm_buffer_object *victim, ttm_placement *placement) {
        self->use(self->usual);
        thief = self->make(2); // best fit: the hole
        self->usual->evict_flags(victim, placement);
    };
    bdev.funcs = &changed;
    test_bo *image = make(4, one_range);
    ASSERT_NE(image, nullptr);
    ASSERT_NE(thief, nullptr);
    EXPECT_EQ(image->resource->start, 8u);
    EXPECT_FALSE(there(bo[2]));
    EXPECT_TRUE(!there(thief) || thief->resource->start >= 12 || thief->resource->start < 8);
    EXPECT_EQ(searches(), 1u);
}

} // namespace
} // namespace vramlab::kmd::test
