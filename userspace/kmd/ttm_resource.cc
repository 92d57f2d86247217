// SPDX-License-Identifier: MIT
// See ttm_resource.h. Models ttm_resource.c, first half: bulk moves, LRU membership, life of a resource.
#include "kmd/ttm_resource.h"

#include "kmd/dmem_cgroup.h"
#include "kmd/ttm_internal.h"

#include <bit>

namespace vramlab::kmd {

void ttm_resource_cursor_init(ttm_resource_cursor *cursor, ttm_resource_manager *man)
{
    cursor->priority = 0;
    cursor->man = man;
}

static void ttm_resource_cursor_clear_bulk(ttm_resource_cursor *cursor)
{
    cursor->bulk = nullptr;
    list_del_init(*cursor);
}

void ttm_resource_cursor_fini(ttm_resource_cursor *cursor)
{
    list_del_init(cursor->hitch);
    ttm_resource_cursor_clear_bulk(cursor);
}

static ttm_resource_cursor *first_cursor(ttm_lru_bulk_move *bulk)
{
    return static_cast<ttm_resource_cursor *>(static_cast<ttm_cursor_bulk_link *>(bulk->cursor_list.next));
}

static void ttm_resource_cursor_move_bulk_tail(ttm_lru_bulk_move *bulk, ttm_resource_cursor *cursor)
{
    ttm_warn_on(bulk != cursor->bulk, "ttm_resource_cursor_move_bulk_tail");

    ttm_lru_bulk_move_pos *pos = &bulk->pos[cursor->mem_type][cursor->priority];
    if (pos->last)
        list_move(cursor->hitch, *pos->last);
    ttm_resource_cursor_clear_bulk(cursor);
}

// Else a cursor in the range would be taken along to the tail and never see what was between.
static void ttm_bulk_move_adjust_cursors(ttm_lru_bulk_move *bulk)
{
    while (!list_empty(bulk->cursor_list))
        ttm_resource_cursor_move_bulk_tail(bulk, first_cursor(bulk));
}

void ttm_lru_bulk_move_init(ttm_lru_bulk_move *bulk)
{
    for (auto &type : bulk->pos)
        for (ttm_lru_bulk_move_pos &pos : type)
            pos = {};
    bulk->cursor_list.next = bulk->cursor_list.prev = &bulk->cursor_list;
}

void ttm_lru_bulk_move_fini(ttm_device *, ttm_lru_bulk_move *bulk)
{
    while (!list_empty(bulk->cursor_list))
        ttm_resource_cursor_clear_bulk(first_cursor(bulk));
}

void ttm_lru_bulk_move_tail(ttm_lru_bulk_move *bulk)
{
    ttm_bulk_move_adjust_cursors(bulk);
    for (u32 i = 0; i < TTM_NUM_MEM_TYPES; ++i) {
        for (u32 j = 0; j < TTM_MAX_BO_PRIORITY; ++j) {
            ttm_lru_bulk_move_pos *pos = &bulk->pos[i][j];

            if (!pos->first)
                continue;

            dma_resv_assert_held(pos->first->bo->resv);
            dma_resv_assert_held(pos->last->bo->resv);

            ttm_resource_manager *man = ttm_manager_type(pos->first->bo->bdev, i);
            ttm_lru_forget_passed(man);
            list_bulk_move_tail(man->lru[j], *pos->first, *pos->last);
        }
    }
}

static ttm_lru_bulk_move_pos *ttm_lru_bulk_move_pos_of(ttm_lru_bulk_move *bulk, const ttm_resource *res)
{
    return &bulk->pos[res->mem_type][res->bo->priority];
}

// The neighbours of res that are resources. The caller knows that there is one: res is inside of a range.
static ttm_resource *ttm_lru_prev_res(ttm_resource *cur)
{
    ttm_lru_item *lru = cur;

    do {
        lru = static_cast<ttm_lru_item *>(lru->prev);
    } while (!ttm_lru_item_is_res(*lru));

    return ttm_lru_item_to_res(lru);
}

static ttm_resource *ttm_lru_next_res(ttm_resource *cur)
{
    ttm_lru_item *lru = cur;

    do {
        lru = static_cast<ttm_lru_item *>(lru->next);
    } while (!ttm_lru_item_is_res(*lru));

    return ttm_lru_item_to_res(lru);
}

static void forget_passed(const ttm_resource *res)
{
    ttm_lru_forget_passed(ttm_manager_type(res->bo->bdev, res->mem_type));
}

// res leaves its place, and nothing takes it.
static void forget_passed_if_last(const ttm_resource *res)
{
    for (ttm_lru_passed &passed : ttm_manager_type(res->bo->bdev, res->mem_type)->passed)
        if (passed.last == res)
            passed = {};
}

static u32 ttm_lru_bulk_move_level(const ttm_resource *res)
{
    return res->bo->bdev->mechanisms.priority ? res->bo->bulk_priority : 0;
}

// The last resource of a level up to this one, or nullptr.
static ttm_resource *ttm_lru_bulk_move_pos_last_of(const ttm_lru_bulk_move_pos *pos, u32 level)
{
    const u32 used = pos->used & ((2u << level) - 1);

    return used ? pos->last_of[static_cast<u32>(std::bit_width(used)) - 1] : nullptr;
}

static void ttm_lru_bulk_move_pos_update_last(ttm_lru_bulk_move_pos *pos)
{
    pos->last = ttm_lru_bulk_move_pos_last_of(pos, TTM_NUM_BULK_PRIORITIES - 1);
}

// As the last of its level.
static void ttm_lru_bulk_move_pos_insert(ttm_lru_bulk_move_pos *pos, ttm_resource *res)
{
    const u32 level = ttm_lru_bulk_move_level(res);
    ttm_resource *prev = ttm_lru_bulk_move_pos_last_of(pos, level);

    forget_passed(res);

    if (prev) {
        list_move(*res, *prev);
    } else {
        if (pos->first)
            list_move_tail(*res, *pos->first);
        pos->first = res;
    }

    res->bulk_level = level & (TTM_NUM_BULK_PRIORITIES - 1);
    pos->last_of[level] = res;
    pos->used = static_cast<u16>(pos->used | 1u << level);
    ttm_lru_bulk_move_pos_update_last(pos);
}

// Takes it out of the range without moving it.
static void ttm_lru_bulk_move_pos_forget(ttm_lru_bulk_move_pos *pos, ttm_resource *res)
{
    const u32 level = res->bulk_level;

    if (pos->last_of[level] == res) {
        ttm_resource *prev = pos->first == res ? nullptr : ttm_lru_prev_res(res);
        if (prev && prev->bulk_level == level) {
            pos->last_of[level] = prev;
        } else {
            pos->last_of[level] = nullptr;
            pos->used = static_cast<u16>(pos->used & ~(1u << level));
        }
    }

    if (pos->first == res)
        pos->first = pos->last == res ? nullptr : ttm_lru_next_res(res);
    ttm_lru_bulk_move_pos_update_last(pos);
}

// To the tail of its level.
static void ttm_lru_bulk_move_pos_tail(ttm_lru_bulk_move_pos *pos, ttm_resource *res)
{
    if (res->bulk_level == ttm_lru_bulk_move_level(res) && pos->last_of[res->bulk_level] == res)
        return;

    ttm_lru_bulk_move_pos_forget(pos, res);
    ttm_lru_bulk_move_pos_insert(pos, res);
}

static void ttm_lru_bulk_move_add(ttm_lru_bulk_move *bulk, ttm_resource *res)
{
    ttm_lru_bulk_move_pos *pos = ttm_lru_bulk_move_pos_of(bulk, res);

    ttm_warn_on(pos->first && pos->first->bo->resv != res->bo->resv, "ttm_lru_bulk_move_add: another resv");
    ttm_lru_bulk_move_pos_insert(pos, res);
}

static void ttm_lru_bulk_move_del(ttm_lru_bulk_move *bulk, ttm_resource *res)
{
    ttm_lru_bulk_move_pos *pos = ttm_lru_bulk_move_pos_of(bulk, res);
    const bool inside = pos->first != res && pos->last != res;

    ttm_warn_on(!pos->first || !pos->last, "ttm_lru_bulk_move_del: empty range");
    ttm_lru_bulk_move_pos_forget(pos, res);
    if (inside) {
        forget_passed(res);
        list_move(*res, *pos->last);
    }
}

static bool ttm_resource_is_swapped(const ttm_resource *res, const ttm_buffer_object *bo)
{
    // A resource that is under way to a swapped-out BO is not swapped itself.
    if (bo->resource != res || !bo->ttm)
        return false;

    return ttm_tt_is_swapped(bo->ttm);
}

static bool ttm_resource_unevictable(const ttm_resource *res, const ttm_buffer_object *bo)
{
    return bo->pin_count || ttm_resource_is_swapped(res, bo);
}

void ttm_resource_add_bulk_move(ttm_resource *res, ttm_buffer_object *bo)
{
    if (bo->bulk_move && !ttm_resource_unevictable(res, bo))
        ttm_lru_bulk_move_add(bo->bulk_move, res);
}

void ttm_resource_del_bulk_move(ttm_resource *res, ttm_buffer_object *bo)
{
    if (bo->bulk_move && !ttm_resource_unevictable(res, bo))
        ttm_lru_bulk_move_del(bo->bulk_move, res);
}

// For a BO that has just become unevictable and so is still in its range.
void ttm_resource_del_bulk_move_unevictable(ttm_resource *res, ttm_buffer_object *bo)
{
    ttm_warn_on(!ttm_resource_unevictable(res, bo), "ttm_resource_del_bulk_move_unevictable");
    if (bo->bulk_move)
        ttm_lru_bulk_move_del(bo->bulk_move, res);
}

void ttm_resource_update_bulk_move(ttm_resource *res, ttm_buffer_object *bo)
{
    if (bo->bulk_move && !ttm_resource_unevictable(res, bo))
        ttm_lru_bulk_move_pos_tail(ttm_lru_bulk_move_pos_of(bo->bulk_move, res), res);
}

void ttm_resource_move_to_lru_tail(ttm_resource *res)
{
    ttm_buffer_object *bo = res->bo;
    ttm_device *bdev = bo->bdev;

    forget_passed_if_last(res);
    if (ttm_resource_unevictable(res, bo))
        list_move_tail(*res, bdev->unevictable);
    else if (bo->bulk_move)
        ttm_lru_bulk_move_pos_tail(ttm_lru_bulk_move_pos_of(bo->bulk_move, res), res);
    else
        list_move_tail(*res, ttm_manager_type(bdev, res->mem_type)->lru[bo->priority]);
}

u64 ttm_resource_size(const ttm_resource *res)
{
    return res->bo->size;
}

void ttm_resource_init(ttm_buffer_object *bo, const ttm_place *place, ttm_resource *res)
{
    res->start = 0;
    res->mem_type = static_cast<u8>(place->mem_type) & 0xf;
    res->bulk_level = 0;
    res->placement = static_cast<u16>(place->flags);
    res->bo = bo;

    ttm_resource_manager *man = ttm_manager_type(bo->bdev, place->mem_type);
    if (ttm_resource_unevictable(res, bo))
        list_add_tail(*res, bo->bdev->unevictable);
    else
        list_add_tail(*res, man->lru[bo->priority]);
    man->usage += ttm_resource_size(res);
}

void ttm_resource_fini(ttm_resource_manager *man, ttm_resource *res)
{
    forget_passed_if_last(res);
    list_del_init(*res);
    man->usage -= ttm_resource_size(res);
}

int ttm_resource_try_charge(ttm_buffer_object *bo, const ttm_place *place, dmem_cgroup_pool_state **ret_pool,
                            dmem_cgroup_pool_state **ret_limit_pool)
{
    ttm_resource_manager *man = ttm_manager_type(bo->bdev, place->mem_type);

    if (!man->cg) {
        *ret_pool = nullptr;
        if (ret_limit_pool)
            *ret_limit_pool = nullptr;
        return 0;
    }

    return dmem_cgroup_try_charge(man->cg, bo->size, ret_pool, ret_limit_pool);
}

int ttm_resource_alloc(ttm_buffer_object *bo, const ttm_place *place, ttm_resource **res,
                       dmem_cgroup_pool_state *charge_pool)
{
    ttm_resource_manager *man = ttm_manager_type(bo->bdev, place->mem_type);

    int ret = man->func->alloc(man, bo, place, res);
    if (ret)
        return ret;

    (*res)->css = charge_pool;
    ttm_resource_add_bulk_move(*res, bo);
    return 0;
}

void ttm_resource_free(ttm_buffer_object *bo, ttm_resource **res)
{
    if (!*res)
        return;

    ttm_resource_del_bulk_move(*res, bo);

    dmem_cgroup_pool_state *pool = (*res)->css;
    ttm_resource_manager *man = ttm_manager_type(bo->bdev, (*res)->mem_type);
    man->func->free(man, *res);
    *res = nullptr;
    if (pool)
        dmem_cgroup_uncharge(pool, bo->size);
}

void ttm_resource_set_bo(ttm_resource *res, ttm_buffer_object *bo)
{
    forget_passed(res);
    res->bo = bo;
}

} // namespace vramlab::kmd
