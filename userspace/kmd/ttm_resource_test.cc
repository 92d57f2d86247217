// SPDX-License-Identifier: MIT
// Do LRU lists, bulk moves and cursors keep their invariants, whatever happens in whatever order?
#include "kmd/ttm_test_gpu.h"

#include <algorithm>
#include <map>
#include <random>
#include <set>

namespace vramlab::kmd::test {
namespace {

// The same lists, kept the slow way: vectors of tags, and a set of members for the bulk move. A range is on
// the LRU, or on the unevictable list after the only member of a bulk was unpinned: the kernel leaves it
// there until the next bulk move.
struct naive_lru {
    std::vector<u64> lru;
    std::vector<u64> unevictable;
    std::set<u64> bulk; // ttm_buffer_object::bulk_move is set
    std::map<u64, u32> pins;

    bool in_range(u64 tag) { return bulk.count(tag) && !pins[tag]; }
    std::vector<u64> range()
    {
        std::vector<u64> r;
        for (const auto *list : {&lru, &unevictable})
            std::copy_if(list->begin(), list->end(), std::back_inserter(r),
                         [&](u64 t) { return in_range(t); });
        return r;
    }
    void erase(u64 tag)
    {
        std::erase(lru, tag);
        std::erase(unevictable, tag);
    }
    // Behind the last of the others in the range. False if there is none.
    bool to_range_tail(u64 tag)
    {
        for (auto *list : {&lru, &unevictable}) {
            const auto last =
                std::find_if(list->rbegin(), list->rend(), [&](u64 t) { return t != tag && in_range(t); });
            if (last == list->rend())
                continue;
            const u64 after = *last;
            erase(tag);
            list->insert(std::find(list->begin(), list->end(), after) + 1, tag);
            return true;
        }
        return false;
    }
    void leave_range(u64 tag) // still a member
    {
        const std::vector<u64> r = range();
        if (tag != r.front() && tag != r.back())
            to_range_tail(tag);
    }
    void tail(u64 tag)
    {
        if (pins[tag]) {
            erase(tag);
            unevictable.push_back(tag);
        } else if (bulk.count(tag)) {
            to_range_tail(tag);
        } else {
            erase(tag);
            lru.push_back(tag);
        }
    }
    void set_bulk(u64 tag, bool member)
    {
        if (member == (bulk.count(tag) != 0))
            return;
        if (!member && !pins[tag])
            leave_range(tag);
        if (member)
            bulk.insert(tag);
        else
            bulk.erase(tag);
        if (member && !pins[tag])
            to_range_tail(tag);
    }
    void bulk_tail()
    {
        for (u64 tag : range()) {
            erase(tag);
            lru.push_back(tag);
        }
    }
    void pin(u64 tag)
    {
        if (in_range(tag))
            leave_range(tag);
        if (!pins[tag]++)
            tail(tag);
    }
    void unpin(u64 tag)
    {
        if (!--pins[tag])
            tail(tag);
    }
};

std::string text(const std::vector<u64> &tags)
{
    std::string s;
    for (u64 t : tags)
        s += (s.empty() ? "" : " ") + std::to_string(t);
    return s;
}

class lru_test : public gpu_test {
protected:
    lru_test() : gpu_test(1024) { ttm_lru_bulk_move_init(&bulk); }

