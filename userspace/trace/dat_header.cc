// SPDX-License-Identifier: MIT
#include "trace/dat_header.h"

#include "trace/dat_sections.h"

#include <fmt/format.h>

#include <algorithm>

namespace vramlab::trace {

namespace {

constexpr std::string_view magic = "\x17\x08"
                                   "Dtracing";
constexpr u32 page_size_max = 1 << 24; // sub-buffers of today's kernels can have several pages

bool power_of_two(u32 n)
{
    return n && !(n & (n - 1));
}

} // namespace

bool is_dat(std::span<const u8> begin)
{
    return begin.size() >= magic.size() && std::equal(magic.begin(), magic.end(), begin.begin(),
                                                      [](char a, u8 b) { return static_cast<u8>(a) == b; });
}

dat_header read_dat_header(const byte_source &source, const dat_options &options, damage_list &damages)
{
    dat_header h;
    dat_bytes in(source, h.order, 0, source.size(), 0);
    in.expect(magic, "trace.dat file");
    const u64 at = in.offset();
    const std::string version = in.string("the version");
    h.info.version = static_cast<u32>(std::min<u64>(parse_number(version).value_or(0), 1000));
    if (h.info.version != 6 && h.info.version != 7)
        throw trace_error(at, fmt::format("version \"{}\" of the file, expected 6 or 7", version));
    const u8 big = in.number8("the byte order");
    if (big > 1)
        throw trace_error(in.offset() - 1, fmt::format("byte order {}, expected 0 or 1", big));
    h.order = big ? byte_order::big : byte_order::little;
    in.set_order(h.order);
    h.long_size = in.number8("the size of long");
    h.page_size = in.number32("the page size");
    if (!power_of_two(h.page_size) || h.page_size < 64 || h.page_size > page_size_max)
        throw trace_error(in.offset() - 4, fmt::format("page size {}, expected a power of two", h.page_size));
    if (h.info.version == 6)
        read_version_6(in, source, options, h, damages);
    else
        read_version_7(in, source, options, h, damages);
    const page_layout &l = h.layout;
    if (l.data_offset < l.timestamp_offset + 8 || l.data_offset < l.commit_offset + l.commit_size ||
        l.data_offset >= h.page_size)
        throw trace_error("header_page describes a page whose data overlap its header");
    return h;
}

} // namespace vramlab::trace
