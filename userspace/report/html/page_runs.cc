// SPDX-License-Identifier: MIT
#include "report/html/page_runs.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <map>

namespace vramlab::report {

using nlohmann::ordered_json;

namespace {

// Evictions by BO, over all policies; in the order of tags.
std::map<u64, u64> evictions_of(const page_scenario &s)
{
    std::map<u64, u64> evictions;
    for (const page_run &r : s.runs)
        for (const auto &[bo, life] : r.t->lives())
            if (life.evictions)
                evictions[bo] += life.evictions;
    return evictions;
}

template <typename Fn> ordered_json series(std::size_t count, Fn value)
{
    ordered_json j = ordered_json::array();
    for (std::size_t i = 0; i < count; i++)
        j.push_back(value(i));
    return j;
}

ordered_json frames_json(const timeline &t)
{
    ordered_json j = ordered_json::object();
    for (const process_config &p : t.processes()) {
        const timeline::frame_series &f = t.frames(p.process);
        if (!f.frames)
            continue;
        j[std::to_string(p.process)] = {
            {"frames", f.frames},
            {"stride", f.stride},
            {"end_ns", series(f.kept.size(), [&](std::size_t i) { return f.kept[i].end_ns; })},
            {"duration_ns", series(f.kept.size(), [&](std::size_t i) { return f.kept[i].duration_ns; })}};
    }
    return j;
}

ordered_json vram_json(const timeline &t)
{
    const time_levels &v = t.vram();
    ordered_json j{{"width_ns", v.width_ns()}, {"bins", v.bins()}};
    j["processes"] = ordered_json::object();
    for (const process_config &p : t.processes())
        j["processes"][std::to_string(p.process)] =
            series(v.bins(), [&](std::size_t i) { return v.at_end(p.process, i); });
    j["demand"] = series(v.bins(), [&](std::size_t i) { return v.highest(t.demand_row(), i); });
    return j;
}

ordered_json bins_json(const time_bins &b, std::initializer_list<std::pair<const char *, std::size_t>> rows)
{
    ordered_json j{{"width_ns", b.width_ns()}, {"bins", b.bins()}};
    for (const auto &[name, row] : rows) {
        j[name] = series(b.bins(), [&, r = row](std::size_t i) { return b.value(r, i); });
        j[std::string(name) + "_sum"] = b.sum(row);
    }
    return j;
}

ordered_json phases_json(const timeline &t)
{
    ordered_json j = ordered_json::array();
    for (const auto &[vm, v] : t.phases().vms()) {
        ordered_json intervals = ordered_json::array();
        for (const throttle_phases::interval &i : v.intervals)
            intervals.push_back({i.begin_ns, i.end_ns, i.strong});
        j.push_back({{"vm", vm},
                     {"process", t.process_of_vm(vm)},
                     {"evictions", v.evictions},
                     {"left_out", v.left_out},
                     {"intervals", std::move(intervals)}});
    }
    return j;
}

ordered_json life_json(const timeline::bo_life &life)
{
    ordered_json j{{"process", life.info.process},   {"size_bytes", life.info.size_bytes},
                   {"priority", life.info.priority}, {"preferred", life.info.preferred},
                   {"allowed", life.info.allowed},   {"flags", life.info.flags},
                   {"scanout", life.info.scanout},   {"created_ns", life.created_ns},
                   {"evictions", life.evictions},    {"left_out", life.left_out},
                   {"again", life.name_again}};
    if (life.destroyed_ns != never_ns)
        j["destroyed_ns"] = life.destroyed_ns;
    j["changes"] = ordered_json::array();
    for (const timeline::change &c : life.changes)
        j["changes"].push_back({c.at_ns, c.from, c.to, c.eviction + 2 * c.for_scanout, c.process, c.for_bo});
    return j;
}

} // namespace

std::vector<u64> shown_bos(const page_scenario &s, std::size_t limit)
{
    std::vector<u64> bos = s.bos;
    std::vector<std::pair<u64, u64>> most; // evictions, tag
    for (const auto &[bo, evictions] : evictions_of(s))
        if (std::find(bos.begin(), bos.end(), bo) == bos.end())
            most.emplace_back(evictions, bo);
    std::stable_sort(most.begin(), most.end(),
                     [](const auto &a, const auto &b) { return a.first > b.first; });
    for (const auto &[evictions, bo] : most)
        if (bos.size() < limit)
            bos.push_back(bo);
    return bos;
}

std::size_t bos_with_moves(const page_scenario &s)
{
    return evictions_of(s).size();
}

ordered_json timeline_json(const timeline &t, const std::vector<u64> &bos)
{
    ordered_json j{{"end_ns", t.end_ns()}};
    j["frames"] = frames_json(t);
    j["vram"] = vram_json(t);
    j["link"] = bins_json(t.link(), {{"moved_in", timeline::moved_in},
                                     {"moved_out", timeline::moved_out},
                                     {"remote", timeline::remote_reads}});
    j["changes"] = bins_json(t.changes(), {{"scanout", timeline::evicted_for_scanout},
                                           {"others", timeline::evicted_for_others},
                                           {"own", timeline::evicted_for_own},
                                           {"back", timeline::came_back}});
    j["phases"] = phases_json(t);
    j["bos"] = ordered_json::object();
    for (const u64 bo : bos)
        if (auto it = t.lives().find(bo); it != t.lives().end())
            j["bos"][std::to_string(bo)] = life_json(it->second);
    j["dropped"] = {{"cut_jobs", t.cut_jobs()},
                    {"cut_bytes", t.cut_bytes()},
                    {"unknown_copies", t.unknown_copies()},
                    {"changes", t.left_out_changes()}};
    return j;
}

} // namespace vramlab::report
