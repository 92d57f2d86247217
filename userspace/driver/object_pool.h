// SPDX-License-Identifier: MIT
// Stands for a kmem_cache: objects of one type from slabs, freed ones first. Not thread-safe; everything must
// be freed before the pool goes.
#pragma once

#include "base/types.h"

#include <memory>
#include <new>
#include <utility>
#include <vector>

namespace vramlab::driver {

template <typename T> class object_pool {
public:
    object_pool() = default;
    object_pool(const object_pool &) = delete;
    object_pool &operator=(const object_pool &) = delete;

    template <typename... Args> T *create(Args &&...args)
    {
        if (!free_)
            grow();
        slot *s = free_;
        free_ = s->next;
        used_++;
        return new (s->bytes) T(std::forward<Args>(args)...);
    }
    void destroy(T *object)
    {
        object->~T();
        slot *s = reinterpret_cast<slot *>(object);
        s->next = free_;
        free_ = s;
        used_--;
    }
    u64 used() const { return used_; }
    u64 size_bytes() const { return slabs_.size() * slab_objects * sizeof(slot); }

private:
    static constexpr u32 slab_objects = 256;
    union slot {
        slot *next;
        alignas(T) std::byte bytes[sizeof(T)];
    };

    void grow()
    {
        slabs_.push_back(std::make_unique_for_overwrite<slot[]>(slab_objects));
        for (u32 i = slab_objects; i-- > 0;) {
            slabs_.back()[i].next = free_;
            free_ = &slabs_.back()[i];
        }
    }

    std::vector<std::unique_ptr<slot[]>> slabs_;
    slot *free_ = nullptr;
    u64 used_ = 0;
};

} // namespace vramlab::driver
