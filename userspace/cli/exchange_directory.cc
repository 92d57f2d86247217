// SPDX-License-Identifier: MIT
#include "cli/exchange_directory.h"

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fmt/format.h>
#include <stdexcept>
#include <stdlib.h>

namespace vramlab::cli {

namespace fs = std::filesystem;

exchange_directory::exchange_directory()
{
    std::string pattern = (fs::temp_directory_path() / "vramlab-XXXXXX").string();
    if (!::mkdtemp(pattern.data()))
        throw std::runtime_error(
            fmt::format("{}: cannot make a directory: {}", pattern, std::strerror(errno)));
    path_ = pattern;
}

exchange_directory::~exchange_directory()
{
    std::error_code ignored;
    fs::remove_all(path_, ignored);
}

} // namespace vramlab::cli
