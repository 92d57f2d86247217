// SPDX-License-Identifier: MIT
#include "bench/heap.h"

#include <cstdlib>
#include <malloc.h>
#include <new>

namespace {

constexpr std::size_t malloc_header_bytes = 8; // glibc, before each chunk
vramlab::u64 in_use = 0;

} // namespace

namespace vramlab::bench {

u64 heap_bytes()
{
    return in_use;
}

} // namespace vramlab::bench

void *operator new(std::size_t size)
{
    void *p = std::malloc(size);
    if (!p)
        throw std::bad_alloc();
    in_use += malloc_usable_size(p) + malloc_header_bytes;
    return p;
}

void operator delete(void *p) noexcept
{
    if (!p)
        return;
    in_use -= malloc_usable_size(p) + malloc_header_bytes;
    std::free(p);
}

void operator delete(void *p, std::size_t) noexcept
{
    operator delete(p);
}
