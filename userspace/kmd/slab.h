// SPDX-License-Identifier: MIT
// Stands for a kmem_cache of a type that comes and goes often: freed objects are kept for the next ones of
// the same thread, the last one first, while it is in the caches.
//
//   struct fence final : dma_fence, ... { static void *operator new(std::size_t n) { return
//   slab<fence>::get(n); }
//                                         static void operator delete(void *p) { slab<fence>::put(p); } };
//
// T must be final. Under ASan it does nothing, so that uses after free are found.
#pragma once

#include <cstddef>
#include <new>

#if defined(__SANITIZE_ADDRESS__)
#define VRAMLAB_SLAB 0
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define VRAMLAB_SLAB 0
#endif
#endif
#ifndef VRAMLAB_SLAB
#define VRAMLAB_SLAB 1
#endif

namespace vramlab::kmd {

template <typename T> class slab {
public:
    static void *get(std::size_t size)
    {
        if (!VRAMLAB_SLAB || !free_) [[unlikely]]
            return grow(size);
        node *n = free_;
        free_ = n->next;
        __builtin_prefetch(free_, 1);
        return n;
    }
    static void put(void *p)
    {
        if (!VRAMLAB_SLAB || ended_) [[unlikely]]
            return ::operator delete(p);
        free_ = new (p) node{free_};
    }

private:
    struct node {
        node *next;
    };
    // Gives everything back when the thread ends; what is freed later goes the ordinary way.
    struct drain {
        bool armed = false;
        ~drain()
        {
            while (free_) {
                void *p = free_;
                free_ = free_->next;
                ::operator delete(p);
            }
            ended_ = true;
        }
    };

    static void *grow(std::size_t size)
    {
        drain_.armed = true; // constructs it
        return ::operator new(size);
    }

    static inline thread_local constinit node *free_ = nullptr;
    static inline thread_local constinit bool ended_ = false;
    static inline thread_local drain drain_;
};

} // namespace vramlab::kmd
