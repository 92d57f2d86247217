// SPDX-License-Identifier: MIT
// Version 6: everything in a fixed order, options and the places of the pages at the end.
#include "trace/dat_sections.h"

#include <fmt/format.h>

namespace vramlab::trace {

namespace {

using namespace std::string_view_literals;

struct buffer_instance {
    std::string name;
    u64 offset;
};

// "flyrecord", where each CPU's pages are, and the clock if an option said that it follows.
void read_flyrecord(dat_bytes &in, const byte_source &source, bool has_clock, dat_header &h,
                    damage_list &damages)
{
    for (u32 cpu = 0; cpu < h.info.cpus; cpu++) {
        const u64 at = in.offset();
        cpu_area area;
        area.cpu = cpu;
        area.page_size = h.page_size;
        area.offset = in.number64("the places of the events");
        area.size = in.number64("the places of the events");
        add_area(h, area, source.size(), at, damages);
    }
    if (!has_clock)
        return;
    try {
        h.info.clock = chosen_clock(in.bytes(in.number64("the clock"), "the clock"));
    } catch (const trace_error &e) {
        damages.add(in.offset(), e.what()); // the events are whole nevertheless
    }
}

void read_options(dat_bytes &in, dat_header &h, std::vector<buffer_instance> &buffers, bool &has_clock,
                  damage_list &damages)
{
    for (;;) {
        const u64 at = in.offset();
        const dat_option id{in.number16("an option")};
        if (id == dat_option::done)
            return;
        const std::string data = in.bytes(in.number32("an option"), "an option");
        if (id == dat_option::trace_clock) {
            has_clock = true;
        } else if (id == dat_option::buffer && data.size() > 8) {
            const std::string_view name = std::string_view(data).substr(8);
            buffers.push_back({std::string(name.substr(0, name.find('\0'))),
                               load64(reinterpret_cast<const u8 *>(data.data()), h.order)});
        } else if (!apply_option(id, data, at, h, damages)) {
            h.info.unknown_options++;
        }
    }
}

// A buffer instance: its own flyrecord, somewhere in the file.
void read_instance(dat_bytes &in, const byte_source &source, const buffer_instance &b, bool has_clock,
                   dat_header &h, damage_list &damages)
{
    try {
        in.seek(b.offset);
        std::string tag = in.bytes(10, "a buffer instance");
        if (tag == "options  \0"sv) {
            std::vector<buffer_instance> nested;
            bool nested_clock = false;
            read_options(in, h, nested, nested_clock, damages);
            tag = in.bytes(10, "a buffer instance");
        }
        if (tag == "flyrecord\0"sv)
            read_flyrecord(in, source, has_clock, h, damages);
        else
            damages.add(b.offset, fmt::format("no events of buffer instance \"{}\" here", b.name));
    } catch (const trace_error &e) {
        damages.add(b.offset, fmt::format("buffer instance \"{}\": {}", b.name, e.what()));
    }
}

} // namespace

void read_version_6(dat_bytes &in, const byte_source &source, const dat_options &options, dat_header &h,
                    damage_list &damages)
{
    read_header_info(in, h);
    read_ftrace_formats(in, h, damages);
    read_event_formats(in, h, damages);
    read_kallsyms(in, h, options.kallsyms);
    read_printk(in, h);
    read_cmdlines(in, h);
    h.info.cpus = in.number32("the number of CPUs");
    std::vector<buffer_instance> buffers;
    bool has_clock = false;
    u64 at = in.offset();
    std::string tag = in.bytes(10, "the kind of trace");
    if (tag == "options  \0"sv) {
        read_options(in, h, buffers, has_clock, damages);
        at = in.offset();
        tag = in.bytes(10, "the kind of trace");
    }
    if (tag == "latency  \0"sv)
        throw trace_error(at, "this is a latency trace, which is text in a file: expected flyrecord");
    if (tag != "flyrecord\0"sv)
        throw trace_error(at, "no events here, expected \"flyrecord\"");
    read_flyrecord(in, source, has_clock, h, damages);
    for (const buffer_instance &b : buffers)
        read_instance(in, source, b, has_clock, h, damages);
}

} // namespace vramlab::trace
