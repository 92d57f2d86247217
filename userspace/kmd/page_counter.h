// SPDX-License-Identifier: GPL-2.0 OR MIT
// Models mm/page_counter.c: hierarchical counters with a maximum and with min and low protection, whose
// effective values follow from the whole path below the limiting ancestor. Omits: atomics, fail counts,
// watermark resets, the `high` limit. The unit is bytes, as the dmem controller uses it.
#pragma once

#include "base/types.h"

namespace vramlab::kmd {

inline constexpr u64 PAGE_COUNTER_MAX = 0x7fff'ffff'ffff'ffff / 4096; // LONG_MAX / PAGE_SIZE

struct page_counter {
    u64 usage = 0;
    u64 watermark = 0; // highest usage ever

    u64 emin = 0; // effective protection, as of the last page_counter_calculate_protection()
    u64 min_usage = 0;
    u64 children_min_usage = 0;
    u64 elow = 0;
    u64 low_usage = 0;
    u64 children_low_usage = 0;

    u64 min = 0;
    u64 low = 0;
    u64 max = PAGE_COUNTER_MAX;
    page_counter *parent = nullptr;
};

inline u64 page_counter_read(const page_counter &c)
{
    return c.usage;
}
// Charges the counter and its ancestors, or none: then *fail is the first whose maximum is in the way.
bool page_counter_try_charge(page_counter &c, u64 size_bytes, page_counter **fail);
// More than was charged is a std::logic_error.
void page_counter_uncharge(page_counter &c, u64 size_bytes);
void page_counter_set_min(page_counter &c, u64 size_bytes);
void page_counter_set_low(page_counter &c, u64 size_bytes);
// Updates emin and elow of c, below root. Its parent's must be up to date: go top down.
void page_counter_calculate_protection(const page_counter &root, page_counter &c, bool recursive_protection);

} // namespace vramlab::kmd
