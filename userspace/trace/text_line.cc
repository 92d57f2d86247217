// SPDX-License-Identifier: MIT
#include "trace/text_reader.h"

#include <algorithm>
#include <cctype>
#include <charconv>

namespace vramlab::trace {

namespace {

constexpr u64 cpu_max = 1 << 16;
constexpr u64 seconds_max = u64{1} << 33;

bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

bool is_word(char c)
{
    return std::isalnum(static_cast<unsigned char>(c)) || c == '_';
}

bool is_key(char c)
{
    return is_word(c) || c == '-';
}

std::string_view stripped(std::string_view s)
{
    while (!s.empty() && (s.front() == ' ' || s.front() == '\t'))
        s.remove_prefix(1);
    while (!s.empty() && (s.back() == ' ' || s.back() == '\t' || s.back() == '\r'))
        s.remove_suffix(1);
    return s;
}

template <class T> bool take_digits(std::string_view &s, T &v)
{
    const auto [end, error] = std::from_chars(s.data(), s.data() + s.size(), v);
    if (error != std::errc() || s.empty() || !is_digit(s.front()))
        return false;
    s.remove_prefix(static_cast<std::size_t>(end - s.data()));
    return true;
}

// "5442.123456:", "5442.123456789:", or plain nanoseconds of other clocks, "5442123456:".
bool take_time(std::string_view &s, u64 &ns)
{
    std::string_view rest = s;
    u64 whole = 0;
    if (!take_digits(rest, whole) || rest.empty())
        return false;
    ns = whole;
    if (rest.front() == '.') {
        if (whole > seconds_max)
            return false;
        ns = whole * ns_per_s;
        rest.remove_prefix(1);
        u64 unit = ns_per_s / 10;
        for (; !rest.empty() && is_digit(rest.front()); rest.remove_prefix(1), unit /= 10)
            ns += unit * static_cast<u64>(rest.front() - '0');
    }
    if (rest.empty() || rest.front() != ':')
        return false;
    s = stripped(rest.substr(1));
    return true;
}

// Up to five columns of flags before the time.
bool take_flags_and_time(std::string_view &s, u64 &ns)
{
    for (int column = 0; column < 6; column++) {
        s = stripped(s);
        if (take_time(s, ns))
            return true;
        const std::size_t end = s.find(' ');
        if (end == std::string_view::npos || end > 12)
            return false;
        s.remove_prefix(end);
    }
    return false;
}

// "comm-pid", "comm-pid (tgid)", or perf's "comm pid".
bool parse_task(std::string_view s, text_line &line)
{
    s = stripped(s);
    if (s.ends_with(')')) {
        const std::size_t open = s.rfind('(');
        if (open == std::string_view::npos)
            return false;
        std::string_view inside = stripped(s.substr(open + 1, s.size() - open - 2));
        s32 tgid = 0;
        if (take_digits(inside, tgid) && inside.empty())
            line.tgid = tgid;
        s = stripped(s.substr(0, open));
    }
    std::size_t digits = s.size();
    while (digits && is_digit(s[digits - 1]))
        digits--;
    if (!digits || digits == s.size() || (s[digits - 1] != '-' && s[digits - 1] != ' '))
        return false;
    std::string_view pid = s.substr(digits);
    if (!take_digits(pid, line.pid))
        return false;
    line.comm = stripped(s.substr(0, digits - 1));
    if (line.comm == "<...>" || line.comm == "<idle>")
        line.comm = {};
    return true;
}

bool parse_event(std::string_view s, text_line &line)
{
    std::size_t end = 0;
    while (end < s.size() && (is_word(s[end]) || s[end] == '-' || s[end] == '.'))
        end++;
    if (!end || end == s.size() || s[end] != ':')
        return false;
    // perf says the system too.
    if (end + 1 < s.size() && is_word(s[end + 1])) {
        std::size_t second = end + 1;
        while (second < s.size() && is_word(s[second]))
            second++;
        if (second < s.size() && s[second] == ':') {
            line.name = s.substr(end + 1, second - end - 1);
            line.payload = stripped(s.substr(second + 1));
            return true;
        }
    }
    line.name = s.substr(0, end);
    line.payload = stripped(s.substr(end + 1));
    return true;
}

} // namespace

std::optional<text_line> parse_text_line(std::string_view s)
{
    // A task's name may have brackets too: the first that a time follows.
    for (std::size_t open = 0; (open = s.find('[', open)) != std::string_view::npos; open++) {
        text_line line;
        std::string_view rest = s.substr(open + 1);
        if (!take_digits(rest, line.cpu) || rest.empty() || rest.front() != ']' || line.cpu >= cpu_max)
            continue;
        rest.remove_prefix(1);
        if (take_flags_and_time(rest, line.time_ns) && parse_task(s.substr(0, open), line) &&
            parse_event(rest, line))
            return line;
    }
    return std::nullopt;
}

void split_pairs(std::string_view payload, std::vector<text_pair> &out)
{
    out.clear();
    std::size_t value = 0; // of the last pair
    const auto close = [&](std::size_t end) {
        if (out.empty())
            return;
        std::string_view v = payload.substr(value, end - value);
        v = v.substr(0, v.find(", ")); // "ring=gfx, job count:1, id=5"
        while (!v.empty() && (v.back() == ' ' || v.back() == ','))
            v.remove_suffix(1);
        out.back().value = v;
    };
    for (std::size_t at = 0; (at = payload.find('=', at)) != std::string_view::npos; at++) {
        std::size_t begin = at;
        while (begin > value && is_key(payload[begin - 1]))
            begin--;
        const bool starts = !begin || payload[begin - 1] == ' ' || payload[begin - 1] == ',';
        if (begin == at || !starts || is_digit(payload[begin]) || out.size() == pairs_max)
            continue;
        close(begin);
        out.push_back({payload.substr(begin, at - begin), {}});
        value = at + 1;
    }
    close(payload.size());
}

} // namespace vramlab::trace
