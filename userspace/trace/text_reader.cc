// SPDX-License-Identifier: MIT
#include "trace/text_reader.h"

#include "trace/line_reader.h"
#include "trace/record_builder.h"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_map>

namespace vramlab::trace {

namespace {

constexpr std::size_t payload_max_bytes = 16 * KiB; // in a record twice, and offsets have 16 bits
constexpr std::size_t formats_max = 10'000;
constexpr u64 cpus_max = 1 << 16;
constexpr u64 header_max_lines = 10'000; // before the first event

bool is_print(std::string_view name)
{
    return name == "print" || name == "tracing_mark_write" || name == "bprint";
}

// Where it was written from, if that is said: "tracing_mark_write: text", "0xffffffff81234567: text".
std::string_view print_text(std::string_view s)
{
    const std::size_t colon = s.find(": ");
    if (colon == std::string_view::npos)
        return s;
    std::string_view from = s.substr(0, colon);
    if (from.starts_with("0x"))
        from.remove_prefix(2);
    const bool address =
        from.size() >= 8 && from.find_first_not_of("0123456789abcdef") == std::string_view::npos;
    return address || from == "tracing_mark_write" ? s.substr(colon + 2) : s;
}

// Lines that trace-cmd and ftrace print beside events.
bool is_header(std::string_view line)
{
    return line.empty() || line.starts_with('#') || line.starts_with("version =") ||
           line.starts_with("cpus=") || (line.starts_with("CPU ") && line.ends_with(" is empty")) ||
           (line.starts_with("CPU") && line.ends_with("events lost"));
}

class text_reader final : public trace_reader {
public:
    explicit text_reader(std::unique_ptr<byte_source> source) : source_(std::move(source)), lines_(*source_)
    {
        std::string_view line;
        u64 before = 0;
        bool header = false;
        while (before++ < header_max_lines && lines_.next(line)) {
            first_ = parse_text_line(line);
            if (first_)
                return;
            header |= is_header(line) && !line.empty();
            if (!header && before > 100)
                break;
            beside(line);
        }
        if (!header)
            throw trace_error(
                "this is no trace, expected trace.dat, a text trace, or a zip archive with one");
    }

    bool next(record &r) override
    {
        if (first_) {
            const text_line line = *first_;
            first_.reset();
            return give(line, r) || next(r);
        }
        for (std::string_view s; lines_.next(s);) {
            const std::optional<text_line> line = parse_text_line(s);
            if (!line)
                beside(s);
            else if (give(*line, r))
                return true;
        }
        if (lines_.cut())
            damages_.add(lines_.offset(), "the last line is cut off: it has no line feed");
        return false;
    }

    const trace_info &info() const override { return info_; }
    const damage_list &damages() const override { return damages_; }

private:
    struct known {
        event_format *format;
        bool print;
    };

    // A line that is no event.
    void beside(std::string_view line)
    {
        const std::size_t lost = line.find(" [LOST ");
        if (line.starts_with("CPU:") && lost != std::string_view::npos) {
            const u64 cpu = parse_number(line.substr(4, lost - 4)).value_or(0);
            std::string_view count = line.substr(lost + 7);
            count = count.substr(0, count.find(' '));
            if (cpu < cpus_max)
                lost_[static_cast<u32>(cpu)] = parse_number(count).value_or(never_ns);
        } else if (line.starts_with("cpus=")) {
            const u64 cpus = parse_number(line.substr(5)).value_or(0);
            info_.cpus = std::max(info_.cpus, static_cast<u32>(std::min<u64>(cpus, cpus_max)));
        } else if (!is_header(line)) {
            damages_.add(lines_.offset(), "this line is no event");
        }
    }

    known *format_for(const text_line &line)
    {
        const auto it = formats_.find(std::string(line.name));
        if (it != formats_.end())
            return &it->second;
        if (formats_.size() == formats_max)
            return nullptr;
        const bool print = is_print(line.name);
        auto f = std::make_unique<event_format>();
        f->system = print ? "ftrace" : text_system;
        f->name = line.name == "tracing_mark_write" ? "print" : line.name;
        f->id = static_cast<u16>(formats_.size() + 1);
        f->common = common_fields();
        if (print) {
            add_field(*f, "u64", "ip");
            f->fields.back().type = "unsigned long";
            add_field(*f, "char[]", "buf");
            f->print = "\"%ps: %s\", (void *)REC->ip, REC->buf";
        } else {
            for (const text_pair &p : pairs_)
                if (p.key != "text" && !f->find(p.key))
                    add_field(*f, "__data_loc char[]", p.key);
            add_field(*f, "__data_loc char[]", "text");
            f->print = "\"%s\", __get_str(text)";
        }
        known k{f.get(), print};
        info_.formats.push_back(std::move(f));
        return &formats_.emplace(line.name, k).first->second;
    }

    void set(std::string_view key, std::string_view value, const event_format &f, std::size_t guess)
    {
        if (guess + 1 < f.fields.size() && f.fields[guess].name == key) {
            builder_.text(guess, value);
            return;
        }
        for (std::size_t i = 0; i + 1 < f.fields.size(); i++)
            if (f.fields[i].name == key)
                builder_.text(i, value);
    }

    bool give(const text_line &line, record &r)
    {
        const std::string_view payload = line.payload.substr(0, payload_max_bytes);
        if (payload.size() < line.payload.size())
            damages_.add(lines_.offset(), "the line is too long, its end is left out");
        split_pairs(payload, pairs_);
        known *k = format_for(line);
        if (!k) {
            damages_.add(lines_.offset(), "there are too many names of events");
            return false;
        }
        builder_.start(*k->format, line.pid);
        if (k->print) {
            builder_.text(1, print_text(payload));
        } else {
            for (std::size_t i = 0; i < pairs_.size(); i++)
                set(pairs_[i].key, pairs_[i].value, *k->format, i);
            builder_.text(k->format->fields.size() - 1, payload);
        }
        if (!line.comm.empty() && line.pid)
            info_.comms.insert_or_assign(line.pid, std::string(line.comm));
        if (line.tgid >= 0 && line.pid)
            info_.tgids.insert_or_assign(line.pid, line.tgid);
        info_.cpus = std::max(info_.cpus, line.cpu + 1);
        if (line.time_ns < time_ns_)
            damages_.add(lines_.offset(), "the time goes back");
        time_ns_ = std::max(time_ns_, line.time_ns);
        const auto lost = lost_.find(line.cpu);
        r = {time_ns_, lines_.offset(), k->format, builder_.data(),
             0,        line.cpu,        line.pid,  byte_order::little};
        if (lost != lost_.end()) {
            r.lost = lost->second;
            lost_.erase(lost);
        }
        return true;
    }

    std::unique_ptr<byte_source> source_;
    line_reader lines_;
    trace_info info_;
    damage_list damages_;
    std::optional<text_line> first_; // its strings are the line reader's
    std::unordered_map<std::string, known> formats_;
    std::unordered_map<u32, u64> lost_; // by CPU, before its next event
    std::vector<text_pair> pairs_;
    record_builder builder_;
    u64 time_ns_ = 0;
};

} // namespace

std::unique_ptr<trace_reader> open_text(std::unique_ptr<byte_source> source)
{
    return std::make_unique<text_reader>(std::move(source));
}

} // namespace vramlab::trace
