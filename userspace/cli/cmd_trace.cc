// SPDX-License-Identifier: MIT
// vramlab trace: traces of real cards, converted and summed up.
#include "cli/cmd_trace.h"
#include "cli/input.h"
#include "cli/output.h"
#include "cli/trace_input.h"
#include "gputrace/import.h"
#include "gputrace/stats.h"
#include "workload/limits.h"
#include "workload/units.h"

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <filesystem>
#include <optional>
#include <stdexcept>

namespace vramlab::cli {

namespace {

struct trace_arguments {
    std::string in;
    std::string out;
    std::string vram;
    std::string working_set;
    bool json = false;
};

int stats(const trace_arguments &a)
{
    const gputrace::frame_probe probe(*open_named(a.in));
    const auto in = open_named(a.in);
    const gputrace::trace_stats s = gputrace::collect_stats(*in, probe);
    print_damages(a.in, in->damages());
    if (a.json)
        fmt::print("{}\n",
                   gputrace::stats_json(s).dump(2, ' ', false, nlohmann::json::error_handler_t::replace));
    else
        fmt::print("{}", gputrace::print_stats(s, report::painter::for_stream(stdout)));
    return 0;
}

// 0: not given.
u64 size_option(const char *name, const std::string &text)
{
    if (text.empty())
        return 0;
    const std::optional<u64> bytes = workload::parse_size(text);
    if (!bytes || !*bytes || *bytes > workload::size_max_bytes)
        throw std::runtime_error(fmt::format("{} {}: expected {}", name, text, workload::size_words));
    return *bytes;
}

int import(const trace_arguments &a)
{
    gputrace::import_options o;
    o.vram_bytes = size_option("--vram", a.vram);
    if (const u64 bytes = size_option("--working-set", a.working_set))
        o.working_set_bytes = bytes;
    o.name = std::filesystem::path(a.in).stem().string();
    const gputrace::frame_probe probe(*open_named(a.in));
    const auto in = open_named(a.in);
    gputrace::importer i(o);
    i.read(*in, probe);
    print_damages(a.in, in->damages());
    const workload::workload header = [&] {
        try {
            return i.header();
        } catch (const std::runtime_error &e) {
            throw std::runtime_error(fmt::format("{}: {}", a.in, e.what()));
        }
    }();
    workload::write_file(
        header, [&i](const auto &put) { i.operations(put); }, a.out);
    fmt::print("{}", i.print_summary());
    return 0;
}

void add_stats(CLI::App &trace, int &status)
{
    auto a = std::make_shared<trace_arguments>();
    CLI::App *c = trace.add_subcommand(
        "stats", "Per process and engine: frames, busy, wait, moves, stalls; what explains the worst frames");
    c->add_option("in", a->in, trace_in_words)->required();
    c->add_flag("--json", a->json, "Print JSON");
    c->callback([a, &status] { status = guarded(a->in, [&] { return stats(*a); }); });
}

void add_import(CLI::App &trace, int &status)
{
    auto a = std::make_shared<trace_arguments>();
    CLI::App *c = trace.add_subcommand("import", "Make a workload of a trace, for `vramlab run`");
    c->add_option("in", a->in, trace_in_words)->required();
    c->add_option("-o,--output", a->out, "Workload to write (.jsonl or .jsonl.zst)")
        ->required()
        ->type_name("FILE");
    c->add_option("--vram", a->vram, "Size of video memory (default: all fits)")->type_name("SIZE");
    c->add_option("--working-set", a->working_set,
                  "VRAM of each process of whose memory the trace does not tell (default: 256MiB)")
        ->type_name("SIZE");
    c->callback([a, &status] { status = guarded(a->in, [&] { return import(*a); }); });
}

} // namespace

void add_trace_command(CLI::App &app, int &status)
{
    CLI::App *c = app.add_subcommand("trace", "Traces of real cards and of runs");
    c->require_subcommand(1);
    add_trace_convert(*c, status);
    add_stats(*c, status);
    add_import(*c, status);
}

} // namespace vramlab::cli
