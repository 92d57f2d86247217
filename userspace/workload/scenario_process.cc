// SPDX-License-Identifier: MIT
// Processes and their groups of BOs.
#include "workload/limits.h"
#include "workload/names.h"
#include "workload/scenario_parts.h"

#include <fmt/format.h>

namespace vramlab::workload {

namespace {

constexpr u32 group_max = 1024;
constexpr u32 frame_max = 10'000'000;
constexpr std::size_t size_value_max = 256;

// size = "4MiB", or a table with a distribution.
void parse_size_key(toml_fields &f, const toml::table &table, const std::string &file, size_distribution &d)
{
    const toml::node *n = f.node("size");

    if (!n || !n->is_table()) {
        d.min_bytes = d.max_bytes = f.size("size", page_bytes, size_max_bytes);
        return;
    }
    toml_fields t(*table.get("size")->as_table(), file, "size");

    d.kind = t.choice<size_kind>("distribution", {{"uniform", size_kind::uniform},
                                                  {"log-uniform", size_kind::log_uniform},
                                                  {"list", size_kind::list}});
    if (d.kind == size_kind::list) {
        d.values_bytes = t.sizes("values", page_bytes, size_max_bytes, size_value_max);
    } else {
        d.min_bytes = t.size("min", page_bytes, size_max_bytes);
        d.max_bytes = t.size("max", d.min_bytes, size_max_bytes);
    }
    t.done();
}

void parse_extent(toml_fields &f, const toml::table &table, const std::string &file, group_config &g)
{
    parse_size_key(f, table, file, g.size);
    if (f.has("count") == f.has("total"))
        f.fail("both or neither of \"count\" and \"total\"", "one of them");
    if (f.has("count"))
        g.count = f.integer32("count", 1, bo_max);
    else
        g.total_bytes = f.size("total", page_bytes, u64{1} << 50);
    g.order = f.choice<creation_order>("order",
                                       {{"forward", creation_order::forward},
                                        {"reverse", creation_order::reverse},
                                        {"shuffled", creation_order::shuffled}},
                                       creation_order::forward);
}

void parse_placement(toml_fields &f, group_config &g)
{
    g.preferred = f.mask("preferred", domain_bit, domain_words, domain_vram);
    g.allowed = f.mask("allowed", domain_bit, domain_words, 0);
    if (g.allowed && (g.allowed & g.preferred) != g.preferred)
        f.fail("allowed", fmt::format("is \"{}\"", domains_text(g.allowed)),
               fmt::format("the preferred \"{}\" among them", domains_text(g.preferred)));
    g.flags = (f.boolean("private", true) ? bo_vm_private : 0) |
              (f.boolean("contiguous", false) ? bo_contiguous : 0) |
              (f.boolean("explicit_sync", false) ? bo_explicit_sync : 0);
    g.priority = f.integer32("priority", 0, priority_max, priority_default);
    g.listing = f.choice<listing_kind>(
        "list",
        {{"all", listing_kind::all}, {"touched", listing_kind::touched}, {"none", listing_kind::none}},
        listing_kind::all);
    g.list_order = f.choice<listing_order>("list_order",
                                           {{"forward", listing_order::forward},
                                            {"reverse", listing_order::reverse},
                                            {"alternate", listing_order::alternate}},
                                           listing_order::forward);
    if (g.flags & bo_vm_private && (f.has("list") || f.has("list_order")))
        f.fail(f.has("list") ? "list" : "list_order", "of a private group", "it with private = false only");
}

void parse_touches(toml_fields &f, group_config &g)
{
    if (f.has("touch_count") && f.has("touch_share"))
        f.fail("both \"touch_count\" and \"touch_share\"", "one of them");
    g.touch_by_count = f.has("touch_count");
    g.touch_count = f.integer32("touch_count", 0, list_max, 0);
    g.touch_per_mille = f.integer32("touch_share", 0, 1000, g.listing == listing_kind::none ? 0 : 1000);
    g.touch_bytes_per_mille = f.integer32("touch_bytes", 0, 1000, 1000);
    g.skew = f.integer32("skew", 0, 4, 0);
    g.rank = f.choice<rank_kind>("rank", {{"shuffled", rank_kind::shuffled}, {"created", rank_kind::created}},
                                 rank_kind::shuffled);
    g.random = f.boolean("random", false);
    g.drift_every = f.integer32("drift_every", 0, frame_max, 0);
    g.drift_by = f.integer32("drift_by", 0, bo_max, 1);
    if (g.random && g.drift_every)
        f.fail("drift_every", "with random = true", "one of them");
    g.l2_per_mille = f.integer32("l2_hit", 0, 1000, 0);
    g.msc_per_mille = f.integer32("msc_hit", 0, 1000, 0);
    if (g.listing == listing_kind::none && (g.touch_by_count ? g.touch_count : g.touch_per_mille))
        f.fail("touches BOs that it does not list", "touch_count or touch_share 0 with list = \"none\"");
}

void parse_present(toml_fields &f, process_spec &p)
{
    p.present = f.choice<present_kind>(
        "present",
        {{"none", present_kind::none}, {"immediate", present_kind::immediate}, {"fifo", present_kind::fifo}},
        present_kind::fifo);
    if (p.present == present_kind::fifo)
        p.refresh_hz = f.integer32("refresh", 1, 1000, 60);
    else
        p.max_fps = f.integer32("max_fps", 1, 100'000, 0);
    p.frames = f.integer32("frames", 1, frame_max, 0);
    p.swapchain = f.name("swapchain", "");
    p.scanout = f.name("scanout", "");
    p.direct_scanout = f.boolean("direct_scanout", false);
}

} // namespace

group_config parse_group(const toml::table &table, const std::string &file, const std::string &process)
{
    toml_fields f(table, file, fmt::format("process \"{}\": group", process));
    group_config g;

    g.name = f.name("name");
    g.line = f.line();
    f.rename(fmt::format("process \"{}\": group \"{}\"", process, g.name));
    g.vm = f.integer32("vm", 1, vm_max, 1);
    parse_extent(f, table, file, g);
    parse_placement(f, g);
    parse_touches(f, g);
    f.done();
    return g;
}

process_spec parse_process(const toml::table &table, const std::string &file)
{
    toml_fields f(table, file, "process");
    process_spec p;

    p.name = f.name("name");
    p.line = f.line();
    f.rename(fmt::format("process \"{}\"", p.name));
    p.cgroup = f.text("cgroup", text_max_bytes, "");
    p.count = f.integer32("count", 1, process_max, 1);
    p.vms = f.integer32("vms", 1, 256, 1);
    p.start_ns = f.time("start", 0, time_max_ns, 0);
    p.allocation = f.choice<allocation_kind>("allocation",
                                             {{"grouped", allocation_kind::grouped},
                                              {"interleaved", allocation_kind::interleaved},
                                              {"shuffled", allocation_kind::shuffled}},
                                             allocation_kind::grouped);
    p.submissions = f.integer32("submissions", 0, 1024, 1);
    p.compute_ns = f.time("compute", 0, compute_max_ns, 0);
    p.submit_cpu_ns = f.time("submit_cpu", 0, cpu_max_ns, 0);
    p.frames_in_flight = f.integer32("frames_in_flight", 1, 1024, 2);
    parse_present(f, p);
    for (const toml::table *t : f.tables("group", group_max))
        p.groups.push_back(parse_group(*t, file, p.name));
    f.done();
    return p;
}

} // namespace vramlab::workload
