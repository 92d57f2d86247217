// SPDX-License-Identifier: MIT
#include "cli/in_guest.h"

#include "cli/exchange_directory.h"
#include "cli/output.h"
#include "runner/guest.h"

#include <fmt/format.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <stdexcept>

namespace vramlab::cli {

namespace fs = std::filesystem;

namespace {

constexpr u64 guest_timeout_s = 3600; // real time

void copy_out(const std::string &from, const std::string &to)
{
    std::ifstream in(from, std::ios::binary);
    if (!in)
        return; // the command had nothing to write
    atomic_file out(to);
    char buffer[1 << 16];
    while (in.read(buffer, sizeof buffer) || in.gcount())
        std::fwrite(buffer, 1, static_cast<std::size_t>(in.gcount()), out.stream());
    out.commit();
}

} // namespace

int run_in_guest(std::vector<std::string> arguments, const std::vector<guest_output> &outputs)
{
    const runner::guest guest;
    const exchange_directory exchange;
    arguments.push_back("--backend=kernel-here");
    for (const guest_output &o : outputs)
        if (!o.path.empty()) {
            arguments.push_back(o.option);
            arguments.push_back(exchange.path() + "/out" + o.option);
        }
    const int status =
        runner::guest::wait(guest.start(arguments, exchange.path(), guest_timeout_s, false, 1));
    if (status != 0 && status != 1) {
        if (status == 2)
            return 2; // the command said why
        throw std::runtime_error(
            fmt::format("the guest ended with status {} ({} run; 'make kernel' builds the kernel it boots)",
                        status, guest.vm_script()));
    }
    for (const guest_output &o : outputs)
        if (!o.path.empty())
            copy_out(exchange.path() + "/out" + o.option, o.path);
    return status;
}

} // namespace vramlab::cli
