// SPDX-License-Identifier: MIT
// A word in each page of a BO, written and looked at through a mapping.
#pragma once

#include "tests/vttm_device.h"

#include <gtest/gtest.h>

namespace vramlab::tests {

inline constexpr u64 page_bytes = 4096;

// Each page gets a word of its own, which depends on the seed.
inline void write_pages(const vttm_file &file, u32 handle, u64 bytes, u32 seed)
{
    auto *words = static_cast<volatile u32 *>(file.map(handle, bytes));
    ASSERT_NE(words, MAP_FAILED);
    for (u64 i = 0; i < bytes / page_bytes; i++)
        words[i * page_bytes / 4 + i] = seed + static_cast<u32>(i);
    munmap(const_cast<u32 *>(words), bytes);
}

// Pages that do not hold what was written; all ones if they cannot be mapped.
inline u64 wrong_pages(const vttm_file &file, u32 handle, u64 bytes, u32 seed)
{
    auto *words = static_cast<volatile u32 *>(file.map(handle, bytes));
    if (words == MAP_FAILED)
        return ~u64{0};
    u64 wrong = 0;
    for (u64 i = 0; i < bytes / page_bytes; i++)
        wrong += words[i * page_bytes / 4 + i] != seed + i;
    munmap(const_cast<u32 *>(words), bytes);
    return wrong;
}

} // namespace vramlab::tests
