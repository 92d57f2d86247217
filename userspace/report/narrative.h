// SPDX-License-Identifier: MIT
// A story told line by line, in which what repeats is told once, with how often and until when.
#pragma once

#include "base/request.h"
#include "report/table.h"

#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace vramlab::report {

// Names of processes in reports: the workload's, else their number; 0 is the system.
class process_names {
public:
    explicit process_names(std::vector<process_config> processes) : processes_(std::move(processes)) {}
    std::string operator()(u32 process) const;

private:
    std::vector<process_config> processes_;
};

// Why BOs were passed over as victims: "2 locked, 3 pinned".
std::string skipped_words(const std::unordered_map<u64, std::string_view> &reason_by_bo);

class narrative {
public:
    struct line {
        u64 first_ns = 0;
        u64 last_ns = 0;
        u64 count = 0;
        std::string key; // what makes two lines the same, though their figures differ
        std::string text;
        color paint = color::none;
    };

    // A cycle of up to `cycle_max` lines that repeats is folded too: a BO that comes and goes every frame.
    static constexpr std::size_t cycle_max = 8;

    void add(u64 now_ns, std::string key, std::string text, color paint = color::none);
    const std::vector<line> &lines() const { return lines_; }
    std::string render(const painter &p) const;

private:
    bool fold(u64 now_ns, const std::string &key);

    std::vector<line> lines_;
    // The last cycle_ lines repeat (0: just the last one may), and the one at cycle_pos_ of them is expected
    // next.
    std::size_t cycle_ = 0;
    std::size_t cycle_pos_ = 0;
};

} // namespace vramlab::report
