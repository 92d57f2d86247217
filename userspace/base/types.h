// SPDX-License-Identifier: MIT
// Integer types, sizes and the error numbers that the kernel has and libc has not.
#pragma once

#include <cerrno>
#include <cstddef>
#include <cstdint>

namespace vramlab {

using u8 = std::uint8_t;
using u16 = std::uint16_t;
using u32 = std::uint32_t;
using u64 = std::uint64_t;
using s32 = std::int32_t;
using s64 = std::int64_t;
__extension__ typedef unsigned __int128 u128; // products of sizes, rates and times

inline constexpr u64 KiB = 1024;
inline constexpr u64 MiB = 1024 * KiB;
inline constexpr u64 GiB = 1024 * MiB;

inline constexpr u64 ns_per_us = 1000;
inline constexpr u64 ns_per_ms = 1000 * ns_per_us;
inline constexpr u64 ns_per_s = 1000 * ns_per_ms;

// "Never" where a time is expected.
inline constexpr u64 never_ns = ~u64{0};

// include/linux/errno.h; functions of kmd/ return negative error numbers as the kernel does.
inline constexpr int ERESTARTSYS_ = 512;

} // namespace vramlab
