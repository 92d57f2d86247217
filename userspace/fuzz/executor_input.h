// SPDX-License-Identifier: MIT
// From arbitrary bytes to a small workload that makes sense most of the time, and a run of it on the model
// with the invariants checked after every operation. Shared by the fuzz target and by its regression test.
#pragma once

#include "workload/workload.h"

#include <cstddef>
#include <string>

namespace vramlab::fuzz {

// Never more than a few hundred operations; every input gives a workload.
workload::workload workload_of(const u8 *data, std::size_t size);

// Empty, or the invariant that does not hold: of the state, of the executor (deadlock, livelock), of results
// (errors that must not escape), of the end (memory left over after all VMs were closed). Exceptions of the
// model pass through.
std::string check_run(const workload::workload &w);

} // namespace vramlab::fuzz
