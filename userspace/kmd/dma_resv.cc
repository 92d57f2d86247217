// SPDX-License-Identifier: MIT
#include "kmd/dma_resv.h"

#include <algorithm>
#include <bit>
#include <stdexcept>
#include <vector>

namespace vramlab::kmd {
namespace {

constexpr u32 list_header_bytes = 24; // struct dma_resv_list of a 64-bit kernel: rcu_head and two u32
constexpr u32 page_bytes = 4096;
constexpr u32 kmalloc_cache_max_bytes = 2 * page_bytes;

// kmalloc_size_roundup() of SLUB.
u32 kmalloc_bucket(u32 bytes)
{
    if (bytes > 64 && bytes <= 96)
        return 96;
    if (bytes > 128 && bytes <= 192)
        return 192;
    const u32 power = std::bit_ceil(bytes);
    return bytes > kmalloc_cache_max_bytes ? std::max(power, page_bytes) : std::max(power, 8u);
}

// dma_resv_list_alloc(): how many fences a list made for num has room for.
u16 list_room(u32 num)
{
    const u32 room = (kmalloc_bucket(list_header_bytes + num * 8) - list_header_bytes) / 8;
    if (room > 0xffff)
        throw std::logic_error("dma_resv: more fences than the model holds");
    return static_cast<u16>(room);
}

void free_far(dma_resv &r)
{
    if (r.capacity > dma_resv::inline_slots)
        delete[] r.far;
    r.capacity = dma_resv::inline_slots;
}

// Room for one more.
void grow_storage(dma_resv &r)
{
    const u16 capacity = static_cast<u16>(std::min<u32>(0xffff, std::max<u32>(4, r.capacity * 2u)));
    auto *slots = new dma_resv::slot[capacity];
    std::copy_n(r.slots(), r.num_fences, slots);
    free_far(r);
    r.far = slots;
    r.capacity = capacity;
}

void store(dma_resv &r, dma_resv::slot s)
{
    if (r.num_fences == r.capacity)
        grow_storage(r);
    r.slots()[r.num_fences++] = s;
}

} // namespace

dma_resv::~dma_resv()
{
    for (u16 i = 0; i < num_fences; i++)
        dma_fence_put(fence_of(slots()[i]));
    free_far(*this);
}

int dma_resv_grow(dma_resv &r, u32 num)
{
    if (num == 0)
        return -EINVAL;
    u32 max = std::max(4u, std::bit_ceil(num));
    if (r.max_fences)
        max = std::max<u32>(r.num_fences + num, r.max_fences * 2u);
    r.max_fences = list_room(max);

    const u32 still_reserved = r.reserved > r.num_fences ? r.reserved - r.num_fences : 0u;
    std::vector<dma_fence *> signaled; // put at the end: nothing may see the list half done
    dma_resv::slot *s = r.slots();
    u16 kept = 0;
    for (u16 i = 0; i < r.num_fences; i++) {
        dma_fence *f = dma_resv::fence_of(s[i]);
        if (f->signaled)
            signaled.push_back(f);
        else
            s[kept++] = s[i];
    }
    r.num_fences = kept;
    r.reserved = static_cast<u16>(kept + std::max(num, still_reserved));
    for (dma_fence *f : signaled)
        dma_fence_put(f);
    return 0;
}

void dma_resv_append(dma_resv &r, dma_fence &f, dma_resv_usage usage)
{
    if (r.num_fences >= r.reserved)
        throw std::logic_error("dma_resv_add_fence: no slot reserved");
    store(r, dma_resv::make_slot(dma_fence_get(&f), usage));
}

// Whatever happens while the clock advances may change the list, so each wait starts over; what it waited for
// is signalled then and is skipped.
int dma_resv_wait(dma_resv &r, dma_resv_usage usage)
{
    for (u16 i = 0; i < r.num_fences;) {
        const dma_resv::slot s = r.slots()[i];
        dma_fence *f = dma_resv::fence_of(s);
        if (dma_resv::usage_of(s) > usage || f->signaled) {
            i++;
            continue;
        }
        dma_fence_wait(*f);
        i = 0;
    }
    return 0;
}

int dma_resv_copy_fences(dma_resv &dst, const dma_resv &src)
{
    if (&dst == &src)
        throw std::logic_error("dma_resv_copy_fences: onto itself");
    const std::vector<dma_resv::slot> old(dst.slots(), dst.slots() + dst.num_fences);
    free_far(dst);
    dst.num_fences = 0;
    dma_resv_for_each_fence(src, dma_resv_usage::bookkeep, [&](dma_fence &f, dma_resv_usage usage) {
        store(dst, dma_resv::make_slot(dma_fence_get(&f), usage));
    });
    // The kernel allocates for all of src's fences once it meets an unsignalled one.
    dst.max_fences = dst.num_fences ? list_room(src.num_fences) : u16{0};
    dst.reserved = dst.num_fences;
    for (const dma_resv::slot s : old)
        dma_fence_put(dma_resv::fence_of(s));
    return 0;
}

} // namespace vramlab::kmd
