// SPDX-License-Identifier: MIT
// Traces as text: what tracefs' "trace" shows, `trace-cmd report` prints and `perf script` too, of kernels
// with or without columns of flags and processes. Each event's fields are what it has of "name=value", as
// text, and last a field "text" with the whole line behind the event's name. Where the time of a line is
// before that of the line above, it is a damage, and the line's time is that of the one above.
#pragma once

#include "trace/reader.h"

#include <string_view>

namespace vramlab::trace {

// System of events that text traces do not say the system of.
inline constexpr std::string_view text_system = "text";

struct text_line {
    std::string_view comm; // empty: not said ("<...>")
    std::string_view name; // of the event
    std::string_view payload;
    u64 time_ns = 0;
    u32 cpu = 0;
    s32 pid = 0;
    s32 tgid = -1; // -1: not said
};

// nullopt: this is no event.
std::optional<text_line> parse_text_line(std::string_view line);

struct text_pair {
    std::string_view key;
    std::string_view value;
};

// "a=1, b=two words c=3": pairs, at most pairs_max.
inline constexpr std::size_t pairs_max = 64;
void split_pairs(std::string_view payload, std::vector<text_pair> &out);

} // namespace vramlab::trace
