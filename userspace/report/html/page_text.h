// SPDX-License-Identifier: MIT
// The page as built in, in three parts: its title goes between the first two, its data before the last. The
// build makes page_text.cc of them (embed.py).
#pragma once

#include <string_view>

namespace vramlab::report {

std::string_view page_to_title();
std::string_view page_to_data();
std::string_view page_to_end();

} // namespace vramlab::report
