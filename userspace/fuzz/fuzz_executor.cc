// SPDX-License-Identifier: MIT
// libFuzzer: the executor and the model under arbitrary small workloads. A violated invariant writes the
// workload to stderr.
#include "fuzz/executor_input.h"
#include "workload/writer.h"

#include <cstdio>
#include <cstdlib>

extern "C" int LLVMFuzzerTestOneInput(const unsigned char *data, std::size_t size)
{
    const vramlab::workload::workload w = vramlab::fuzz::workload_of(data, size);
    const std::string problem = vramlab::fuzz::check_run(w);
    if (problem.empty())
        return 0;
    std::fprintf(stderr, "%s\n%s", problem.c_str(), vramlab::workload::write_string(w).c_str());
    std::abort();
}
