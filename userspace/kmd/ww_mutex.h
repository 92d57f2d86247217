// SPDX-License-Identifier: GPL-2.0 OR MIT
// Models kernel/locking/ww_mutex.h for a DEFINE_WD_CLASS class (Wait-Die) and the parts of
// kernel/locking/mutex.c that decide who gets a lock: waiters in stamp order, who dies when, who is woken.
// One class: reservation_ww_class. Omits: spinning (a parked holder is not on a CPU), signals, debugging
// fields except contending_lock, deadlock injection.
//
// In lockstep a lock is never free while somebody waits for it: ww_mutex_unlock() wakes the first waiter,
// which takes the lock before anybody else runs, so the lock is handed over at that moment.
#pragma once

#include "base/types.h"
#include "kmd/task.h"
#include "kmd/trace.h"

namespace vramlab::kmd {

struct ww_mutex;

struct ww_acquire_ctx {
    u64 stamp = 0;    // smaller is older
    u32 acquired = 0; // locks held
    u64 released = 0; // locks that were held and are no more
    ww_mutex *contending_lock =
        nullptr; // set by -EDEADLK, cleared by the next lock (CONFIG_DEBUG_MUTEXES' field)
};

struct ww_waiter; // on the waiting task's stack

struct ww_mutex {
    ww_acquire_ctx *ctx = nullptr;     // of the holder, if it has one
    ww_waiter *first_waiter = nullptr; // of a circular list
    u32 holder = 0;                    // process that holds or held it last; for events
    bool locked = false;
};
static_assert(sizeof(ww_mutex) == 24);

void ww_acquire_init(ww_acquire_ctx &ctx); // takes the next stamp
void ww_acquire_done(ww_acquire_ctx &ctx);
void ww_acquire_fini(ww_acquire_ctx &ctx); // locks still held are a std::logic_error
// Starts stamps over (a fresh device; stamps are compared, never shown).
void ww_reset_stamps();
// How often this thread did what CONFIG_DEBUG_MUTEXES warns about: after -EDEADLK it took another lock than
// the contended one, or took it while holding others, or was killed again. Mainline TTM does so in eviction;
// nothing else comes of it.
u64 ww_debug_warnings();

int ww_mutex_lock_slowpath(ww_mutex &lock, ww_acquire_ctx *ctx);
void ww_mutex_unlock_slowpath(ww_mutex &lock);
void ww_mutex_acquired_slowpath(ww_mutex &lock, ww_acquire_ctx &ctx);

// The lock is free: take it, as __mutex_trylock() and ww_mutex_set_context_fastpath().
inline void ww_mutex_take(ww_mutex &lock, ww_acquire_ctx *ctx)
{
    lock.locked = true;
    lock.holder = trace.process;
    if (!ctx)
        return;
    if (ctx->contending_lock || lock.first_waiter) [[unlikely]]
        ww_mutex_acquired_slowpath(lock, *ctx);
    ctx->acquired++;
    lock.ctx = ctx;
}

// 0, -EALREADY (held by ctx), -EDEADLK (must die). ctx may be nullptr: then it waits however long it takes.
// Parks before and, if it slept, after (Documentation/semantics.rst). A nullptr ctx on a lock that the caller
// holds is a deadlock, as in the kernel. Outside of a task, a lock that another holds is a std::logic_error.
inline int ww_mutex_lock(ww_mutex &lock, ww_acquire_ctx *ctx)
{
    if (lock.locked || task::current()) [[unlikely]]
        return ww_mutex_lock_slowpath(lock, ctx);
    ww_mutex_take(lock, ctx);
    return 0;
}
// After -EDEADLK, with nothing held: waits for the lock.
void ww_mutex_lock_slow(ww_mutex &lock, ww_acquire_ctx &ctx);
// Never sleeps. With a ctx the lock joins it.
inline bool ww_mutex_trylock(ww_mutex &lock, ww_acquire_ctx *ctx)
{
    if (lock.locked)
        return false;
    ww_mutex_take(lock, ctx);
    return true;
}
// Wakes nobody but the first waiter, which holds the lock from then on.
inline void ww_mutex_unlock(ww_mutex &lock)
{
    if (lock.first_waiter || !lock.locked) [[unlikely]] {
        ww_mutex_unlock_slowpath(lock);
        return;
    }
    if (lock.ctx) {
        lock.ctx->acquired--;
        lock.ctx->released++;
        lock.ctx = nullptr;
    }
    lock.locked = false;
}
inline bool ww_mutex_is_locked(const ww_mutex &lock)
{
    return lock.locked;
}

} // namespace vramlab::kmd
