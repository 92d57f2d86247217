// SPDX-License-Identifier: MIT
#include "trace/dat_front.h"

#include "trace/dat_header.h"
#include "trace/format_text.h"

#include <fmt/format.h>

namespace vramlab::trace {

namespace {

using namespace std::string_view_literals;

constexpr std::string_view header_event = "# compressed entry header\n"
                                          "\ttype_len    :    5 bits\n"
                                          "\ttime_delta  :   27 bits\n"
                                          "\tarray       :   32 bits\n"
                                          "\n"
                                          "\tpadding     : type == 29\n"
                                          "\ttime_extend : type == 30\n"
                                          "\tdata max type_len  == 28\n";

std::string header_page(u32 page_size)
{
    return fmt::format("\tfield: u64 timestamp;\toffset:0;\tsize:8;\tsigned:0;\n"
                       "\tfield: local_t commit;\toffset:8;\tsize:8;\tsigned:1;\n"
                       "\tfield: int overwrite;\toffset:8;\tsize:1;\tsigned:1;\n"
                       "\tfield: char data;\toffset:16;\tsize:{};\tsigned:1;\n",
                       page_size - 16);
}

class builder {
public:
    void number16(u16 v) { integer(v, 2); }
    void number32(u64 v) { integer(v, 4); }
    void number64(u64 v) { integer(v, 8); }
    void bytes(std::string_view s) { out += s; }
    void counted32(std::string_view s)
    {
        number32(s.size());
        out += s;
    }
    void counted64(std::string_view s)
    {
        number64(s.size());
        out += s;
    }
    void option(dat_option id, std::string_view data)
    {
        number16(static_cast<u16>(id));
        counted32(data);
    }

    std::string out;

private:
    void integer(u64 v, u32 size)
    {
        for (u32 i = 0; i < size; i++)
            out += static_cast<char>(v >> (8 * i));
    }
};

void put_formats(builder &b, std::span<const event_format> formats)
{
    std::vector<const event_format *> own;
    std::map<std::string_view, std::vector<const event_format *>> systems;
    for (const event_format &f : formats) {
        if (f.system == "ftrace")
            own.push_back(&f);
        else
            systems[f.system].push_back(&f);
    }
    b.number32(own.size());
    for (const event_format *f : own)
        b.counted64(format_text(*f));
    b.number32(systems.size());
    for (const auto &[name, list] : systems) {
        b.bytes(name);
        b.bytes("\0"sv);
        b.number32(list.size());
        for (const event_format *f : list)
            b.counted64(format_text(*f));
    }
}

// A name with a line feed would be two lines.
std::string one_line(std::string_view s)
{
    std::string out(s);
    for (char &c : out)
        if (c == '\n' || c == '\0')
            c = ' ';
    return out;
}

void put_options(builder &b, const dat_front_parts &p)
{
    std::string tgids;
    for (const auto &[pid, tgid] : p.info.tgids)
        tgids += fmt::format("{} {}\n", pid, tgid);
    b.bytes("options  \0"sv);
    for (std::size_t i = 0; i < p.cpus.size(); i++)
        b.option(dat_option::cpu_stat, fmt::format("CPU: {}\nentries: {}\noverrun: 0\ncommit overrun: 0\n"
                                                   "bytes: {}\ndropped events: 0\nread events: {}\n\0"sv,
                                                   i, p.cpus[i].events, p.cpus[i].size, p.cpus[i].events));
    b.option(dat_option::trace_clock, ""sv);
    if (!p.kernel.empty())
        b.option(dat_option::uname, std::string(p.kernel) + '\0');
    if (!tgids.empty()) {
        b.option(dat_option::saved_tgids, tgids + '\0');
        b.option(dat_option::saved_tgids_gpuvis, tgids + '\0');
    }
    b.number16(static_cast<u16>(dat_option::done));
}

} // namespace

std::string dat_front(const dat_front_parts &p)
{
    builder b;
    b.bytes("\x17\x08"
            "Dtracing"
            "6\0\0\x08"sv);
    b.number32(p.page_size);
    b.bytes("header_page\0"sv);
    b.counted64(header_page(p.page_size));
    b.bytes("header_event\0"sv);
    b.counted64(header_event);
    put_formats(b, p.formats);
    b.counted32(p.kallsyms);
    b.counted32(p.info.printk);
    std::string comms;
    for (const auto &[pid, name] : p.info.comms)
        comms += fmt::format("{} {}\n", pid, one_line(name));
    b.counted64(comms);
    b.number32(p.cpus.size());
    put_options(b, p);
    b.bytes("flyrecord\0"sv);
    const std::string clock = fmt::format("[{}]\n\0"sv, p.clock);
    const u64 end = b.out.size() + 16 * p.cpus.size() + 8 + clock.size();
    u64 offset = (end + p.page_size - 1) / p.page_size * p.page_size;
    const u64 pages = offset;
    for (const dat_cpu &c : p.cpus) {
        b.number64(offset);
        b.number64(c.size);
        offset += c.size;
    }
    b.counted64(clock);
    b.out.resize(pages);
    return std::move(b.out);
}

} // namespace vramlab::trace
