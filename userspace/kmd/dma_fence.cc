// SPDX-License-Identifier: MIT
#include "kmd/dma_fence.h"

#include <stdexcept>

namespace vramlab::kmd {

namespace {
thread_local u64 last_context = 0;
}

u64 dma_fence_context_alloc()
{
    return ++last_context;
}

void dma_fence_signal(dma_fence &f)
{
    if (f.signaled)
        throw std::logic_error("dma_fence_signal: signalled before");
    const fence_ref keep(&f); // a callback may drop the last reference
    f.signaled = true;
    const auto callbacks = std::exchange(f.callbacks, {});
    for (const auto &cb : callbacks)
        cb(f);
}

void dma_fence_add_callback(dma_fence &f, std::function<void(dma_fence &)> cb)
{
    if (f.signaled)
        cb(f);
    else
        f.callbacks.push_back(std::move(cb));
}

int dma_fence_wait(dma_fence &f)
{
    if (f.signaled)
        return 0;
    if (!f.waiter)
        throw std::logic_error("dma_fence_wait: nobody signals this fence");
    const fence_ref keep(&f);
    f.waiter->wait_until_signaled(f);
    if (!f.signaled)
        throw std::logic_error("dma_fence_wait: woken without a signal");
    return 0;
}

} // namespace vramlab::kmd
