// SPDX-License-Identifier: MIT
// Event formats as text: what /sys/kernel/tracing/events/*/*/format shows and trace.dat files hold.
#pragma once

#include "trace/record.h"

namespace vramlab::trace {

// Whatever is not understood is left out; nullopt if there is no name, no ID or no field. Never throws for
// what the text says.
std::optional<event_format> parse_format(std::string_view text, std::string_view system);

// parse_format() gives the same format again.
std::string format_text(const event_format &f);

// "\tfield:u64 timestamp;\toffset:0;\tsize:8;\tsigned:0;": nullopt if it is something else. Kernels before
// 2.6.31 have no signed, and long ago "field special:".
std::optional<field> parse_field(std::string_view line);

} // namespace vramlab::trace
