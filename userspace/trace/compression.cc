// SPDX-License-Identifier: MIT
#include "trace/compression.h"

#include <algorithm>
#include <zlib.h>
#include <zstd.h>

namespace vramlab::trace {

compression compression_of(std::string_view name)
{
    if (name == "none" || name.empty())
        return compression::none;
    if (name == "zlib")
        return compression::zlib;
    return name == "zstd" ? compression::zstd : compression::unknown;
}

bool unpack(compression how, std::span<const u8> in, std::span<u8> out)
{
    switch (how) {
    case compression::none:
        if (in.size() != out.size())
            return false;
        std::copy(in.begin(), in.end(), out.begin());
        return true;
    case compression::zlib: {
        uLongf size = out.size();
        return uncompress(out.data(), &size, in.data(), in.size()) == Z_OK && size == out.size();
    }
    case compression::zstd:
        return ZSTD_decompress(out.data(), out.size(), in.data(), in.size()) == out.size();
    case compression::unknown:
        break;
    }
    return false;
}

} // namespace vramlab::trace
