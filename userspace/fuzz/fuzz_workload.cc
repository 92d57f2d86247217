// SPDX-License-Identifier: MIT
// Any text: the reader throws parse_error or gives a workload, and what it gave survives writing and reading.
#include "workload/reader.h"
#include "workload/writer.h"

#include <cstdint>
#include <cstdlib>
#include <string_view>

using namespace vramlab::workload;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t *data, std::size_t size)
{
    workload w;

    try {
        w = read_string({reinterpret_cast<const char *>(data), size}, "input");
    } catch (const parse_error &) {
        return 0;
    }
    // From here on an exception is a bug, and ends the fuzzer.
    const std::string text = write_string(w);

    if (write_string(read_string(text, "written")) != text)
        std::abort();
    return 0;
}
