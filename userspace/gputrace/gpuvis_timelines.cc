// SPDX-License-Identifier: MIT
#include "gputrace/gpuvis_timelines.h"

#include <fmt/format.h>
#include <functional>
#include <utility>

namespace vramlab::gputrace {

namespace {

enum class family : u8 { graphics, compute, copy, video };

// Rows of jobs, in the order in which gpuvis looks for them.
std::vector<std::string> rows_of(family f)
{
    std::vector<std::string> rows;
    if (f == family::graphics)
        rows = {"gfx", "gfx_0.0.0"};
    if (f == family::compute)
        for (int me = 1; me < 3; me++)
            for (int pipe = 0; pipe < 4; pipe++)
                for (int queue = 0; queue < 9; queue++)
                    rows.push_back(fmt::format("comp_{}.{}.{}", me, pipe, queue));
    if (f == family::copy)
        for (int i = 0; i < 8; i++)
            rows.push_back(fmt::format("sdma{}", i));
    if (f == family::video)
        rows = {"vcn_dec", "vcn_dec_0", "vcn_dec_1"};
    return rows;
}

std::set<std::string, std::less<>> all_rows()
{
    std::set<std::string, std::less<>> all;
    for (const family f : {family::graphics, family::compute, family::copy, family::video})
        for (std::string &row : rows_of(f))
            all.insert(std::move(row));
    return all;
}

// Names of engines: vttm's, amdgpu's, xe's and i915's, nouveau's and Arm's and Broadcom's as far as they say
// what they do. The rest draws.
family family_of(std::string_view name)
{
    constexpr struct {
        std::string_view part;
        family of;
    } parts[] = {{"copy", family::copy},   {"bcs", family::copy},     {"dma", family::copy},
                 {"tfu", family::copy},    {"comp", family::compute}, {"ccs", family::compute},
                 {"csd", family::compute}, {"mes", family::compute},  {"kiq", family::compute},
                 {"vcs", family::video},   {"vecs", family::video},   {"vcn", family::video},
                 {"uvd", family::video},   {"vce", family::video},    {"jpeg", family::video}};
    for (const auto &p : parts)
        if (name.find(p.part) != std::string_view::npos)
            return p.of;
    return family::graphics;
}

} // namespace

bool gpuvis_timelines::has_row(std::string_view timeline)
{
    static const std::set<std::string, std::less<>> rows = all_rows();
    // Of video engines it has more, which nobody needs for others.
    return rows.contains(timeline) || timeline.starts_with("vcn_") || timeline.starts_with("uvd") ||
           timeline.starts_with("vce");
}

std::string gpuvis_timelines::free_name(const std::string &engine_name)
{
    const auto first_free = [this](family f) {
        for (const std::string &row : rows_of(f))
            if (!taken_.contains(row))
                return row;
        return std::string();
    };
    const std::string own = first_free(family_of(engine_name));
    // Of most kinds there are few rows.
    return own.empty() ? first_free(family::compute) : own;
}

gpuvis_timelines::gpuvis_timelines(const std::vector<engine> &engines, const std::vector<std::string> &drawn)
{
    for (u32 i = 0; i < engines.size(); i++) {
        names_.push_back(i < drawn.size() ? drawn[i] : "");
        if (names_[i].empty() && has_row(engines[i].label))
            names_[i] = engines[i].label;
        if (!names_[i].empty())
            taken_.insert(names_[i]);
    }
    for (u32 i = 0; i < engines.size(); i++) {
        if (names_[i].empty())
            names_[i] = free_name(engines[i].name);
        if (names_[i].empty()) {
            names_[i] = engines[i].label;
            hidden_.push_back(i);
        }
        taken_.insert(names_[i]);
        if (names_[i] != engines[i].label)
            renamed_.push_back(i);
    }
}

} // namespace vramlab::gputrace
