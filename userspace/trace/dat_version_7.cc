// SPDX-License-Identifier: MIT
// Version 7: sections anywhere, each of them perhaps compressed, and a chain of options that says where they
// are.
#include "trace/dat_sections.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace vramlab::trace {

namespace {

constexpr u16 section_compressed = 1;
constexpr u32 section_header_bytes = 16;

struct section {
    dat_option id{};
    u16 flags = 0;
    u64 offset = 0; // of its header
    u64 size = 0;   // behind the header
};

section read_section_header(dat_bytes &in)
{
    section s;
    s.offset = in.position();
    s.id = dat_option{in.number16("a section")};
    s.flags = in.number16("a section");
    in.number32("a section"); // its description
    s.size = in.number64("a section");
    return s;
}

class version_7 {
public:
    version_7(dat_bytes &in, const byte_source &source, const dat_options &options, dat_header &h,
              damage_list &damages)
        : in_(in), source_(source), options_(options), h_(h), damages_(damages)
    {
    }

    void read()
    {
        const std::string name = in_.string("the name of the compression");
        in_.string("the version of the compression");
        h_.packing = compression_of(name);
        u64 next = in_.number64("the place of the options");
        const u64 first_section = in_.position();
        u32 blocks = 0;
        try {
            while (next && blocks++ < 10'000) // a circle otherwise
                next = options_block(next);
        } catch (const trace_error &e) {
            damages_.add(in_.offset(), fmt::format("options: {}", e.what()));
        }
        if (!has_buffer_)
            walk(first_section);
        if (!has_header_)
            throw trace_error(first_section, "the file has no header_page, which its events need");
        for (const section &s : buffers_)
            lost_buffer(s);
    }

private:
    // Calls f with what the section holds, unpacked.
    template <typename function> void contents(const section &s, function f)
    {
        if (!(s.flags & section_compressed)) {
            dat_bytes bytes(source_, h_.order, s.offset + section_header_bytes,
                            std::min(source_.size(), s.offset + section_header_bytes + s.size),
                            s.offset + section_header_bytes);
            f(bytes);
            return;
        }
        in_.seek(s.offset + section_header_bytes);
        const u32 packed_size = in_.number32("a packed section");
        const u32 size = in_.number32("a packed section");
        const std::string packed = in_.bytes(packed_size, "a packed section");
        if (size / expansion_max > packed.size())
            throw trace_error(s.offset,
                              fmt::format("a section of {} bytes can't hold {}", packed_size, size));
        std::vector<u8> out(size);
        if (!unpack(h_.packing, {reinterpret_cast<const u8 *>(packed.data()), packed.size()}, out))
            throw trace_error(s.offset, "a packed section is broken, or packed in a way that is not known");
        const auto memory = source_of(std::span<const u8>(out));
        dat_bytes bytes(*memory, h_.order, 0, out.size(), s.offset + section_header_bytes);
        f(bytes);
    }

    // Returns the place of the next one, 0: none.
    u64 options_block(u64 place)
    {
        in_.seek(place);
        const section s = read_section_header(in_);
        if (s.id != dat_option::done)
            throw trace_error(place, "no options here, expected a section of that kind");
        u64 next = 0;
        contents(s, [&](dat_bytes &o) {
            for (;;) {
                const u64 at = o.offset();
                const dat_option id{o.number16("an option")};
                const std::string data = o.bytes(o.number32("an option"), "an option");
                if (id == dat_option::done) {
                    if (data.size() >= 8)
                        next = load64(reinterpret_cast<const u8 *>(data.data()), h_.order);
                    return;
                }
                option(id, data, at);
            }
        });
        return next;
    }

    void option(dat_option id, const std::string &data, u64 at)
    {
        const bool is_section = id >= dat_option::strings && id <= dat_option::cmdlines;
        try {
            if (id == dat_option::buffer) {
                buffer(data, at);
            } else if (id == dat_option::trace_clock) {
                h_.info.clock = chosen_clock(data);
            } else if (is_section && data.size() >= 8) {
                in_.seek(load64(reinterpret_cast<const u8 *>(data.data()), h_.order));
                section_of(read_section_header(in_));
            } else if (!apply_option(id, data, at, h_, damages_)) {
                h_.info.unknown_options++;
            }
        } catch (const trace_error &e) {
            damages_.add(at, e.what());
        }
    }

    void section_of(const section &s)
    {
        contents(s, [&](dat_bytes &bytes) {
            if (s.id == dat_option::header_info) {
                read_header_info(bytes, h_);
                has_header_ = true;
            } else if (s.id == dat_option::ftrace_events) {
                read_ftrace_formats(bytes, h_, damages_);
            } else if (s.id == dat_option::event_formats) {
                read_event_formats(bytes, h_, damages_);
            } else if (s.id == dat_option::kallsyms && options_.kallsyms) {
                read_kallsyms(bytes, h_, true);
            } else if (s.id == dat_option::printk) {
                read_printk(bytes, h_);
            } else if (s.id == dat_option::cmdlines) {
                read_cmdlines(bytes, h_);
            }
        });
    }

    void buffer(const std::string &data, u64 at)
    {
        const auto memory = source_of({reinterpret_cast<const u8 *>(data.data()), data.size()});
        dat_bytes o(*memory, h_.order, 0, data.size(), at);
        const u64 place = o.number64("the place of a buffer");
        o.string("the name of a buffer");
        const std::string clock = o.string("the clock of a buffer");
        if (h_.info.clock.empty())
            h_.info.clock = chosen_clock(clock);
        const u32 page_size = o.number32("the page size of a buffer");
        const u32 cpus = o.number32("the CPUs of a buffer");
        in_.seek(place);
        const section s = read_section_header(in_);
        has_buffer_ = true;
        for (u32 i = 0; i < cpus; i++) {
            cpu_area area;
            area.cpu = o.number32("a CPU of a buffer");
            area.page_size = page_size;
            area.offset = o.number64("a CPU of a buffer");
            area.size = o.number64("a CPU of a buffer");
            area.compressed = s.flags & section_compressed;
            if (area.compressed && area.size) // trace-cmd 3.1 counts too little
                area.size = packed_end(area.offset) - area.offset;
            h_.info.cpus = std::max(h_.info.cpus, std::min<u32>(area.cpu, 65535) + 1);
            add_area(h_, area, source_.size(), at, damages_);
        }
    }

    // The options that say where the events are got lost with the end of the file: what stands one behind
    // another is found without them.
    void walk(u64 place)
    {
        const bool had_header = has_header_;
        try {
            while (place < source_.size()) {
                in_.seek(place);
                const section s = read_section_header(in_);
                if (s.id == dat_option::buffer)
                    buffers_.push_back(s);
                else if (!had_header && s.id != dat_option::done)
                    section_of(s);
                if (s.size > source_.size() - place)
                    return;
                place += section_header_bytes + s.size;
            }
        } catch (const trace_error &e) {
            damages_.add(place, e.what());
        }
    }

    // Events of a buffer whose options are lost.
    void lost_buffer(const section &s)
    {
        const u64 begin = s.offset + section_header_bytes;
        if (s.flags & section_compressed)
            split_packed(begin);
        else
            split_pages((begin + h_.page_size - 1) / h_.page_size * h_.page_size,
                        std::min(source_.size(), begin + s.size));
    }

    void lost_area(u64 begin, u64 end, bool compressed)
    {
        add_area(h_, {h_.info.cpus++, h_.page_size, begin, end - begin, compressed}, source_.size(), begin,
                 damages_);
    }

    // Where the packed pages that start at `position` end, which may be beyond the end of the file.
    // `position` if there are none.
    u64 packed_end(u64 position) const
    {
        std::array<u8, 8> b;
        const u64 begin = position;
        if (source_.read(position, std::span(b).first(4)) < 4)
            return begin;
        const u32 chunks = load32(b.data(), h_.order);
        position += 4;
        for (u32 i = 0; i < chunks; i++) {
            if (source_.read(position, b) < 8)
                return std::max(position, source_.size()) + 1;
            position += 8 + u64{load32(b.data(), h_.order)};
        }
        return chunks ? position : begin;
    }

    // Packed pages say how many they are: each number starts a CPU, at a multiple of the page size.
    void split_packed(u64 begin)
    {
        const u64 mask = h_.page_size - 1;
        for (begin = (begin + mask) & ~mask; begin < source_.size();) {
            const u64 end = packed_end(begin);
            if (end == begin)
                return;
            lost_area(begin, end, true);
            begin = (end + mask) & ~mask;
        }
    }

    // Pages don't say whose they are: where time goes back, another CPU's begin.
    void split_pages(u64 position, u64 end)
    {
        std::array<u8, 8> b;
        u64 begin = position;
        u64 last_time = 0;
        const u32 at = h_.layout.timestamp_offset;
        for (; position < end && source_.read(position + at, b) == 8; position += h_.page_size) {
            const u64 time = load64(b.data(), h_.order);
            if (time < last_time) {
                lost_area(begin, position, false);
                begin = position;
            }
            last_time = time;
        }
        if (begin < end)
            lost_area(begin, end, false);
    }

    dat_bytes &in_;
    const byte_source &source_;
    const dat_options &options_;
    dat_header &h_;
    damage_list &damages_;
    std::vector<section> buffers_; // found by walk()
    bool has_header_ = false;
    bool has_buffer_ = false;
};

} // namespace

void read_version_7(dat_bytes &in, const byte_source &source, const dat_options &options, dat_header &h,
                    damage_list &damages)
{
    version_7(in, source, options, h, damages).read();
}

} // namespace vramlab::trace
