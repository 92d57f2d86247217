// SPDX-License-Identifier: GPL-2.0 OR MIT
#include "kmd/ww_mutex.h"

#include <stdexcept>
#include <vector>

namespace vramlab::kmd {

// struct mutex_waiter. Circular list through prev and next, lock.first_waiter being its head.
struct ww_waiter {
    ww_waiter *prev = nullptr;
    ww_waiter *next = nullptr;
    task *sleeper = nullptr;
    ww_acquire_ctx *ctx = nullptr;
    int result = 0; // of the lock call, set by whoever takes it off the list
};

namespace {

thread_local u64 last_stamp = 0;
thread_local u64 debug_warnings = 0;

// __ww_ctx_less(): a is younger than b.
bool younger(const ww_acquire_ctx &a, const ww_acquire_ctx &b)
{
    return static_cast<s64>(a.stamp - b.stamp) > 0;
}

ww_waiter *last_waiter(const ww_mutex &lock)
{
    return lock.first_waiter ? lock.first_waiter->prev : nullptr;
}

ww_waiter *prev_waiter(const ww_mutex &lock, const ww_waiter &w)
{
    return lock.first_waiter == &w ? nullptr : w.prev;
}

ww_waiter *next_waiter(const ww_mutex &lock, const ww_waiter &w)
{
    return w.next == lock.first_waiter ? nullptr : w.next;
}

// __mutex_add_waiter(): in front of pos, at the tail without one.
void add_waiter_before(ww_mutex &lock, ww_waiter &w, ww_waiter *pos)
{
    ww_waiter *first = lock.first_waiter;
    if (!first) {
        w.prev = w.next = &w;
        lock.first_waiter = &w;
        return;
    }
    ww_waiter *next = pos ? pos : first;
    w.prev = next->prev;
    w.next = next;
    w.prev->next = &w;
    next->prev = &w;
    if (pos == first)
        lock.first_waiter = &w;
}

// __mutex_remove_waiter()
void remove_waiter(ww_mutex &lock, ww_waiter &w)
{
    if (w.next == &w) {
        lock.first_waiter = nullptr;
        return;
    }
    if (lock.first_waiter == &w)
        lock.first_waiter = w.next;
    w.prev->next = w.next;
    w.next->prev = w.prev;
}

// __ww_mutex_kill()
int kill(ww_mutex &lock, ww_acquire_ctx &ctx)
{
    if (ctx.acquired == 0)
        return 0;
    if (ctx.contending_lock)
        debug_warnings++;
    ctx.contending_lock = &lock;
    return -EDEADLK;
}

using wake_queue = std::vector<ww_waiter *>;

// __ww_mutex_die(): a younger waiter that holds locks is woken, to find out that it must die.
void die(ww_waiter &w, const ww_acquire_ctx &ctx, wake_queue &wake_q)
{
    if (w.ctx->acquired > 0 && younger(*w.ctx, ctx))
        wake_q.push_back(&w);
}

// __ww_mutex_add_waiter(): -EDEADLK if an older one waits.
int add_waiter(ww_mutex &lock, ww_waiter &w, wake_queue &wake_q)
{
    ww_waiter *pos = nullptr;
    if (w.ctx) {
        for (ww_waiter *cur = last_waiter(lock); cur; cur = prev_waiter(lock, *cur)) {
            if (!cur->ctx)
                continue;
            if (younger(*w.ctx, *cur->ctx)) {
                if (const int ret = kill(lock, *w.ctx))
                    return ret;
                break;
            }
            pos = cur;
            die(*cur, *w.ctx, wake_q);
        }
    }
    add_waiter_before(lock, w, pos);
    return 0;
}

// __ww_mutex_check_kill(): the holder is older, or somebody with a ticket is in front, who then is older too.
int check_kill(ww_mutex &lock, const ww_waiter &w)
{
    if (!w.ctx || w.ctx->acquired == 0)
        return 0;
    if (lock.ctx && younger(*w.ctx, *lock.ctx))
        return kill(lock, *w.ctx);
    for (ww_waiter *cur = prev_waiter(lock, w); cur; cur = prev_waiter(lock, *cur))
        if (cur->ctx)
            return kill(lock, *w.ctx);
    return 0;
}

// wake_up_q() and what the woken do until they park: all of them find the lock held, and leave or sleep on.
void wake_up(ww_mutex &lock, const wake_queue &wake_q)
{
    for (ww_waiter *w : wake_q) {
        const int ret = check_kill(lock, *w);
        if (!ret)
            continue;
        remove_waiter(lock, *w);
        w->result = ret;
        w->sleeper->wake();
    }
}

int deadlk(const ww_mutex &lock)
{
    record_lock_event(events::event_type::lock_deadlk, lock, -EDEADLK);
    return -EDEADLK;
}

} // namespace

void ww_acquire_init(ww_acquire_ctx &ctx)
{
    ctx = {.stamp = ++last_stamp};
}

void ww_acquire_done(ww_acquire_ctx &) {}

void ww_acquire_fini(ww_acquire_ctx &ctx)
{
    if (ctx.acquired != 0)
        throw std::logic_error("ww_acquire_fini: locks are still held");
}

void ww_reset_stamps()
{
    last_stamp = 0;
}

u64 ww_debug_warnings()
{
    return debug_warnings;
}

// The rest of ww_mutex_lock_acquired() and ww_mutex_set_context_fastpath(). There can be waiters only if the
// lock was free with waiters, which hand-over excludes; kept since it is the kernel's rule.
void ww_mutex_acquired_slowpath(ww_mutex &lock, ww_acquire_ctx &ctx)
{
    if (ctx.contending_lock) {
        if (ctx.contending_lock != &lock || ctx.acquired > 0)
            debug_warnings++;
        ctx.contending_lock = nullptr;
    }
    wake_queue wake_q;
    for (ww_waiter *cur = lock.first_waiter; cur; cur = next_waiter(lock, *cur)) {
        if (!cur->ctx)
            continue;
        die(*cur, ctx, wake_q); // __ww_mutex_check_waiters() stops at the first ticket
        break;
    }
    lock.ctx = &ctx;
    wake_up(lock, wake_q);
}

// __mutex_lock_common() with use_ww_ctx.
int ww_mutex_lock_slowpath(ww_mutex &lock, ww_acquire_ctx *ctx)
{
    task *self = task::current();
    if (self)
        self->park();
    if (ctx && ctx == lock.ctx)
        return -EALREADY;
    if (!lock.locked) {
        ww_mutex_take(lock, ctx);
        return 0;
    }

    ww_waiter waiter{.sleeper = self, .ctx = ctx};
    wake_queue wake_q;
    if (add_waiter(lock, waiter, wake_q)) {
        wake_up(lock, wake_q);
        return deadlk(lock);
    }
    if (check_kill(lock, waiter)) {
        remove_waiter(lock, waiter);
        wake_up(lock, wake_q);
        return deadlk(lock);
    }
    if (!self) {
        remove_waiter(lock, waiter);
        throw std::logic_error("ww_mutex_lock: would sleep outside of a task");
    }
    record_lock_event(events::event_type::lock_contended, lock, 0);
    wake_up(lock, wake_q);
    self->block();
    return waiter.result ? deadlk(lock) : 0;
}

void ww_mutex_lock_slow(ww_mutex &lock, ww_acquire_ctx &ctx)
{
    if (ww_mutex_lock(lock, &ctx) != 0)
        throw std::logic_error("ww_mutex_lock_slow: with locks held");
}

void ww_mutex_unlock_slowpath(ww_mutex &lock)
{
    if (!lock.locked)
        throw std::logic_error("ww_mutex_unlock: not locked");
    if (lock.ctx) {
        lock.ctx->acquired--;
        lock.ctx->released++;
        lock.ctx = nullptr;
    }
    lock.locked = false;
    ww_waiter *next = lock.first_waiter;
    if (!next)
        return;

    // The woken waiter's end of __mutex_lock_common(): Wait-Die looks at no other waiter here.
    remove_waiter(lock, *next);
    lock.locked = true;
    lock.holder = next->sleeper->id();
    if (next->ctx) {
        if (next->ctx->contending_lock) {
            if (next->ctx->contending_lock != &lock || next->ctx->acquired > 0)
                debug_warnings++;
            next->ctx->contending_lock = nullptr;
        }
        next->ctx->acquired++;
        lock.ctx = next->ctx;
    }
    next->result = 0;
    next->sleeper->wake();
}

} // namespace vramlab::kmd
