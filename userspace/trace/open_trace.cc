// SPDX-License-Identifier: MIT
#include "trace/dat_header.h"
#include "trace/reader.h"
#include "trace/zip_source.h"

#include <array>

namespace vramlab::trace {

std::unique_ptr<trace_reader> open_trace(std::unique_ptr<byte_source> source, const reader_options &options)
{
    std::array<u8, 16> begin;
    std::size_t n = source->read(0, begin);
    if (is_zip(std::span(begin).first(n))) {
        source = unzip(*source);
        n = source->read(0, begin);
    }
    if (is_dat(std::span(begin).first(n)))
        return open_dat(std::move(source), options);
    return open_text(std::move(source));
}

std::unique_ptr<trace_reader> open_trace(const std::string &path, const reader_options &options)
{
    return open_trace(open_file(path), options);
}

} // namespace vramlab::trace
