// SPDX-License-Identifier: MIT
// Which of the mechanisms in kernel/patches are on; module parameters of ttm in the kernel. None is mainline.
#pragma once

namespace vramlab {

struct mechanisms {
    bool retry = false;        // ttm.exec_retry
    bool throttle = false;     // ttm.throttle
    bool priority = false;     // ttm.bo_priority
    bool contig_range = false; // ttm.contig_range

    friend bool operator==(const mechanisms &, const mechanisms &) = default;
};

} // namespace vramlab
