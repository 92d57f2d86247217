// SPDX-License-Identifier: MIT
#include "report/narrative.h"

#include "report/format.h"

#include <fmt/format.h>

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

// Whether a line with this key goes on with the cycle that the last lines form, or starts one.
bool narrative::fold(u64 now_ns, const std::string &key)
{
    auto count_at = [&](std::size_t i) {
        lines_[i].count++;
        lines_[i].last_ns = now_ns;
    };
    if (cycle_ && lines_[lines_.size() - cycle_ + cycle_pos_].key == key) {
        count_at(lines_.size() - cycle_ + cycle_pos_);
        cycle_pos_ = (cycle_pos_ + 1) % cycle_;
        return true;
    }
    if (cycle_ && cycle_pos_) {
        // The cycle broke off in the middle: what was counted of the last round stays counted, and a new line begins.
        cycle_ = 0;
        return false;
    }
    cycle_ = 0;
    if (!lines_.empty() && lines_.back().key == key) {
        cycle_ = 1;
        cycle_pos_ = 0;
        count_at(lines_.size() - 1);
        return true;
    }
    return false;
}

void narrative::add(u64 now_ns, std::string key, std::string text, color paint)
{
    if (fold(now_ns, key))
        return;
    lines_.push_back({now_ns, now_ns, 1, std::move(key), std::move(text), paint});
    // Two equal rounds in a row are one round told twice, and the begin of a cycle. Rounds that were told once only can
    // be merged: their lines have count 1.
    for (std::size_t n = 2; n <= cycle_max && 2 * n <= lines_.size(); n++) {
        bool equal = true;
        for (std::size_t i = 0; equal && i < n; i++) {
            const line &a = lines_[lines_.size() - 2 * n + i], &b = lines_[lines_.size() - n + i];
            equal = a.key == b.key && a.count == 1 && b.count == 1;
        }
        if (!equal)
            continue;
        for (std::size_t i = 0; i < n; i++) {
            line &a = lines_[lines_.size() - 2 * n + i];
            a.count = 2;
            a.last_ns = lines_[lines_.size() - n + i].last_ns;
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
