// SPDX-License-Identifier: MIT
// Models drivers/dma-buf/dma-resv.c: a ww_mutex and a list of fences with usages. Order and compaction of the
// list are the kernel's without CONFIG_DEBUG_MUTEXES (a list grows to the size of a kmalloc bucket and keeps
// it). Omits: RCU; unlocked iteration is plain iteration, since one task runs at a time. dma_resv_list's
// -ENOMEM.
//
// The first two fences live in the object itself, so that most BOs need no heap block.
#pragma once

#include "kmd/dma_fence.h"
#include "kmd/ww_mutex.h"

namespace vramlab::kmd {

enum class dma_resv_usage : u8 { kernel, write, read, bookkeep };

struct dma_resv {
    ww_mutex lock;

    dma_resv() = default;
    ~dma_resv();
    dma_resv(const dma_resv &) = delete;
    dma_resv &operator=(const dma_resv &) = delete;

    // An owned reference with the usage in its two low bits, as in the kernel.
    using slot = std::uintptr_t;
    static constexpr u16 inline_slots = 2;
    union {
        slot near[inline_slots] = {};
        slot *far; // if capacity > inline_slots
    };
    u16 num_fences = 0;
    u16 max_fences = 0; // of the kernel's list: what decides when signalled fences are dropped
    u16 reserved =
        0; // num_fences may grow to this until the unlock (CONFIG_DEBUG_MUTEXES' check, by the letter)
    u16 capacity = inline_slots; // of the storage here

    slot *slots() { return capacity > inline_slots ? far : near; }
    const slot *slots() const { return capacity > inline_slots ? far : near; }
    static slot make_slot(dma_fence *f, dma_resv_usage u)
    {
        return reinterpret_cast<slot>(f) | static_cast<slot>(u);
    }
    static dma_fence *fence_of(slot s) { return reinterpret_cast<dma_fence *>(s & ~slot{3}); }
    static dma_resv_usage usage_of(slot s) { return static_cast<dma_resv_usage>(s & 3); }
};
static_assert(sizeof(dma_resv) == 48);

inline int dma_resv_lock(dma_resv &r, ww_acquire_ctx *ctx)
{
    return ww_mutex_lock(r.lock, ctx);
}
inline void dma_resv_lock_slow(dma_resv &r, ww_acquire_ctx &ctx)
{
    ww_mutex_lock_slow(r.lock, ctx);
}
inline bool dma_resv_trylock(dma_resv &r, ww_acquire_ctx *ctx = nullptr)
{
    return ww_mutex_trylock(r.lock, ctx);
}
inline void dma_resv_unlock(dma_resv &r)
{
    r.reserved = r.num_fences;
    ww_mutex_unlock(r.lock);
}
inline bool dma_resv_is_locked(const dma_resv &r)
{
    return r.lock.locked;
}
inline ww_acquire_ctx *dma_resv_locking_ctx(const dma_resv &r)
{
    return r.lock.ctx;
}

int dma_resv_grow(dma_resv &r, u32 num); // the rest of dma_resv_reserve_fences()
void dma_resv_append(dma_resv &r, dma_fence &f, dma_resv_usage usage); // the rest of dma_resv_add_fence()

// The resv must be locked. 0, or -EINVAL for no fences. Drops signalled fences if the list has to grow.
inline int dma_resv_reserve_fences(dma_resv &r, u32 num)
{
    if (num == 0 || r.num_fences + num > r.max_fences) [[unlikely]]
        return dma_resv_grow(r, num);
    if (r.num_fences + num > r.reserved)
        r.reserved = static_cast<u16>(r.num_fences + num);
    return 0;
}

// Replaces the first fence that is signalled or an earlier one of the same context with no stricter usage;
// else takes a reserved slot, without which it is a std::logic_error. The resv must be locked.
inline void dma_resv_add_fence(dma_resv &r, dma_fence &f, dma_resv_usage usage)
{
    dma_resv::slot *s = r.slots();
    for (u16 i = 0; i < r.num_fences; i++) {
        dma_fence *old = dma_resv::fence_of(s[i]);
        if ((old->context == f.context && dma_resv::usage_of(s[i]) >= usage && f.seqno >= old->seqno) ||
            old->signaled) {
            s[i] = dma_resv::make_slot(dma_fence_get(&f), usage);
            dma_fence_put(old);
            return;
        }
    }
    dma_resv_append(r, f, usage);
}

// Whether no fence up to usage is unsignalled.
inline bool dma_resv_test_signaled(const dma_resv &r, dma_resv_usage usage)
{
    const dma_resv::slot *s = r.slots();
    for (u16 i = 0; i < r.num_fences; i++)
        if (dma_resv::usage_of(s[i]) <= usage && !dma_resv::fence_of(s[i])->signaled)
            return false;
    return true;
}
// Waits for each fence up to usage. Returns 0.
int dma_resv_wait(dma_resv &r, dma_resv_usage usage);
// dst (locked) loses its own fences and gets the unsignalled ones of src. Returns 0.
int dma_resv_copy_fences(dma_resv &dst, const dma_resv &src);

// fn(dma_fence &, dma_resv_usage) for each fence with a usage up to the given one, in list order (unsignalled
// ones only, as dma_resv_for_each_fence_unlocked does). fn must not change r.
template <typename Fn> void dma_resv_for_each_fence(const dma_resv &r, dma_resv_usage usage, Fn &&fn)
{
    const dma_resv::slot *s = r.slots();
    for (u16 i = 0; i < r.num_fences; i++) {
        dma_fence *f = dma_resv::fence_of(s[i]);
        if (dma_resv::usage_of(s[i]) <= usage && !f->signaled)
            fn(*f, dma_resv::usage_of(s[i]));
    }
}

} // namespace vramlab::kmd
