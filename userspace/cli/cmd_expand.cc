// SPDX-License-Identifier: MIT
// vramlab expand: the explicit workload of a scenario, or a random one.
#include "cli/commands.h"
#include "cli/input.h"
#include "workload/swarm.h"
#include "workload/writer.h"

#include <CLI/CLI.hpp>

#include <cstdio>
#include <stdexcept>

namespace vramlab::cli {

namespace {

struct expand_arguments {
    std::string file;
    input in;
    std::optional<u64> swarm;
    workload::swarm_options swarm_options;
    std::string output;
};

int expand(const expand_arguments &a)
{
    if (a.swarm.has_value() != a.file.empty())
        throw std::runtime_error("what to expand: a scenario, or --swarm SEED");
    const workload::workload w =
        a.swarm ? workload::make_swarm(*a.swarm, a.swarm_options) : load(a.file, a.in);
    if (!a.output.empty()) {
        workload::write_file(w, a.output);
        return 0;
    }
    std::string text = workload::write_header(w);
    for (const workload::operation &op : w.operations) {
        workload::append_operation(text, op);
        if (text.size() >= 1 << 20) {
            std::fwrite(text.data(), 1, text.size(), stdout);
            text.clear();
        }
    }
    std::fwrite(text.data(), 1, text.size(), stdout);
    if (std::fflush(stdout) || std::ferror(stdout))
        throw std::runtime_error("cannot write to the standard output");
    return 0;
}

} // namespace

void add_expand_command(CLI::App &app, int &status)
{
    auto a = std::make_shared<expand_arguments>();
    CLI::App *c = app.add_subcommand("expand", "Write the explicit workload of a scenario, or a random one");
    c->add_option("file", a->file, "Scenario (.toml)");
    c->add_option("--swarm", a->swarm,
                  "The random workload of this seed, as `vramlab conform --swarm` runs it")
        ->type_name("SEED");
    c->add_flag("--crowded", a->swarm_options.crowded,
                "With --swarm: one of those of `vramlab conform --crowded`");
    add_input_options(*c, a->in);
    c->add_option("-o,--output", a->output, "File (.jsonl or .jsonl.zst) instead of the standard output")
        ->type_name("FILE");
    c->callback([a, &status] { status = guarded(a->file, [&] { return expand(*a); }); });
}

} // namespace vramlab::cli
