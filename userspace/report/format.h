// SPDX-License-Identifier: MIT
// Numbers for people: few digits, the unit beside the number.
#pragma once

#include "base/types.h"

#include <concepts>
#include <string>

namespace vramlab::report {

// "0 B", "640 KiB", "7.9 MiB", "1.25 GiB": three significant digits, exact when whole.
std::string format_bytes(double bytes);
inline std::string format_bytes(std::integral auto bytes)
{
    return format_bytes(static_cast<double>(bytes));
}

// A moment: "12.345678 s" to the microsecond, with the nanoseconds only if there are any.
std::string format_time(u64 ns);

// A duration: "0", "850 ns", "5.00 µs", "16.7 ms", "1.25 s".
std::string format_duration(u64 ns);

// A plain number with at most `digits` after the point, trailing zeros dropped.
std::string format_number(double v, int digits = 3);

// "ENOMEM" for -ENOMEM or ENOMEM, "errno 999" if it has no name; the kernel's own numbers included.
std::string error_name(int error);
// What its name is in metric names: "enomem".
std::string error_suffix(int error);

// "VRAM", "GTT", "SYSTEM", "none" for one bit; "VRAM|GTT" for a mask.
std::string domain_names(u64 mask);

} // namespace vramlab::report
