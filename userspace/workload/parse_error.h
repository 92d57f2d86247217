// SPDX-License-Identifier: MIT
// What is wrong with a workload or scenario file, and where: the one exception that the parsers throw.
#pragma once

#include "base/types.h"

#include <stdexcept>
#include <string>

namespace vramlab::workload {

// what() is "file:line: problem, expected expectation"; line 0 (the whole file, or a setting of the command
// line) is left out.
class parse_error : public std::runtime_error {
public:
    parse_error(std::string file, u32 line, std::string problem, std::string expected);

    const std::string &file() const { return file_; }
    u32 line() const { return line_; }
    const std::string &problem() const { return problem_; }
    const std::string &expected() const { return expected_; }

private:
    std::string file_;
    u32 line_;
    std::string problem_;
    std::string expected_;
};

} // namespace vramlab::workload