    // first to last is exactly the members of the bulk that are on the list, and nothing else but hitches.
    void check_range(naive_lru &model, const ttm_lru_bulk_move_pos &pos)
    {
        const std::vector<u64> range = model.range();
        const std::set<u64> expected(range.begin(), range.end());
        std::set<u64> found;
        if (pos.first) {
            for (list_head *e = pos.first;; e = e->next) {
                ttm_lru_item *item = static_cast<ttm_lru_item *>(e);
                if (ttm_lru_item_is_res(*item))
                    found.insert(static_cast<test_bo *>(ttm_lru_item_to_res(item)->bo)->tag);
                if (e == pos.last)
                    break;
            }
        }
        ASSERT_EQ(found, expected);
    }
    dma_resv resv;
    ttm_lru_bulk_move bulk;
};

TEST_F(lru_test, random_operations_match_the_naive_lists)
{
    std::mt19937_64 rng(1);
    for (int round = 0; round < 20; round++) {
        naive_lru model;
        std::vector<test_bo *> bos;
        for (int i = 0; i < 12; i++) {
            bos.push_back(create(1, {in_vram}, &resv));
            model.lru.push_back(bos.back()->tag);
        }
        ASSERT_EQ(dma_resv_lock(resv, nullptr), 0);
        for (int step = 0; step < 400; step++) {
            test_bo *bo = bos[rng() % bos.size()];
            switch (rng() % 6) {
            case 0:
            case 1:
                ttm_bo_move_to_lru_tail(bo);
                model.tail(bo->tag);
                break;
            case 2: {
                const bool member = rng() % 2;
                ttm_bo_set_bulk_move(bo, member ? &bulk : nullptr);
                model.set_bulk(bo->tag, member);
                break;
            }
            case 3:
                ttm_lru_bulk_move_tail(&bulk);
                model.bulk_tail();
                break;
            case 4:
                ttm_bo_pin(bo);
                model.pin(bo->tag);
                break;
            case 5:
                if (bo->pin_count) {
                    ttm_bo_unpin(bo);
                    model.unpin(bo->tag);
                }
                break;
            }
            ASSERT_EQ(lru(TTM_PL_VRAM), text(model.lru)) << "round " << round << " step " << step;
            ASSERT_EQ(order(bdev.unevictable), text(model.unevictable));
            check_range(model, bulk.pos[TTM_PL_VRAM][0]);
        }
        for (test_bo *bo : bos) {
            ttm_bo_set_bulk_move(bo, nullptr);
            while (bo->pin_count)
                ttm_bo_unpin(bo);
        }
        dma_resv_unlock(resv);
        EXPECT_EQ(bulk.pos[TTM_PL_VRAM][0].first, nullptr);
        for (test_bo *bo : bos)
            destroy(bo);
    }
}

TEST_F(lru_test, resources_join_and_leave_the_range_with_their_place)
{
    test_bo *a = create(1, {in_vram}, &resv);
    test_bo *b = create(1, {in_vram}, &resv);
    test_bo *other = create(1, {in_vram});
    ASSERT_EQ(dma_resv_lock(resv, nullptr), 0);
    ttm_bo_set_bulk_move(a, &bulk);
    ttm_bo_set_bulk_move(b, &bulk);

    ASSERT_EQ(validate_locked(a, {in_gtt}), 0);
    EXPECT_EQ(bulk.pos[TTM_PL_VRAM][0].first, b->resource);
    EXPECT_EQ(bulk.pos[TTM_PL_TT][0].first, a->resource);
    EXPECT_EQ(bulk.pos[TTM_PL_TT][0].last, a->resource);

    ASSERT_EQ(validate_locked(a, {in_vram}), 0);
    EXPECT_EQ(bulk.pos[TTM_PL_TT][0].first, nullptr);
    EXPECT_EQ(lru(TTM_PL_VRAM), "2 1 3"); // behind its fellow, not at the tail
    ttm_lru_bulk_move_tail(&bulk);
    EXPECT_EQ(lru(TTM_PL_VRAM), "3 2 1");

    ttm_bo_set_bulk_move(a, nullptr);
    ttm_bo_set_bulk_move(b, nullptr);
    dma_resv_unlock(resv);
    for (test_bo *bo : {a, b, other})
        destroy(bo);
}

TEST_F(lru_test, another_resv_in_a_bulk_is_a_bug)
{
    test_bo *a = create(1, {in_vram}, &resv);
    test_bo *other = create(1, {in_vram});
    bulk_move(a, &bulk);
    lock(other);
    EXPECT_THROW(ttm_bo_set_bulk_move(other, &bulk), std::logic_error);
    other->bulk_move = nullptr;
    unlock(other);
    bulk_move(a, nullptr);
    destroy(a);
    destroy(other);
}

TEST_F(lru_test, cursor_goes_through_priorities_in_order)
{
    std::vector<test_bo *> bos;
    for (u8 priority : {2, 0, 3, 0}) {
        test_bo *bo = create(1, {in_vram});
        lock(bo);
        bo->priority = priority;
        ttm_bo_unreserve(bo);
        bos.push_back(bo);
    }
    ttm_resource_cursor cursor;
    ttm_resource_cursor_init(&cursor, &vram);
    std::vector<u64> seen;
    for (ttm_resource *res = ttm_resource_manager_first(&cursor); res;
         res = ttm_resource_manager_next(&cursor))
        seen.push_back(static_cast<test_bo *>(res->bo)->tag);
    ttm_resource_cursor_fini(&cursor);

    EXPECT_EQ(text(seen), "2 4 1 3");
    EXPECT_EQ(lru(TTM_PL_VRAM), "2 4"); // no hitch left
    for (test_bo *bo : bos)
        destroy(bo);
}

// Whatever moves meanwhile: what does not move is seen exactly once, nothing is seen for ever.
TEST_F(lru_test, cursor_survives_what_moves_under_it)
{
    std::mt19937_64 rng(7);
    for (int round = 0; round < 300; round++) {
        std::vector<test_bo *> bos;
        for (int i = 0; i < 16; i++)
            bos.push_back(create(1, {in_vram}, &resv));
        ASSERT_EQ(dma_resv_lock(resv, nullptr), 0);
        const size_t members = rng() % 10;
        for (size_t i = 0; i < members; i++)
            ttm_bo_set_bulk_move(bos[(3 * i) % bos.size()], &bulk);

        std::map<u64, int> seen;
        std::set<u64> moved;
        ttm_resource_cursor cursor;
        ttm_resource_cursor_init(&cursor, &vram);
        u32 steps = 0;
        u32 moves = 0;
        for (ttm_resource *res = ttm_resource_manager_first(&cursor); res;
             res = ttm_resource_manager_next(&cursor)) {
            ASSERT_LT(steps++, 16 + 16 * (moves + 1));
            seen[static_cast<test_bo *>(res->bo)->tag]++;
            if (rng() % 3 || moves > 8)
                continue;
            moves++;
            test_bo *bo = bos[rng() % bos.size()];
            if (rng() % 2) {
                ttm_lru_bulk_move_tail(&bulk);
                for (test_bo *b : bos)
                    if (b->bulk_move)
                        moved.insert(b->tag);
            } else {
                ttm_bo_move_to_lru_tail(bo);
                moved.insert(bo->tag);
                for (test_bo *b : bos) // a range's end moves past its fellows
                    if (bo->bulk_move && b->bulk_move)
                        moved.insert(b->tag);
            }
        }
        ttm_resource_cursor_fini(&cursor);
        for (test_bo *bo : bos) {
            if (!moved.count(bo->tag))
                ASSERT_EQ(seen[bo->tag], 1) << "round " << round << " tag " << bo->tag;
            else
                ASSERT_GE(seen[bo->tag], 1);
            ttm_bo_set_bulk_move(bo, nullptr);
        }
        EXPECT_TRUE(list_empty(bulk.cursor_list));
        dma_resv_unlock(resv);
        for (test_bo *bo : bos)
            destroy(bo);
    }
}

TEST_F(lru_test, a_bulk_may_go_away_under_a_cursor)
{
    auto gone = std::make_unique<ttm_lru_bulk_move>();
    ttm_lru_bulk_move_init(gone.get());
    test_bo *a = create(1, {in_vram}, &resv);
    test_bo *b = create(1, {in_vram}, &resv);
    bulk_move(a, gone.get());
    bulk_move(b, gone.get());

    ttm_resource_cursor cursor;
    ttm_resource_cursor_init(&cursor, &vram);
    EXPECT_EQ(ttm_resource_manager_first(&cursor), a->resource);
    EXPECT_FALSE(list_empty(gone->cursor_list));
    bulk_move(a, nullptr);
    bulk_move(b, nullptr);
    ttm_lru_bulk_move_fini(&bdev, gone.get());
    gone.reset();

    EXPECT_EQ(ttm_resource_manager_next(&cursor), b->resource);
    EXPECT_EQ(ttm_resource_manager_next(&cursor), nullptr);
    ttm_resource_cursor_fini(&cursor);
    destroy(a);
    destroy(b);
}

TEST_F(lru_test, pinned_bos_are_not_on_the_lru)
{
    test_bo *a = create(1, {in_vram});
    test_bo *b = create(1, {in_vram});
    lock(a);
    ttm_bo_pin(a);
    EXPECT_EQ(lru(TTM_PL_VRAM), "2");
    EXPECT_EQ(order(bdev.unevictable), "1");
    ttm_bo_move_to_lru_tail(a);
    EXPECT_EQ(order(bdev.unevictable), "1");
    ttm_bo_unpin(a);
    unlock(a);
    EXPECT_EQ(lru(TTM_PL_VRAM), "2 1");
    destroy(a);
    destroy(b);
}

TEST_F(lru_test, compatible_looks_at_flags_and_contiguity)
{
    test_bo *bo = create(1, {in_vram});
    const auto compatible = [&](ttm_place place, bool evicting) {
        const ttm_placement placement{1, &place};
        return ttm_resource_compatible(bo->resource, &placement, evicting);
    };
    EXPECT_TRUE(compatible(in_vram, false));
    EXPECT_TRUE(compatible(in_vram, true));
    EXPECT_TRUE(compatible(in_vram_desired, false));
    EXPECT_FALSE(compatible(in_vram_desired, true));
    EXPECT_FALSE(compatible({0, 0, TTM_PL_VRAM, TTM_PL_FLAG_FALLBACK}, false));
    EXPECT_TRUE(compatible({0, 0, TTM_PL_VRAM, TTM_PL_FLAG_FALLBACK}, true));
    EXPECT_FALSE(compatible(in_gtt, false));
    EXPECT_FALSE(compatible({0, 0, TTM_PL_VRAM, TTM_PL_FLAG_CONTIGUOUS}, false));
    bo->resource->placement = TTM_PL_FLAG_TEMPORARY;
    EXPECT_FALSE(compatible(in_vram, false));
    destroy(bo);
}

} // namespace
} // namespace vramlab::kmd::test
