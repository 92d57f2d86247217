// SPDX-License-Identifier: MIT
#include "trace/dat_sections.h"

#include "trace/format_text.h"

#include <fmt/format.h>

#include <charconv>

namespace vramlab::trace {

namespace {

using namespace std::string_view_literals;

// Calls f with each line, without its end.
template <typename function> void each_line(std::string_view text, function f)
{
    while (!text.empty()) {
        const std::size_t end = text.find('\n');
        f(text.substr(0, end));
        if (end == std::string_view::npos)
            return;
        text.remove_prefix(end + 1);
    }
}

// A number at the begin, which is cut off together with the blanks behind it.
std::optional<s32> leading_number(std::string_view &line)
{
    while (line.starts_with(' '))
        line.remove_prefix(1);
    s32 v = 0;
    const auto [end, error] = std::from_chars(line.data(), line.data() + line.size(), v);
    if (error != std::errc())
        return std::nullopt;
    line.remove_prefix(static_cast<std::size_t>(end - line.data()));
    while (line.starts_with(' '))
        line.remove_prefix(1);
    return v;
}

// The fields of header_page that matter. Kernels differ in the size of commit (long) and in what follows.
void parse_header_page(std::string_view text, page_layout &layout, u64 at)
{
    bool has_data = false;
    each_line(text, [&](std::string_view line) {
        const std::optional<field> f = parse_field(line);
        if (!f)
            return;
        if (f->name == "timestamp") {
            layout.timestamp_offset = f->offset;
        } else if (f->name == "commit") {
            layout.commit_offset = f->offset;
            layout.commit_size = f->size;
        } else if (f->name == "data") {
            layout.data_offset = f->offset;
            has_data = true;
        }
    });
    if (!has_data || (layout.commit_size != 4 && layout.commit_size != 8))
        throw trace_error(at, "header_page describes no page, expected timestamp, commit and data "
                              "(kernels before 2.6.31 don't)");
}

void add_format(std::string_view text, std::string_view system, u64 at, dat_header &h, damage_list &damages)
{
    std::optional<event_format> f = parse_format(text, system);
    if (f)
        h.info.formats.push_back(std::make_unique<event_format>(std::move(*f)));
    else
        damages.add(at, fmt::format("an event format of {} is not understood", system));
}

} // namespace

void read_header_info(dat_bytes &in, dat_header &h)
{
    in.expect("header_page\0"sv, "header_page");
    const u64 at = in.offset();
    parse_header_page(in.bytes(in.number64("header_page"), "header_page"), h.layout, at);
    in.expect("header_event\0"sv, "header_event");
    in.skip(in.number64("header_event"), "header_event");
}

void read_ftrace_formats(dat_bytes &in, dat_header &h, damage_list &damages)
{
    const u32 count = in.number32("the number of ftrace formats");
    for (u32 i = 0; i < count; i++) {
        const u64 at = in.offset();
        add_format(in.bytes(in.number64("an ftrace format"), "an ftrace format"), "ftrace", at, h, damages);
    }
}

void read_event_formats(dat_bytes &in, dat_header &h, damage_list &damages)
{
    const u32 systems = in.number32("the number of event systems");
    for (u32 s = 0; s < systems; s++) {
        const std::string system = in.string("the name of an event system");
        const u32 count = in.number32("the number of event formats");
        for (u32 i = 0; i < count; i++) {
            const u64 at = in.offset();
            add_format(in.bytes(in.number64("an event format"), "an event format"), system, at, h, damages);
        }
    }
}

void read_kallsyms(dat_bytes &in, dat_header &h, bool keep)
{
    const u32 size = in.number32("kallsyms");
    if (keep)
        h.kallsyms = in.bytes(size, "kallsyms");
    else
        in.skip(size, "kallsyms");
}

void read_printk(dat_bytes &in, dat_header &h)
{
    h.info.printk = in.bytes(in.number32("printk formats"), "printk formats");
}

void read_cmdlines(dat_bytes &in, dat_header &h)
{
    const std::string text = in.bytes(in.number64("command lines"), "command lines");
    each_line(text, [&](std::string_view line) {
        if (const std::optional<s32> pid = leading_number(line))
            h.info.comms[*pid] = line.substr(0, line.find('\0'));
    });
}

void parse_tgids(std::string_view text, trace_info &info)
{
    each_line(text, [&](std::string_view line) {
        const std::optional<s32> pid = leading_number(line);
        const std::optional<s32> tgid = leading_number(line);
        if (pid && tgid)
            info.tgids[*pid] = *tgid;
    });
}

std::string chosen_clock(std::string_view text)
{
    const std::size_t open = text.find('[');
    const std::size_t close = text.find(']');
    if (open == std::string_view::npos || close == std::string_view::npos || close < open)
        return std::string(text.substr(0, text.find_first_of("\0\n "sv)));
    return std::string(text.substr(open + 1, close - open - 1));
}

bool apply_option(dat_option id, const std::string &data, u64 offset, dat_header &h, damage_list &damages)
{
    const std::string_view text = std::string_view(data).substr(0, data.find('\0'));
    const u8 *p = reinterpret_cast<const u8 *>(data.data());
    switch (id) {
    case dat_option::date:
    case dat_option::offset:
        if (const std::optional<u64> v = parse_number(text))
            h.time_offset_ns += static_cast<s64>(id == dat_option::date ? *v * ns_per_us : *v);
        else
            damages.add(offset, "an option shifts time by something that is no number");
        return true;
    case dat_option::cpu_stat:
        h.info.cpu_stats.emplace_back(text);
        return true;
    case dat_option::uname:
        h.info.kernel = text;
        return true;
    case dat_option::cpu_count:
        if (data.size() <= 8)
            return true;
        [[fallthrough]];
    case dat_option::saved_tgids:
    case dat_option::saved_tgids_gpuvis:
        parse_tgids(text, h.info);
        return true;
    case dat_option::tsc_to_ns:
        if (data.size() < 16 || load32(p + 4, h.order) > 63) {
            damages.add(offset, "the option that turns cycles into ns makes no sense");
            return true;
        }
        h.tsc_mult = load32(p, h.order);
        h.tsc_shift = load32(p + 4, h.order);
        h.tsc_offset = load64(p + 8, h.order);
        return true;
    case dat_option::hook:
    case dat_option::version:
    case dat_option::procmaps:
    case dat_option::trace_id:
    case dat_option::time_shift:
    case dat_option::guest:
        return true; // of no use here
    default:
        return false;
    }
}

void add_area(dat_header &h, cpu_area area, u64 file_size, u64 at, damage_list &damages)
{
    if (!area.size)
        return;
    if (area.offset >= file_size) {
        damages.add(at, fmt::format("the file ends at {}, before the events of CPU {} at {}", file_size,
                                    area.cpu, area.offset));
        return;
    }
    if (area.size > file_size - area.offset) {
        damages.add(file_size,
                    fmt::format("the file ends within the events of CPU {}, expected {} bytes more", area.cpu,
                                area.size - (file_size - area.offset)));
        area.size = file_size - area.offset;
    }
    if (area.size > file_size - h.area_bytes) {
        damages.add(at, fmt::format("the events of CPU {} overlap those of others", area.cpu));
        return;
    }
    h.area_bytes += area.size;
    h.areas.push_back(area);
}

} // namespace vramlab::trace
