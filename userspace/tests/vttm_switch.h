// SPDX-License-Identifier: MIT
// The switches of the mechanisms in kernel/patches, for tests that run in the guest.
#pragma once

#include <array>
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <string>
#include <string_view>
#include <unistd.h>

namespace vramlab::tests {

// Parameters of ttm, all on by default.
inline constexpr std::array<const char *, 4> all_switches = {"exec_retry", "throttle", "bo_priority",
                                                             "contig_range"};

inline std::string ttm_parameter(std::string_view name)
{
    return "/sys/module/ttm/parameters/" + std::string(name);
}

// False on a kernel without the patch.
inline bool has_switch(std::string_view name)
{
    return access(ttm_parameter(name).c_str(), W_OK) == 0;
}

// VRAMLAB_SWITCHED_OFF names a switch that nobody can switch on: so scripts/check-matrix shows that tests of
// the mechanism fail without it.
inline bool set_switch(std::string_view name, bool on)
{
    const char *off = std::getenv("VRAMLAB_SWITCHED_OFF");
    on = on && !(off && name == off);
    // Without it TTM breaks rules of ww_mutex, and a debugging kernel has to forgive that
    // (Documentation/kernel-tree.rst).
    if (name == "exec_retry")
        std::ofstream("/sys/module/mutex/parameters/ww_strict") << (on ? 'Y' : 'N') << std::flush;
    std::ofstream out(ttm_parameter(name));
    out << (on ? 'Y' : 'N');
    return static_cast<bool>(out.flush());
}

inline void restore_switches()
{
    for (const char *name : all_switches)
        if (has_switch(name))
            set_switch(name, true);
}

// A parameter that is a number; 0 if there is none.
inline unsigned number_of(std::string_view name)
{
    unsigned value = 0;
    std::ifstream(ttm_parameter(name)) >> value;
    return value;
}

} // namespace vramlab::tests
