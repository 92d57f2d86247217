// SPDX-License-Identifier: MIT
// The most that a single flip evicts from VRAM: what one scanout image can cost.
#pragma once

#include "events/event.h"

#include <unordered_map>

namespace vramlab::calibration {

class flip_evictions final : public events::event_sink {
public:
    void record(const events::event &e) override;
    bool wants_skipped() const override { return false; }

    u64 most_bytes() const { return most_bytes_; } // of the flips that have ended

private:
    std::unordered_map<u32, u64> bytes_; // by process that flips now
    u64 most_bytes_ = 0;
};

} // namespace vramlab::calibration
