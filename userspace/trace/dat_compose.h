// SPDX-License-Identifier: MIT
// Trace files that our writer does not write, put together for tests: version 7, packed, of 32-bit and of
// big-endian kernels.
#pragma once

#include "trace/format_text.h"
#include "trace/trace_fixture.h"

#include <zlib.h>
#include <zstd.h>

namespace vramlab::trace::test {

class composer {
public:
    explicit composer(byte_order order = byte_order::little) : order_(order) {}

    void number(u64 v, u32 size)
    {
        for (u32 i = 0; i < size; i++)
            bytes.push_back(static_cast<u8>(v >> 8 * (order_ == byte_order::little ? i : size - 1 - i)));
    }
    void text(std::string_view s) { bytes.insert(bytes.end(), s.begin(), s.end()); }
    void string(std::string_view s)
    {
        text(s);
        bytes.push_back(0);
    }
    void append(std::span<const u8> b) { bytes.insert(bytes.end(), b.begin(), b.end()); }
    void patch64(std::size_t at, u64 v)
    {
        composer c(order_);
        c.number(v, 8);
        std::copy(c.bytes.begin(), c.bytes.end(), bytes.begin() + static_cast<std::ptrdiff_t>(at));
    }

    std::vector<u8> bytes;

private:
    byte_order order_;
};

// How a machine's ring buffer looks.
struct machine {
    byte_order order = byte_order::little;
    u32 long_size = 8;
    u32 page_size = 4096;
    u32 data_offset() const { return 8 + long_size; }
};

inline std::string header_page_of(const machine &m)
{
    return "\tfield: u64 timestamp;\toffset:0;\tsize:8;\tsigned:0;\n\tfield: local_t "
           "commit;\toffset:8;\tsize:" +
           std::to_string(m.long_size) +
           ";\tsigned:1;\n\tfield: char data;\toffset:" + std::to_string(m.data_offset()) +
           ";\tsize:" + std::to_string(m.page_size - m.data_offset()) + ";\tsigned:1;\n";
}

inline void put_header_info(composer &c, const machine &m)
{
    const std::string page = header_page_of(m);
    c.string("header_page");
    c.number(page.size(), 8);
    c.text(page);
    c.string("header_event");
    c.number(3, 8);
    c.text("# x");
}

inline void put_formats(composer &c, const event_format &f)
{
    const std::string text = format_text(f);
    c.number(1, 4);
    c.string(f.system);
    c.number(1, 4);
    c.number(text.size(), 8);
    c.text(text);
}

// "tick": a number and a pid, in the machine's byte order.
inline event_format tick_format()
{
    event_format f{"lab", "tick", 300, common_fields(), {}, "\"n=%llu\", REC->n"};
    add_field(f, "u64", "n");
    return f;
}

// Pages of `count` ticks, one every 1,000 ns from `begin_ns` on, numbered from there.
inline std::vector<u8> tick_pages(const machine &m, u64 begin_ns, u32 count)
{
    std::vector<u8> pages;
    const u32 per_page = (m.page_size - m.data_offset()) / 20;
    for (u32 i = 0; i < count;) {
        const u32 n = std::min(per_page, count - i);
        composer c(m.order);
        c.number(begin_ns + 1000 * u64{i}, 8);
        c.number(n * 20, m.long_size);
        for (u32 k = 0; k < n; k++, i++) {
            const u64 delta = k ? 1000 : 0;
            c.number(m.order == byte_order::little ? 4 | delta << 5 : u64{4} << 27 | delta, 4);
            c.number(tick_format().id, 2);
            c.number(0, 2);
            c.number(77, 4);
            c.number(begin_ns + 1000 * u64{i}, 8);
        }
        c.bytes.resize(m.page_size);
        pages.insert(pages.end(), c.bytes.begin(), c.bytes.end());
    }
    return pages;
}

inline std::vector<u8> version_6(const machine &m, std::span<const u8> pages)
{
    composer c(m.order);
    c.text("\x17\x08"
           "Dtracing");
    c.string("6");
    c.number(m.order == byte_order::big, 1);
    c.number(m.long_size, 1);
    c.number(m.page_size, 4);
    put_header_info(c, m);
    c.number(0, 4);
    put_formats(c, tick_format());
    c.number(0, 4);
    c.number(0, 4);
    c.number(8, 8);
    c.text("77 task\n");
    c.number(1, 4);
    c.string("options  ");
    c.number(999, 2); // unknown
    c.number(3, 4);
    c.text("abc");
    c.number(0, 2);
    c.string("flyrecord");
    const u64 at = (c.bytes.size() + 16 + m.page_size - 1) / m.page_size * m.page_size;
    c.number(at, 8);
    c.number(pages.size(), 8);
    c.bytes.resize(at);
    c.append(pages);
    return c.bytes;
}

inline std::vector<u8> pack(std::string_view how, std::span<const u8> in)
{
    if (how == "zlib") {
        std::vector<u8> out(compressBound(in.size()));
        uLongf size = out.size();
        compress(out.data(), &size, in.data(), in.size());
        out.resize(size);
        return out;
    }
    std::vector<u8> out(ZSTD_compressBound(in.size()));
    out.resize(ZSTD_compress(out.data(), out.size(), in.data(), in.size(), 3));
    return out;
}

// A file of version 7 in the order in which trace-cmd writes it; every section packed, if how is not "none".
class version_7 {
public:
    version_7(const machine &m, std::string how) : m_(m), how_(std::move(how)), c_(m.order)
    {
        c_.text("\x17\x08"
                "Dtracing");
        c_.string("7");
        c_.number(m.order == byte_order::big, 1);
        c_.number(m.long_size, 1);
        c_.number(m.page_size, 4);
        c_.string(how_);
        c_.string("1.0");
        next_ = c_.bytes.size();
        c_.number(0, 8);
    }

