// SPDX-License-Identifier: MIT
// vramlab latency: what a pointer chase measures on a device, by the buffer's size and place.
#include "cli/commands.h"
#include "cli/input.h"
#include "report/format.h"
#include "report/table.h"
#include "runner/experiment.h"
#include "runner/pointer_chase.h"
#include "workload/scenario.h"
#include "workload/units.h"

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <filesystem>
#include <stdexcept>

namespace vramlab::cli {

namespace {

struct latency_arguments {
    std::string file;
    std::vector<std::string> settings;
    std::vector<std::string> sizes;
    bool json = false;
};

struct latency_row {
    u64 size_bytes;
    u64 vram_millicycles;
    u64 gtt_millicycles;
};

// A device by its name, as scenarios call it, or a file.
std::string device_file(const std::string &name)
{
    if (std::filesystem::exists(name))
        return name;
    const std::string shipped = fmt::format("{}/devices/{}.toml", scenario_directory(), name);
    if (name.find('/') == std::string::npos && std::filesystem::exists(shipped))
        return shipped;
    throw std::runtime_error(fmt::format("{}: expected a device file, or the name of one in {}/devices", name,
                                         scenario_directory()));
}

// Doubling, with one in between, from 256 KiB to 1 GiB.
std::vector<u64> sizes_of(const latency_arguments &a)
{
    std::vector<u64> sizes;
    for (const std::string &text : a.sizes) {
        const std::optional<u64> bytes = workload::parse_size(text);
        if (!bytes || *bytes < 4096 || *bytes > runner::chase_size_max_bytes || *bytes % 4096)
            throw std::runtime_error(
                fmt::format("--sizes: \"{}\", expected sizes from 4KiB to {}, multiples of 4KiB", text,
                            report::format_bytes(runner::chase_size_max_bytes)));
        sizes.push_back(*bytes);
    }
    for (u64 size = 256 * KiB; sizes.empty() || (a.sizes.empty() && size <= 1 * GiB); size *= 2) {
        sizes.push_back(size);
        if (size < 1 * GiB)
            sizes.push_back(size + size / 2);
    }
    return sizes;
}

u64 measure(const cache_config &c, u64 size_bytes, u32 domain)
{
    const workload::workload w = runner::chase_workload(c, size_bytes, domain);
    const auto backend = make_backend(backend_kind::model, mainline_policy(), {});
    const runner::experiment x = runner::run_experiment(w, *backend);
    if (!x.good() || x.metrics.of(0).failed_operations_total())
        throw std::logic_error("latency: the pointer chase failed");
    return runner::chase_millicycles(c, x.metrics.of(0).gfx_busy_ns);
}

void print(const std::vector<latency_row> &rows, const cache_config &c, const std::string &file)
{
    const report::painter p = report::painter::for_stream(stdout);
    const auto cycles = [](u64 milli) { return fmt::format("{:.0f}", static_cast<double>(milli) / 1000); };
    const auto ns = [&](u64 milli) {
        return fmt::format("{:.0f} ns", static_cast<double>(milli) / c.clock_mhz);
    };
    report::table t({"buffer", "in VRAM", "", "in GTT", "", "GTT / VRAM"});
    for (const latency_row &r : rows)
        t.add_row({report::format_bytes(r.size_bytes), cycles(r.vram_millicycles), ns(r.vram_millicycles),
                   cycles(r.gtt_millicycles), ns(r.gtt_millicycles),
                   fmt::format("{:.2f}", static_cast<double>(r.gtt_millicycles) /
                                             static_cast<double>(r.vram_millicycles))});
    fmt::print(
        "{}: cycles of a read that waits for the one before, at {} MHz\nL2 {}, memory-side cache {}\n\n{}\n",
        file, c.clock_mhz, report::format_bytes(c.l2_size_bytes),
        c.memory_side_size_bytes ? report::format_bytes(c.memory_side_size_bytes) : "none", t.render(p));
    fmt::print(
        "{}\n",
        p.paint("modelled from the device file's cycles and sizes, through the same cost path as frames; "
                "no card was measured",
                report::color::dim));
}

void print_json(const std::vector<latency_row> &rows, const cache_config &c, const std::string &file)
{
    nlohmann::ordered_json j{{"device", file},
                             {"l2_bytes", c.l2_size_bytes},
                             {"memory_side_bytes", c.memory_side_size_bytes},
                             {"clock_mhz", c.clock_mhz}};
    for (const latency_row &r : rows)
        j["points"].push_back({{"size_bytes", r.size_bytes},
                               {"vram_cycles", static_cast<double>(r.vram_millicycles) / 1000},
                               {"gtt_cycles", static_cast<double>(r.gtt_millicycles) / 1000}});
    fmt::print("{}\n", j.dump(2));
}

int latency(const latency_arguments &a)
{
    std::vector<workload::setting> settings;
    for (const std::string &text : a.settings)
        settings.push_back(workload::parse_setting(text));
    const std::string file = device_file(a.file);
    const cache_config c = workload::read_caches(file, settings);
    std::vector<latency_row> rows;
    for (const u64 size : sizes_of(a))
        rows.push_back({size, measure(c, size, domain_vram), measure(c, size, domain_gtt)});
    if (a.json)
        print_json(rows, c, a.file);
    else
        print(rows, c, a.file);
    return 0;
}

} // namespace

void add_latency_command(CLI::App &app, int &status)
{
    auto a = std::make_shared<latency_arguments>();
    a->file = "rdna3-microbenchmark";
    CLI::App *c = app.add_subcommand(
        "latency", "What a pointer chase measures on a device, by size and place of the buffer");
    c->add_option("device", a->file, "A device's name or file, or a scenario with [device.caches]")
        ->capture_default_str();
    c->add_option("--set", a->settings, "Override a key of the file: device.caches.l2_size=2MiB")
        ->type_name("PATH=VALUE");
    c->add_option("--sizes", a->sizes, "Sizes of the buffer, separated by commas (default: 256KiB to 1GiB)")
        ->delimiter(',')
        ->type_name("SIZE,SIZE");
    c->add_flag("--json", a->json, "Print JSON");
    c->callback([a, &status] { status = guarded(a->file, [&] { return latency(*a); }); });
}

} // namespace vramlab::cli
