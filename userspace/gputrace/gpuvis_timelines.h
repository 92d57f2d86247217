// SPDX-License-Identifier: MIT
// gpuvis draws jobs of timelines that have names of amdgpu's rings, and no others (its gpuvis_graphrows.cpp):
// gfx, gfx_0.0.0, comp_[1-2].[0-3].[0-8], sdma[0-7], vcn_*, .... Engines of other drivers, and those of
// second devices, get the name of one that the trace doesn't have.
#pragma once

#include "gputrace/job_tracker.h"

#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace vramlab::gputrace {

class gpuvis_timelines {
public:
    gpuvis_timelines() = default;
    // All engines of a trace. drawn: by index, the timeline with a row that the trace has their jobs on
    // already, or empty; may be shorter.
    gpuvis_timelines(const std::vector<engine> &engines, const std::vector<std::string> &drawn);

    static bool has_row(std::string_view timeline);

    // By index of the engine. What gpuvis has no row left for keeps its label.
    const std::string &of(u32 engine) const { return names_[engine]; }
    // Indices of the engines that have another name than their label.
    const std::vector<u32> &renamed() const { return renamed_; }
    // Indices of those that gpuvis won't draw.
    const std::vector<u32> &hidden() const { return hidden_; }

private:
    std::string free_name(const std::string &engine_name);

    std::vector<std::string> names_;
    std::vector<u32> renamed_;
    std::vector<u32> hidden_;
    std::set<std::string> taken_;
};

} // namespace vramlab::gputrace
