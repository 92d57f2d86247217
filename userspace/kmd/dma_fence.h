// SPDX-License-Identifier: MIT
// Models drivers/dma-buf/dma-fence.c: contexts, sequence numbers, signalling, callbacks.
// Omits: timestamps, arrays and chains, interrupt context, errors. Waiting goes to the fence's device, which
// advances its clock.
#pragma once

#include "base/types.h"

#include <functional>
#include <utility>
#include <vector>

namespace vramlab::kmd {

struct dma_fence;

// Whoever makes time pass (the device model). Called by a wait that has to sleep; returns when the fence is
// signalled. Throws std::logic_error if nothing will ever signal it.
class fence_waiter {
public:
    virtual ~fence_waiter() = default;
    virtual void wait_until_signaled(dma_fence &fence) = 0;
};

struct dma_fence {
    u64 context = 0;
    u64 seqno = 0;
    const void *owner =
        nullptr; // amdgpu_sync_get_owner(): the VM of a job, nullptr for moves and fills (kernel-owned)
    fence_waiter *waiter = nullptr;
    u32 refcount = 1;
    bool signaled = false;
    std::vector<std::function<void(dma_fence &)>> callbacks; // run once, in order, at signalling

    virtual ~dma_fence() = default;
};

u64 dma_fence_context_alloc(); // from 1; one counter a thread
inline bool dma_fence_is_signaled(const dma_fence &f)
{
    return f.signaled;
}
// True if a is later than b; both of one context.
inline bool dma_fence_is_later(const dma_fence &a, const dma_fence &b)
{
    return a.seqno > b.seqno;
}
// A second time is a std::logic_error. The caller holds a reference.
void dma_fence_signal(dma_fence &f);
// Runs cb at signalling, at once if already signalled.
void dma_fence_add_callback(dma_fence &f, std::function<void(dma_fence &)> cb);
// Sleeps until signalled. Returns 0. Emits fence_wait through the waiter.
int dma_fence_wait(dma_fence &f);

inline dma_fence *dma_fence_get(dma_fence *f)
{
    f->refcount++;
    return f;
}
inline void dma_fence_put(dma_fence *f) // nullptr allowed
{
    if (f && --f->refcount == 0) [[unlikely]]
        delete f;
}

// Owning reference.
class fence_ref {
public:
    fence_ref() = default;
    static fence_ref adopt(dma_fence *f)
    {
        fence_ref r;
        r.f_ = f;
        return r;
    }
    explicit fence_ref(dma_fence *f) : f_(f ? dma_fence_get(f) : nullptr) {}
    fence_ref(const fence_ref &o) : fence_ref(o.f_) {}
    fence_ref(fence_ref &&o) noexcept : f_(std::exchange(o.f_, nullptr)) {}
    fence_ref &operator=(fence_ref o) noexcept
    {
        std::swap(f_, o.f_);
        return *this;
    }
    ~fence_ref() { dma_fence_put(f_); }
    dma_fence *get() const { return f_; }
    dma_fence *operator->() const { return f_; }
    dma_fence &operator*() const { return *f_; }
    explicit operator bool() const { return f_ != nullptr; }

private:
    dma_fence *f_ = nullptr;
};

} // namespace vramlab::kmd
