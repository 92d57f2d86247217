// SPDX-License-Identifier: MIT
// What must hold in every state of a memory manager, read from the text that Documentation/semantics.rst,
// "State", describes.
#pragma once

#include "base/types.h"

#include <map>
#include <string>
#include <string_view>

namespace vramlab::fuzz {

struct state_check_options {
    // No operation is under way. With one, memory can be on its way between two places, so that only what
    // never may be violated is checked: blocks are disjoint and inside, no resource is on two lists.
    bool at_rest = true;
    // Every process has a cgroup other than the root, so the charges of the top-level cgroups are all of
    // VRAM.
    bool all_charged = false;
    std::map<u64, u64> bo_sizes; // by tag: zombies do not show theirs
};

// Empty, or what is wrong.
std::string check_state(std::string_view text, const state_check_options &o);

} // namespace vramlab::fuzz
