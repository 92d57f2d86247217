// SPDX-License-Identifier: MIT
// The part of the checker that looks at the header: device, cgroups, processes, expectations.
#include "workload/checker.h"
#include "workload/limits.h"
#include "workload/names.h"

#include <fmt/format.h>

namespace vramlab::workload {

namespace {

defect check_size(const char *key, u64 bytes)
{
    if (bytes == 0 || bytes % page_bytes || bytes > size_max_bytes)
        return {fmt::format("device: {} is {}", key, bytes),
                fmt::format("a multiple of {} from {} to {}", page_bytes, page_bytes, size_max_bytes)};
    return {};
}

defect check_range(const char *key, u64 value, u64 first, u64 last)
{
    if (value < first || value > last)
        return {fmt::format("device: {} is {}", key, value), fmt::format("{} to {}", first, last)};
    return {};
}

defect check_device(const device_config &d)
{
    for (const defect &e :
         {check_size("vram_size", d.vram_size_bytes), check_size("gtt_size", d.gtt_size_bytes),
          check_range("vram_bandwidth", d.vram_bandwidth, bandwidth_min, bandwidth_max),
          check_range("link_bandwidth", d.link_bandwidth, bandwidth_min, bandwidth_max),
          check_range("copy_latency_ns", d.copy_latency_ns, 0, copy_latency_max_ns),
          check_range("log2_max_mbps", d.log2_max_mbps, 0, log2_max_mbps_max)})
        if (e)
            return e;
    return {};
}

defect check_path(const std::string &path)
{
    const std::string problem = fmt::format("cgroup \"{}\"", path);
    std::string_view rest = path;
    u32 depth = 0;

    for (;;) {
        const std::size_t end = rest.find('/');

        if (!is_name(rest.substr(0, end)))
            return {problem, fmt::format("a path below the root: names ({}) joined by /", name_words)};
        if (++depth > cgroup_depth_max)
            return {problem, fmt::format("at most {} levels", cgroup_depth_max)};
        if (end == std::string_view::npos)
            return {};
        rest.remove_prefix(end + 1);
    }
}

defect check_cgroups(const std::vector<cgroup_config> &cgroups, std::unordered_set<std::string> &known)
{
    if (cgroups.size() > cgroup_max)
        return {fmt::format("{} cgroups", cgroups.size()), fmt::format("at most {}", cgroup_max)};
    for (const cgroup_config &g : cgroups) {
        if (defect e = check_path(g.path))
            return e;
        const std::size_t parent = g.path.rfind('/');

        if (parent != std::string::npos && !known.contains(g.path.substr(0, parent)))
            return {fmt::format("cgroup \"{}\" without its parent", g.path), "parents before children"};
        if (!known.insert(g.path).second)
            return {fmt::format("cgroup \"{}\" twice", g.path), "each once"};
        if (defect e = check_limits(g))
            return e;
    }
    return {};
}

defect check_processes(const std::vector<process_config> &processes,
                       const std::unordered_set<std::string> &cgroups)
{
    std::unordered_set<std::string> names;

    if (processes.empty() || processes.size() > process_max)
        return {fmt::format("{} processes", processes.size()), fmt::format("1 to {}", process_max)};
    for (std::size_t i = 0; i < processes.size(); i++) {
        const process_config &p = processes[i];

        if (p.process != i + 1)
            return {fmt::format("process {}", p.process),
                    fmt::format("{}: numbered from 1, in order", i + 1)};
        if (!is_name(p.name))
            return {fmt::format("process {}: name \"{}\"", p.process, p.name), name_words};
        if (!names.insert(p.name).second)
            return {fmt::format("process name \"{}\" twice", p.name), "each once"};
        if (!p.cgroup.empty() && !cgroups.contains(p.cgroup))
            return {fmt::format("process \"{}\": unknown cgroup \"{}\"", p.name, p.cgroup),
                    "one of the header's"};
    }
    return {};
}

} // namespace

defect check_limits(const cgroup_config &g)
{
    // The dmem controller counts bytes in pages of the region; other values would be rounded silently.
    for (u64 bytes : {g.min_bytes, g.low_bytes, g.max_bytes})
        if (bytes != ~u64{0} && (bytes % page_bytes || bytes > size_max_bytes))
            return {fmt::format("cgroup \"{}\": limit {}", g.path, bytes),
                    fmt::format("\"max\" or a multiple of {} up to {}", page_bytes, size_max_bytes)};
    return {};
}

defect check_system(const system_config &s)
{
    std::unordered_set<std::string> cgroups;

    if (defect e = check_device(s.device))
        return e;
    if (defect e = check_cgroups(s.cgroups, cgroups))
        return e;
    return check_processes(s.processes, cgroups);
}

defect check_expectations(const system_config &s, const std::vector<expectation> &expectations)
{
    for (const expectation &e : expectations) {
        bool known = e.process.empty();

        for (const process_config &p : s.processes)
            known = known || p.name == e.process;
        if (!known)
            return {fmt::format("expectation of \"{}\": unknown process \"{}\"", e.metric, e.process),
                    "one of the header's"};
        if (!is_relation(e.relation))
            return {fmt::format("expectation of \"{}\": relation \"{}\"", e.metric, e.relation),
                    relation_words};
    }
    return {};
}

} // namespace vramlab::workload
