// SPDX-License-Identifier: MIT
// How the kernel backend reports a system call that failed where it must not: its transport is broken.
#pragma once

#include <cstring>
#include <fmt/format.h>
#include <stdexcept>
#include <string>

namespace vramlab::backend {

// error: a negative error number. Throws std::runtime_error "what: message".
[[noreturn]] inline void throw_system_error(const std::string &what, int error)
{
    throw std::runtime_error(fmt::format("{}: {}", what, std::strerror(-error)));
}

} // namespace vramlab::backend
