// SPDX-License-Identifier: MIT
// Runs this executable again, inside a guest whose kernel has vttm: scripts/vm boots it (user-mode Linux, a
// second or so) on the host's own files.
#pragma once

#include "base/types.h"

#include <string>
#include <sys/types.h>
#include <vector>

namespace vramlab::runner {

class guest {
public:
    // Finds scripts/vm: in $VRAMLAB_SCRIPTS, above the executable, or in the source tree this was built from.
    // Throws std::runtime_error that says what to do.
    guest();

    // Boots and runs "<this executable> arguments...". The guest can write to exchange_dir and nowhere else.
    // Its output is ours; with output_to_stderr all of it goes to stderr. It is ended after timeout_s of real
    // time. Returns at once. processors: of the guest, 0 for what scripts/vm chooses; where one task runs at
    // a time a second one only burns time on locks.
    pid_t start(const std::vector<std::string> &arguments, const std::string &exchange_dir, u64 timeout_s,
                bool output_to_stderr, u32 processors = 0) const;
    // Exit status of what ran in the guest, or of scripts/vm; 128 + n for signal n.
    static int wait(pid_t pid);

    const std::string &vm_script() const { return vm_script_; }

private:
    std::string vm_script_;
    std::string executable_;
};

// Whether this kernel has vttm: then we are in the guest.
bool in_guest();

} // namespace vramlab::runner
