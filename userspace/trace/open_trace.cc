// SPDX-License-Identifier: MIT
#include "trace/dat_header.h"
#include "trace/reader.h"

#include <array>

namespace vramlab::trace {

std::unique_ptr<trace_reader> open_trace(std::unique_ptr<byte_source> source, const reader_options &options)
{
    std::array<u8, 16> begin;
    const std::size_t n = source->read(0, begin);
    if (is_dat(std::span(begin).first(n)))
        return open_dat(std::move(source), options);
    throw trace_error("this is no trace, expected trace.dat");
}

std::unique_ptr<trace_reader> open_trace(const std::string &path, const reader_options &options)
{
    return open_trace(open_file(path), options);
}

} // namespace vramlab::trace
