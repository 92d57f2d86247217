// SPDX-License-Identifier: MIT
#include "report/format.h"

#include "base/request.h"

#include <fmt/format.h>

#include <array>
#include <cmath>
#include <cstdlib>
#include <cstring>

namespace vramlab::report {

std::string format_number(double v, int digits)
{
    std::string s = fmt::format("{:.{}f}", v, digits);
    if (s.find('.') != std::string::npos) {
        s.erase(s.find_last_not_of('0') + 1);
        if (s.back() == '.')
            s.pop_back();
    }
    return s == "-0" ? "0" : s;
}

namespace {

// Three significant digits, but never fewer than the whole part has.
std::string significant(double v)
{
    const double a = std::fabs(v);
    return format_number(v, a >= 100 ? 0 : a >= 10 ? 1 : 2);
}

} // namespace

std::string format_bytes(double bytes)
{
    static constexpr std::array<const char *, 6> units{"B", "KiB", "MiB", "GiB", "TiB", "PiB"};
    std::size_t unit = 0;
    while (std::fabs(bytes) >= 1024 && unit + 1 < units.size()) {
        bytes /= 1024;
        unit++;
    }
    return fmt::format("{} {}", significant(bytes), units[unit]);
}

std::string format_time(u64 ns)
{
    const u64 s = ns / ns_per_s, rest = ns % ns_per_s;
    if (rest % ns_per_us)
        return fmt::format("{}.{:09} s", s, rest);
    return fmt::format("{}.{:06} s", s, rest / ns_per_us);
}

std::string format_duration(u64 ns)
{
    const double d = static_cast<double>(ns);
    if (ns == 0)
        return "0";
    if (ns < ns_per_us)
        return fmt::format("{} ns", ns);
    if (ns < ns_per_ms)
        return fmt::format("{} µs", significant(d / ns_per_us));
    if (ns < ns_per_s)
        return fmt::format("{} ms", significant(d / ns_per_ms));
    return fmt::format("{} s", significant(d / ns_per_s));
}

std::string error_name(int error)
{
    const int e = std::abs(error);
    switch (e) {
    case 0:
        return "success";
    case ERESTARTSYS_:
        return "ERESTARTSYS";
    default:
        break;
    }
    const char *name = strerrorname_np(e);
    return name ? name : fmt::format("errno {}", e);
}

std::string error_suffix(int error)
{
    std::string s = error_name(error);
    for (char &c : s)
        c = c == ' ' ? '_' : static_cast<char>(c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c);
    return s;
}

std::string domain_names(u64 mask)
{
    std::string s;
    for (auto [bit, name] : {std::pair{domain_vram, "VRAM"}, {domain_gtt, "GTT"}, {domain_system, "SYSTEM"}})
        if (mask & bit)
            s += (s.empty() ? "" : "|") + std::string(name);
    return s.empty() ? "none" : s;
}

} // namespace vramlab::report
