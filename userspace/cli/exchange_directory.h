// SPDX-License-Identifier: MIT
// A new temporary directory for what host and guest exchange, removed with all in it at the end of its life.
#pragma once

#include <string>

namespace vramlab::cli {

class exchange_directory {
public:
    // Throws std::runtime_error if it cannot be made.
    exchange_directory();
    ~exchange_directory();
    exchange_directory(const exchange_directory &) = delete;
    exchange_directory &operator=(const exchange_directory &) = delete;

    const std::string &path() const { return path_; }

private:
    std::string path_;
};

} // namespace vramlab::cli