    std::vector<u8> file(const std::vector<std::vector<u8>> &cpus)
    {
        composer header(m_.order), formats(m_.order), lines(m_.order), none(m_.order);
        put_header_info(header, m_);
        put_formats(formats, tick_format());
        lines.number(8, 8);
        lines.text("77 task\n");
        none.number(0, 4);
        composer options(m_.order);
        for (const auto &[id, part] : {std::pair{16, &header}, {17, &none}, {18, &formats}, {21, &lines}}) {
            options.number(static_cast<u64>(id), 2);
            options.number(8, 4);
            options.number(section(id, part->bytes, how_ != "none"), 8);
        }
        options.number(1234, 2); // unknown
        options.number(0, 4);
        put_options(options);
        put_buffer(cpus);
        return c_.bytes;
    }

private:
    u64 section(int id, std::span<const u8> bytes, bool packed)
    {
        const u64 at = c_.bytes.size();
        const std::vector<u8> p = packed ? pack(how_, bytes) : std::vector<u8>(bytes.begin(), bytes.end());
        c_.number(static_cast<u64>(id), 2);
        c_.number(packed, 2);
        c_.number(0, 4);
        c_.number(p.size() + (packed ? 8 : 0), 8);
        if (packed) {
            c_.number(p.size(), 4);
            c_.number(bytes.size(), 4);
        }
        c_.append(p);
        return at;
    }

    void put_options(composer &o)
    {
        o.number(0, 2);
        o.number(8, 4);
        const std::size_t next = o.bytes.size();
        o.number(0, 8);
        c_.patch64(next_, section(0, o.bytes, false));
        next_ = c_.bytes.size() - o.bytes.size() + next;
    }

    void put_buffer(const std::vector<std::vector<u8>> &cpus)
    {
        const bool packed = how_ != "none";
        composer option(m_.order);
        const u64 begin = c_.bytes.size();
        option.number(begin, 8);
        option.string("");
        option.string("mono");
        option.number(m_.page_size, 4);
        option.number(cpus.size(), 4);
        section(3, {}, false);
        c_.bytes[begin + (m_.order == byte_order::big ? 3 : 2)] = packed;
        for (std::size_t i = 0; i < cpus.size(); i++) {
            c_.bytes.resize((c_.bytes.size() + m_.page_size - 1) / m_.page_size * m_.page_size);
            const u64 at = c_.bytes.size();
            if (packed)
                put_chunks(cpus[i]);
            else
                c_.append(cpus[i]);
            option.number(i, 4);
            option.number(at, 8);
            option.number(c_.bytes.size() - at, 8);
        }
        c_.patch64(begin + 8, c_.bytes.size() - begin - 16);
        composer options(m_.order);
        options.number(3, 2);
        options.number(option.bytes.size(), 4);
        options.append(option.bytes);
        put_options(options);
    }

    void put_chunks(std::span<const u8> pages)
    {
        const std::size_t chunk = 2 * std::size_t{m_.page_size};
        c_.number((pages.size() + chunk - 1) / chunk, 4);
        for (; !pages.empty(); pages = pages.subspan(std::min(chunk, pages.size()))) {
            const auto part = pages.first(std::min(chunk, pages.size()));
            const std::vector<u8> p = pack(how_, part);
            c_.number(p.size(), 4);
            c_.number(part.size(), 4);
            c_.append(p);
        }
    }

    machine m_;
    std::string how_;
    composer c_;
    std::size_t next_; // where the place of the next options goes
};

} // namespace vramlab::trace::test
