// SPDX-License-Identifier: MIT
// Traces that people send: in a zip archive, alone or with notes.
#pragma once

#include "trace/byte_source.h"

namespace vramlab::trace {

bool is_zip(std::span<const u8> begin);

// The largest file of an archive, unpacked into a temporary file. Throws trace_error if it is damaged, or
// packed in a way other than deflate.
std::unique_ptr<byte_source> unzip(const byte_source &archive);

} // namespace vramlab::trace
