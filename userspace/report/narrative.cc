// SPDX-License-Identifier: MIT
#include "report/narrative.h"

#include "report/format.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

namespace vramlab::report {

std::string process_names::operator()(u32 process) const
{
    if (!process)
        return "the system";
    for (const process_config &p : processes_)
        if (p.process == process && !p.name.empty())
            return p.name;
    return fmt::format("process {}", process);
}

std::string skipped_words(const std::unordered_map<u64, std::string_view> &reason_by_bo)
{
    std::map<std::string_view, u64> count;
    for (const auto &[bo, reason] : reason_by_bo)
        count[reason]++;
    std::string s;
    for (const auto &[reason, n] : count)
        s += fmt::format("{}{} {}", s.empty() ? "" : ", ", n, reason);
    return s;
}

// Whether a line with this key goes on with the cycle that the last lines form, or repeats the last line.
bool narrative::fold(u64 now_ns, const std::string &key)
{
    if (lines_.empty())
        return false;
    const std::size_t length = cycle_ ? cycle_ : 1;
    const std::size_t first = lines_.size() - length;
    const std::size_t next = cycle_ ? cycle_pos_ : 0;
    const std::size_t last =
        cycle_ ? (cycle_pos_ + length - 1) % length : 0; // told last: it may repeat itself
    for (const std::size_t i : {next, last}) {
        line &l = lines_[first + i];
        if (l.key != key)
            continue;
        l.count++;
        l.last_ns = now_ns;
        if (i == next)
            cycle_pos_ = (next + 1) % length;
        return true;
    }
    cycle_ = 0; // broken off: what was counted of the last round stays counted
    cycle_pos_ = 0;
    return false;
}

void narrative::add(u64 now_ns, std::string key, std::string text, color paint)
{
    if (fold(now_ns, key))
        return;
    lines_.push_back({now_ns, now_ns, 1, std::move(key), std::move(text), paint});
    // Two equal rounds in a row are one round told twice, and the begin of a cycle.
    for (std::size_t n = 2; n <= cycle_max && 2 * n <= lines_.size(); n++) {
        line *a = &lines_[lines_.size() - 2 * n];
        line *b = a + n;
        if (!std::equal(a, b, b, [](const line &x, const line &y) { return x.key == y.key; }))
            continue;
        for (std::size_t i = 0; i < n; i++) {
            a[i].count += b[i].count;
            a[i].last_ns = b[i].last_ns;
        }
        lines_.resize(lines_.size() - n);
        cycle_ = n;
        cycle_pos_ = 0;
        return;
    }
}

std::string narrative::render(const painter &p) const
{
    std::size_t width = 0;
    for (const line &l : lines_)
        width = std::max(width, format_time(l.first_ns).size());
    std::string out;
    for (const line &l : lines_) {
        out += fmt::format("{:>{}}  {}", format_time(l.first_ns), width, p.paint(l.text, l.paint));
        if (l.count > 1)
            out += p.paint(fmt::format(" ({} times until {})", l.count, format_time(l.last_ns)), color::dim);
        out += "\n";
    }
    return out;
}

} // namespace vramlab::report
