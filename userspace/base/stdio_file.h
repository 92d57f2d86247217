// SPDX-License-Identifier: MIT
// A C stream that closes itself. Closing can fail when writing: who writes closes by hand and looks.
#pragma once

#include <cstdio>
#include <memory>

namespace vramlab {

struct stdio_closer {
    void operator()(std::FILE *f) const { std::fclose(f); }
};
using stdio_file = std::unique_ptr<std::FILE, stdio_closer>;

} // namespace vramlab
