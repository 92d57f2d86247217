// SPDX-License-Identifier: MIT
// Any text: the scenario parser throws parse_error or gives a scenario; that expands within limits or throws
// parse_error; the workload is one that the reader accepts, and expansion gives it again.
#include "workload/reader.h"
#include "workload/scenario.h"
#include "workload/writer.h"

#include <cstdint>
#include <cstdlib>
#include <string_view>

using namespace vramlab::workload;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t *data, std::size_t size)
{
    const std::string_view input(reinterpret_cast<const char *>(data), size);
    const expansion_limits limits = {.operations = 2000, .elements = 20'000, .work = 100'000};
    workload w;

    try {
        sweep_points(parse_sweep(input, "input"));
    } catch (const parse_error &) {
    }
    try {
        w = expand(parse_scenario(input, "input"), limits);
    } catch (const parse_error &) {
        return 0;
    }
    const std::string text = write_string(w);

    if (write_string(read_string(text, "written")) != text)
        std::abort();
    if (write_string(expand(parse_scenario(input, "input"), limits)) != text)
        std::abort();
    return 0;
}
