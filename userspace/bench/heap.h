// SPDX-License-Identifier: MIT
// Bytes on the heap, counted by the program's operator new (heap.cc): what malloc sets aside, with its
// overhead.
#pragma once

#include "base/types.h"

namespace vramlab::bench {

u64 heap_bytes();

} // namespace vramlab::bench
