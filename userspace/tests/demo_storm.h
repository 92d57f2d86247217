// SPDX-License-Identifier: MIT
// Another process that wants all of video memory, again and again.
#pragma once

#include "base/types.h"

#include <sys/types.h>

namespace vramlab::tests {

class demo_storm {
public:
    // Forks. The process opens the device for itself; it must not have been opened here before.
    explicit demo_storm(u64 vram_bytes);
    ~demo_storm(); // kills it

    void begin();
    // Lets it finish its round and end; how many rounds it made. Throws std::runtime_error if it has failed.
    u64 end();

private:
    [[noreturn]] static void run(int commands, int reports, u64 vram_bytes);

    pid_t pid_ = -1;
    int commands_ = -1;
    int reports_ = -1;
};

} // namespace vramlab::tests
