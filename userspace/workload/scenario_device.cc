// SPDX-License-Identifier: MIT
// The device of a scenario: what a file says of it, and what the scenario has of its own.
#include "workload/limits.h"
#include "workload/scenario_parts.h"
#include "workload/settings.h"

#include <fmt/format.h>

#include <array>

namespace vramlab::workload {

namespace {

constexpr const char *documented = "the keys of Documentation/scenario-format.rst, \"Device\"";

// Gigatransfers a second of a lane, in tenths, and what encoding leaves of them.
struct pcie_generation {
    u64 tenths_gt;
    u64 payload, coded;
};
constexpr std::array<pcie_generation, 5> pcie_generations{
    {{25, 8, 10}, {50, 8, 10}, {80, 128, 130}, {160, 128, 130}, {320, 128, 130}}};

// Bytes a second after encoding, before what packets cost.
u64 parse_pcie(const toml::table &table, const std::string &file)
{
    toml_fields f(table, file, "device: pcie");
    const u64 generation = f.integer("generation", 1, pcie_generations.size());
    const u64 lanes = f.integer("lanes", 1, 16);
    f.done(documented);
    const pcie_generation &g = pcie_generations[generation - 1];
    return g.tenths_gt * 100'000'000 * lanes * g.payload / g.coded / 8;
}

cache_config parse_caches(const toml::table &table, const std::string &file, cache_config c)
{
    constexpr u64 cycles_max = 1'000'000, cache_max = 4 * GiB;
    toml_fields f(table, file, "device: caches");
    const auto otherwise = [](u64 value) { return value ? std::optional<u64>(value) : std::nullopt; };
    c.l2_size_bytes = f.size("l2_size", 4 * KiB, cache_max, otherwise(c.l2_size_bytes));
    c.memory_side_size_bytes = f.size("memory_side_size", 0, cache_max, c.memory_side_size_bytes);
    c.l2_cycles = f.integer32("l2_cycles", 1, cycles_max, otherwise(c.l2_cycles));
    c.vram_cycles = f.integer32("vram_cycles", c.l2_cycles + 1, cycles_max, otherwise(c.vram_cycles));
    const bool must = c.memory_side_size_bytes && !c.memory_side_cycles;
    c.memory_side_cycles = f.integer32("memory_side_cycles", c.l2_cycles + 1, c.vram_cycles - 1,
                                       must ? std::nullopt : std::optional<u64>(c.memory_side_cycles));
    c.link_cycles = f.integer32("link_cycles", c.vram_cycles + 1, cycles_max, otherwise(c.link_cycles));
    c.clock_mhz = f.integer32("clock_mhz", 1, 100'000, otherwise(c.clock_mhz));
    f.done(documented);
    return c;
}

// A file of a device alone.
parsed_device read_device(const std::string &path, const std::vector<setting> &settings)
{
    toml::table root = parse_toml(read_text(path), path);
    apply_settings(root, path, settings);
    toml_fields top(root, path, "");

    top.integer("vramlab", format_version, format_version);
    top.text("source", text_max_bytes, "");
    const toml::table *device = top.table("device");

    top.done();
    if (!device || device->contains("file"))
        top.fail("no device", "a table [device] without key \"file\"");
    return parse_device(*device, path, {});
}

} // namespace

parsed_device parse_device(const toml::table &table, const std::string &file, const std::string &device_dir)
{
    toml_fields f(table, file, "device");
    parsed_device out;
    device_config &d = out.device;

    // A named device first, then what the scenario says of its own.
    if (f.has("file")) {
        const std::string name = f.name("file");

        if (device_dir.empty())
            f.fail("file", fmt::format("is \"{}\"", name),
                   "the device itself: there is no directory of devices here");
        out = read_device(fmt::format("{}/{}.toml", device_dir, name), {});
    }
    d.vram_size_bytes = f.size("vram_size", page_bytes, size_max_bytes, d.vram_size_bytes);
    d.gtt_size_bytes = f.size("gtt_size", page_bytes, size_max_bytes, d.gtt_size_bytes);
    d.vram_bandwidth = f.size("vram_bandwidth", bandwidth_min, bandwidth_max, d.vram_bandwidth);
    if (const toml::table *pcie = f.table("pcie")) {
        if (f.has("link_bandwidth"))
            f.fail("link_bandwidth", "is there beside \"pcie\"", "one of both");
        d.link_bandwidth = parse_pcie(*pcie, file);
    }
    d.link_bandwidth = f.size("link_bandwidth", bandwidth_min, bandwidth_max, d.link_bandwidth);
    d.copy_latency_ns = f.time("copy_latency", 0, copy_latency_max_ns, d.copy_latency_ns);
    d.log2_max_mbps = f.integer32("log2_max_mbps", 0, log2_max_mbps_max, d.log2_max_mbps);
    d.overlap = f.boolean("overlap", d.overlap);
    if (const toml::table *caches = f.table("caches"))
        out.caches = parse_caches(*caches, file, out.caches.value_or(cache_config{}));
    f.done();
    return out;
}

cache_config read_caches(const std::string &path, const std::vector<setting> &settings)
{
    const toml::table root = parse_toml(read_text(path), path);
    const std::optional<cache_config> caches =
        root.contains("name") ? read_scenario(path, settings).caches : read_device(path, settings).caches;
    if (!caches)
        throw parse_error(path, 0, "the device has no caches", "a table [device.caches]");
    return *caches;
}

} // namespace vramlab::workload
