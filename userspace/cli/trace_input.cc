// SPDX-License-Identifier: MIT
#include "cli/trace_input.h"

#include <fmt/format.h>
#include <stdexcept>

namespace vramlab::cli {

std::unique_ptr<trace::trace_reader> open_named(const std::string &file, bool kallsyms)
{
    try {
        return trace::open_trace(file, {kallsyms});
    } catch (const trace::trace_error &e) {
        throw std::runtime_error(fmt::format("{}: {}", file, e.what()));
    }
}

void print_damages(const std::string &file, const trace::damage_list &damages)
{
    for (const trace::damage &d : damages.first())
        fmt::print(stderr, "vramlab: {}: at offset {}: {}\n", file, d.offset, d.what);
    if (damages.count() > damages.first().size())
        fmt::print(stderr, "vramlab: {}: and {} more\n", file, damages.count() - damages.first().size());
}

} // namespace vramlab::cli
