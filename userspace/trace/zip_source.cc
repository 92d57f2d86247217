// SPDX-License-Identifier: MIT
#include "trace/zip_source.h"

#include "trace/record.h"

#include <fmt/format.h>
#include <zlib.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <vector>

namespace vramlab::trace {

namespace {

constexpr u32 local_magic = 0x04034b50;
constexpr u32 entry_magic = 0x02014b50;
constexpr u32 end_magic = 0x06054b50;
constexpr std::size_t end_bytes = 22;
constexpr std::size_t entry_bytes = 46;
constexpr std::size_t local_bytes = 30;
constexpr std::size_t comment_max_bytes = 0xffff;
constexpr u64 directory_max_bytes = 16 * MiB;
constexpr u64 deflate_ratio_max = 1032; // of deflate

struct entry {
    std::string name;
    u32 method = 0;
    u64 packed_bytes = 0;
    u64 bytes = 0;
    u64 offset = 0; // of its local header
};

u16 get16(const std::vector<u8> &b, std::size_t at)
{
    return load16(b.data() + at, byte_order::little);
}

u64 get32(const std::vector<u8> &b, std::size_t at)
{
    return load32(b.data() + at, byte_order::little);
}

std::vector<u8> bytes_at(const byte_source &s, u64 offset, u64 size, const char *what)
{
    std::vector<u8> b(offset > s.size() ? 0 : std::min(size, s.size() - offset));
    b.resize(s.read(offset, b));
    if (b.size() < size)
        throw trace_error(offset, fmt::format("the zip archive ends within {}", what));
    return b;
}

// The largest file: others are notes.
entry largest(const byte_source &s)
{
    const u64 tail_bytes = std::min<u64>(s.size(), end_bytes + comment_max_bytes);
    const u64 tail_offset = s.size() - tail_bytes;
    const std::vector<u8> tail = bytes_at(s, tail_offset, tail_bytes, "its last part");
    std::size_t at = tail.size() >= end_bytes ? tail.size() - end_bytes + 1 : 0;
    do {
        if (!at--)
            throw trace_error(tail_offset, "the zip archive is cut off: it has no directory");
    } while (get32(tail, at) != end_magic);
    const u64 size = get32(tail, at + 12), offset = get32(tail, at + 16);
    if (size > directory_max_bytes)
        throw trace_error(tail_offset + at, "the zip archive's directory is too large");
    const std::vector<u8> directory = bytes_at(s, offset, size, "its directory");
    entry best;
    for (std::size_t p = 0; p + entry_bytes <= directory.size() && get32(directory, p) == entry_magic;) {
        const std::size_t name = get16(directory, p + 28);
        if (name > directory.size() - p - entry_bytes)
            break;
        const char *text = reinterpret_cast<const char *>(directory.data()) + p + entry_bytes;
        const entry e{std::string(text, name), get16(directory, p + 10), get32(directory, p + 20),
                      get32(directory, p + 24), get32(directory, p + 42)};
        if (e.bytes >= best.bytes && !e.name.ends_with('/'))
            best = e;
        p += entry_bytes + name + get16(directory, p + 30) + get16(directory, p + 32);
    }
    if (best.name.empty())
        throw trace_error(offset, "the zip archive holds no file");
    return best;
}

void put(std::FILE *out, const u8 *data, std::size_t size)
{
    if (std::fwrite(data, 1, size, out) != size)
        throw trace_error(fmt::format("temporary file: {}", std::strerror(errno)));
}

class unpacker {
public:
    unpacker()
    {
        if (inflateInit2(&z_, -MAX_WBITS) != Z_OK)
            throw trace_error("zlib does not start");
    }
    ~unpacker() { inflateEnd(&z_); }
    unpacker(const unpacker &) = delete;
    unpacker &operator=(const unpacker &) = delete;

    // False: the data are broken.
    bool unpack(std::span<u8> in, u64 &left, std::FILE *out)
    {
        std::array<u8, 64 * KiB> block;
        z_.next_in = in.data();
        z_.avail_in = static_cast<uInt>(in.size());
        int result = Z_OK;
        do {
            z_.next_out = block.data();
            z_.avail_out = static_cast<uInt>(block.size());
            result = inflate(&z_, Z_NO_FLUSH);
            const std::size_t n = block.size() - z_.avail_out;
            if (n > left)
                return false;
            left -= n;
            put(out, block.data(), n);
        } while (result == Z_OK && (z_.avail_in || !z_.avail_out));
        return result == Z_OK || result == Z_STREAM_END || result == Z_BUF_ERROR;
    }

private:
    z_stream z_ = {};
};

} // namespace

bool is_zip(std::span<const u8> begin)
{
    return begin.size() >= 4 && load32(begin.data(), byte_order::little) == local_magic;
}

std::unique_ptr<byte_source> unzip(const byte_source &s)
{
    const entry e = largest(s);
    const std::vector<u8> local = bytes_at(s, e.offset, local_bytes, "a file's header");
    if (get32(local, 0) != local_magic)
        throw trace_error(e.offset, fmt::format("{} is not where the zip archive says", e.name));
    if (e.method != 0 && e.method != Z_DEFLATED)
        throw trace_error(e.offset,
                          fmt::format("{} is packed with method {}, expected 0 or 8", e.name, e.method));
    if (e.bytes / deflate_ratio_max > e.packed_bytes)
        throw trace_error(e.offset,
                          fmt::format("{} bytes can't hold the {} of {}", e.packed_bytes, e.bytes, e.name));
    std::FILE *out = std::tmpfile();
    if (!out)
        throw trace_error(fmt::format("temporary file: {}", std::strerror(errno)));
    std::unique_ptr<std::FILE, int (*)(std::FILE *)> close(out, std::fclose);
    u64 at = e.offset + local_bytes + get16(local, 26) + get16(local, 28);
    u64 left = e.bytes;
    unpacker u;
    std::vector<u8> block(64 * KiB);
    for (const u64 end = at + e.packed_bytes; at < end && left;) {
        const std::span<u8> part = std::span(block).first(std::min<u64>(block.size(), end - at));
        const std::size_t n = s.read(at, part);
        if (n < part.size())
            throw trace_error(at + n, fmt::format("the zip archive ends within {}", e.name));
        if (e.method == 0 && n <= left) {
            put(out, part.data(), n);
            left -= n;
        } else if (e.method == 0 || !u.unpack(part, left, out)) {
            throw trace_error(at, fmt::format("{} is broken in the zip archive", e.name));
        }
        at += n;
    }
    if (left)
        throw trace_error(at, fmt::format("{} is {} bytes too short in the zip archive", e.name, left));
    return source_of(close.release());
}

} // namespace vramlab::trace
