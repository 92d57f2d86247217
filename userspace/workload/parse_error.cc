// SPDX-License-Identifier: MIT
#include "workload/parse_error.h"

#include <fmt/format.h>

namespace vramlab::workload {

namespace {

std::string message(const std::string &file, u32 line, const std::string &problem,
                    const std::string &expected)
{
    std::string where = line ? fmt::format("{}:{}: ", file, line) : fmt::format("{}: ", file);

    return where + problem + (expected.empty() ? "" : ", expected " + expected);
}

} // namespace

parse_error::parse_error(std::string file, u32 line, std::string problem, std::string expected)
    : std::runtime_error(message(file, line, problem, expected)), file_(std::move(file)), line_(line),
      problem_(std::move(problem)), expected_(std::move(expected))
{
}

} // namespace vramlab::workload
