// SPDX-License-Identifier: MIT
// Priorities within bulk moves: is the range sorted and whole whatever happens, and at what cost?
#include "kmd/ttm_bulk_priority_fixture.h"

#include <algorithm>
#include <ctime>
#include <map>
#include <random>
#include <set>

namespace vramlab::kmd::test {
namespace {

u64 tag_of(const ttm_resource *res)
{
    return static_cast<test_bo *>(res->bo)->tag;
}

std::string text(const std::vector<u64> &tags)
{
    std::string s;
    for (u64 t : tags)
        s += (s.empty() ? "" : " ") + std::to_string(t);
    return s;
}

// The LRU, kept the slow way: a vector of tags, of which those with a level are in the bulk move.
struct naive_lru {
    std::vector<u64> lru;
    std::map<u64, u32> level;

    std::vector<u64> range() const
    {
        std::vector<u64> r;
        std::copy_if(lru.begin(), lru.end(), std::back_inserter(r), [&](u64 t) { return level.count(t); });
        return r;
    }
    // Behind the last one of the same level or a lower one, else in front of all; the only one stays.
    void insert(u64 tag, u32 new_level)
    {
        level.erase(tag);
        const std::vector<u64> r = range();
        level[tag] = new_level;
        if (r.empty())
            return;
        u64 behind = 0;
        for (u64 t : r)
            if (level[t] <= new_level)
                behind = t;
        std::erase(lru, tag);
        if (behind)
            lru.insert(std::find(lru.begin(), lru.end(), behind) + 1, tag);
        else
            lru.insert(std::find(lru.begin(), lru.end(), r.front()), tag);
    }
    void leave(u64 tag)
    {
        const std::vector<u64> r = range();
        level.erase(tag);
        if (tag == r.front() || tag == r.back())
            return;
        std::erase(lru, tag);
        lru.insert(std::find(lru.begin(), lru.end(), r.back()) + 1, tag);
    }
    void to_tail(u64 tag)
    {
        std::erase(lru, tag);
        lru.push_back(tag);
    }
};

// The generator of the kernel's KUnit test, so that both take the same path.
class xorshift {
public:
    explicit xorshift(u64 state) : state_(state) {}
    u64 below(u64 limit)
    {
        state_ ^= state_ << 13;
        state_ ^= state_ >> 7;
        state_ ^= state_ << 17;
        return (state_ >> 11) % limit;
    }

private:
    u64 state_;
};

class bulk_priority : public bulk_priority_test {
protected:
    void random_step(naive_lru &model, xorshift &random, u64 levels);
    void random_run(naive_lru &model, u64 seed, bool switching);
    void check(const naive_lru &model)
    {
        const ttm_lru_bulk_move_pos &pos = bulk[0].pos[TTM_PL_VRAM][0];
        std::vector<u64> range;
        u32 used = 0, level = 0;
        for (list_head *e = pos.first; e; e = e == pos.last ? nullptr : e->next) {
            auto *item = static_cast<ttm_lru_item *>(e);
            if (!ttm_lru_item_is_res(*item))
                continue;
            ttm_resource *res = ttm_lru_item_to_res(item);
            range.push_back(tag_of(res));
            ASSERT_GE(res->bulk_level, level);
            level = res->bulk_level;
            used |= 1u << level;
            ASSERT_EQ(level, model.level.at(tag_of(res)));
        }
        ASSERT_EQ(text(range), text(model.range()));
        ASSERT_EQ(pos.used, used);
        for (u32 l = 0; l < TTM_NUM_BULK_PRIORITIES; l++) {
            u64 last = 0;
            for (u64 tag : range)
                if (model.level.at(tag) == l)
                    last = tag;
            ASSERT_EQ(pos.last_of[l] ? tag_of(pos.last_of[l]) : 0, last) << "level " << l;
        }
    }
};

void bulk_priority::random_step(naive_lru &model, xorshift &random, u64 levels)
{
    test_bo *bo = bos[random.below(bos.size())];
    const u64 what = random.below(7), arg = random.below(levels), tag = bo->tag;
    const auto level = [&] { return bdev.mechanisms.priority ? u32{bo->bulk_priority} : 0; };
    switch (what) {
    case 0:
    case 1: {
        const bool changes = bo->bulk_priority != arg;
        ttm_bo_set_bulk_priority(bo, static_cast<u32>(arg));
        if (bo->bulk_move && changes)
            model.insert(tag, level());
        break;
    }
    case 2:
        ttm_bo_move_to_lru_tail(bo);
        if (bo->bulk_move)
            model.insert(tag, level());
        else
            model.to_tail(tag);
        break;
    case 3:
    case 4:
        if ((bo->bulk_move != nullptr) == (arg % 3 != 0))
            break;
        ttm_bo_set_bulk_move(bo, arg % 3 ? &bulk[0] : nullptr);
        if (bo->bulk_move)
            model.insert(tag, level());
        else
            model.leave(tag);
        break;
    case 5:
        ttm_lru_bulk_move_tail(&bulk[0]);
        for (u64 t : model.range())
            model.to_tail(t);
        break;
    case 6: // a new resource, with its priority as it is now
        ASSERT_EQ(validate_locked(bo, {in_gtt}), 0);
        ASSERT_EQ(validate_locked(bo, {in_vram}), 0);
        if (bo->bulk_move)
            model.leave(tag);
        model.to_tail(tag);
        if (bo->bulk_move)
            model.insert(tag, level());
        break;
    }
}

void bulk_priority::random_run(naive_lru &model, u64 seed, bool switching)
{
    for (int i = 0; i < 14; i++) {
        bos.push_back(create(1, {in_vram}, &resv));
        model.lru.push_back(bos.back()->tag);
    }
    xorshift random(seed), switches(seed);
    ASSERT_EQ(dma_resv_lock(resv, nullptr), 0);
    for (int step = 0; step < 10000; step++) {
        if (switching && !switches.below(100)) // somebody writes to the module parameter
            bdev.mechanisms.priority = !bdev.mechanisms.priority;
        ASSERT_NO_FATAL_FAILURE(random_step(model, random, step / 500 % 2 ? 3 : TTM_NUM_BULK_PRIORITIES));
        ASSERT_EQ(lru(TTM_PL_VRAM), text(model.lru)) << "step " << step;
        ASSERT_NO_FATAL_FAILURE(check(model)) << "step " << step;
    }
    dma_resv_unlock(resv);
    clear();
    EXPECT_EQ(bulk[0].pos[TTM_PL_VRAM][0].first, nullptr);
    EXPECT_EQ(bulk[0].pos[TTM_PL_VRAM][0].last, nullptr);
    EXPECT_EQ(bulk[0].pos[TTM_PL_VRAM][0].used, 0);
}

TEST_F(bulk_priority, random_operations_match_the_naive_list)
{
    naive_lru model;
    random_run(model, 11, false);
    // The kernel's test ends with this, too.
    EXPECT_EQ(text(model.lru), "4 7 11 10 13 14 9 3 8 2 1 5 6 12");
}

TEST_F(bulk_priority, the_switch_may_be_turned_any_time)
{
    for (u64 seed = 1; seed <= 5; seed++) {
        naive_lru model;
        random_run(model, seed, true);
    }
}

// A cursor that is on its way sees what stays where it is exactly once, and comes to an end.
TEST_F(bulk_priority, cursors_survive_changes_of_priority)
{
    std::mt19937_64 rng(5);
    for (int round = 0; round < 200; round++) {
        for (int i = 0; i < 16; i++)
            create_in(static_cast<u32>(rng() % TTM_NUM_BULK_PRIORITIES), in_vram, 1);
        ASSERT_EQ(dma_resv_lock(resv, nullptr), 0);
        std::map<u64, int> seen;
        std::set<u64> changed;
        u32 steps = 0, changes = 0;
        ttm_resource_cursor cursor;
        ttm_resource_cursor_init(&cursor, &vram);
        for (ttm_resource *res = ttm_resource_manager_first(&cursor); res;
             res = ttm_resource_manager_next(&cursor)) {
            ASSERT_LT(steps++, 16 + 8u);
            seen[tag_of(res)]++;
            if (changes == 8 || rng() % 2)
                continue;
            changes++;
            test_bo *bo = bos[rng() % bos.size()];
            changed.insert(bo->tag);
            ttm_bo_set_bulk_priority(bo, static_cast<u32>(rng() % TTM_NUM_BULK_PRIORITIES));
        }
        ttm_resource_cursor_fini(&cursor);
        for (test_bo *bo : bos)
            if (!changed.count(bo->tag)) {
                ASSERT_EQ(seen[bo->tag], 1) << "round " << round << " tag " << bo->tag;
            }
        EXPECT_TRUE(list_empty(bulk[0].cursor_list));
        dma_resv_unlock(resv);
        clear();
    }
}

// A search would take a thousand times as long in the longer range; caches account for a few times.
TEST_F(bulk_priority, a_change_costs_the_same_in_a_long_range)
{
    std::mt19937_64 rng(3);
    constexpr u32 changes = 20000;
    const auto cost = [&](u32 count) {
        std::vector<std::unique_ptr<test_bo>> many;
        std::vector<std::unique_ptr<ttm_resource>> resources;
        dma_resv_lock(resv, nullptr);
        for (u32 i = 0; i < count; i++) {
            many.push_back(std::make_unique<test_bo>());
            resources.push_back(std::make_unique<ttm_resource>());
            test_bo &bo = *many.back();
            bo.bdev = &bdev;
            bo.resv = &resv;
            bo.size = PAGE_SIZE;
            bo.resource = resources.back().get();
            ttm_resource_init(&bo, &in_vram, bo.resource);
            bo.bulk_priority = rng() % TTM_NUM_BULK_PRIORITIES;
            ttm_bo_set_bulk_move(&bo, &bulk[0]);
        }
        const std::clock_t start = std::clock();
        for (u32 i = 0; i < changes; i++)
            ttm_bo_set_bulk_priority(many[rng() % count].get(),
                                     static_cast<u32>(rng() % TTM_NUM_BULK_PRIORITIES));
        const std::clock_t ticks = std::clock() - start;
        for (const auto &bo : many) {
            ttm_bo_set_bulk_move(bo.get(), nullptr);
            ttm_resource_fini(&vram, bo->resource);
        }
        dma_resv_unlock(resv);
        return ticks + 1;
    };
    cost(64);
    EXPECT_LT(cost(64 * 1024) / cost(64), 200);
}

} // namespace
} // namespace vramlab::kmd::test
