// SPDX-License-Identifier: MIT
#include "trace/text_writer.h"

#include "trace/text_reader.h"

#include <fmt/format.h>

#include <iterator>

namespace vramlab::trace {

std::string payload_text(const record &r)
{
    std::string out;
    const std::vector<field> &fields = r.format->fields;
    if (r.format->system == text_system) {
        out = r.text(fields.back());
    } else if (r.format->name == "print" && r.format->find("buf")) {
        out = r.text("buf");
    } else {
        for (const field &f : fields) {
            if (!out.empty())
                out += ' ';
            out += f.name;
            out += '=';
            out += r.show(f);
        }
    }
    while (!out.empty() && (out.back() == '\n' || out.back() == ' '))
        out.pop_back();
    for (char &c : out)
        if (c == '\n' || c == '\r')
            c = ' ';
    return out;
}

void append_text(std::string &out, const record &r, const trace_info &info)
{
    const auto to = std::back_inserter(out);
    if (r.lost == never_ns)
        fmt::format_to(to, "CPU:{} [LOST EVENTS]\n", r.cpu);
    else if (r.lost)
        fmt::format_to(to, "CPU:{} [LOST {} EVENTS]\n", r.cpu, r.lost);
    fmt::format_to(to, "{:>16}-{:<7}", info.comm(r.pid), r.pid);
    if (const auto it = info.tgids.find(r.pid); it != info.tgids.end())
        fmt::format_to(to, " ({:7})", it->second);
    fmt::format_to(to, " [{:03}] {:6}.{:09}: {}: {}\n", r.cpu, r.time_ns / ns_per_s, r.time_ns % ns_per_s,
                   r.format->name, payload_text(r));
}

} // namespace vramlab::trace
