// SPDX-License-Identifier: MIT
// How fields of drivers' events are read, and who reads which event: parts of gpu_decoder.
#pragma once

#include "gputrace/gpu_event.h"

#include <initializer_list>
#include <optional>
#include <span>
#include <string_view>

namespace vramlab::gputrace {

struct named_handler {
    std::string_view name;
    // False: the record lacks a field that it should have.
    bool (*handle)(const trace::record &, gpu_event &);
};

// Of buffer objects: where they are, who lists them.
std::span<const named_handler> memory_handlers();
// Of handlers of moves: who knows best, the driver rather than TTM, vramlab rather than the driver.
u8 move_rank(bool (*handle)(const trace::record &, gpu_event &));

// %p prints hexadecimal digits without 0x.
std::optional<u64> pointer(const trace::record &r, std::string_view name);
// The first of these names that is there.
std::optional<u64> first_number(const trace::record &r, std::initializer_list<std::string_view> names);

} // namespace vramlab::gputrace
